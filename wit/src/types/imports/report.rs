//! `interface report`: what a plugin concluded.

use crate::types::{EntryId, RequestId};

wit_enum! {
    /// What a judge said of the evidence that it was shown.
    Verdict {
        /// Nothing is wrong.
        Clean = "clean",
        /// Something known is wrong.
        Flag = "flag",
        /// Something is wrong that no pattern describes yet.
        New = "new",
        /// No judgement came about: the judge failed, or was not understood.
        Unknown = "unknown",
    }
}

record! {
    /// One judgement.
    Judgement {
        /// Who judged, such as the name of a monitor.
        watcher = "watcher": String,
        /// What was said.
        verdict = "verdict": Verdict,
        /// What is wrong, or why there is no judgement.
        description = "description": Option<String>,
        /// The model call that it rests on, where there was one.
        request = "request": Option<RequestId>,
        /// The newest entry of the evidence.
        entry = "entry": Option<EntryId>,
    }
}

record! {
    /// A judgement that was not made, since nobody needed it.
    Sparing {
        /// Who would have judged, such as the name of a monitor.
        watcher = "watcher": String,
        /// What made it needless, such as `exempt: waiting_on_user`.
        reason = "reason": String,
        /// The newest entry of what would have been the evidence.
        entry = "entry": Option<EntryId>,
    }
}

record! {
    /// A finding that was written to a file.
    Finding {
        /// Unique among the findings.
        id = "id": String,
        /// Who found it.
        watcher = "watcher": String,
        /// What was found.
        description = "description": String,
        /// Mount and path of the file, as in `workspace:.workflow/gaps.json`.
        file = "file": String,
    }
}
