//! `interface ui`: what the user sees and is asked.

use crate::types::Json;

wit_enum! {
    /// How a piece of text is meant; the host picks the colour.
    Tone {
        /// Plain.
        Normal = "normal",
        /// Less important.
        Muted = "muted",
        /// Good news.
        Success = "success",
        /// Worth a look.
        Warning = "warning",
        /// Bad news.
        Error = "error",
    }
}

/// One line of text.
pub type Line = Vec<Span>;

record! {
    /// A piece of a line.
    Span {
        /// Without line breaks.
        text = "text": String,
        /// How it is meant.
        tone = "tone": Tone,
    }
}

record! {
    /// A block in the transcript that never enters the model's context.
    Notice {
        /// Names the kind of block; chosen by the plugin.
        custom_type = "custom-type": String,
        /// Always shown.
        title = "title": Line,
        /// Shown when the user expands the block.
        details = "details": Vec<Line>,
        /// What programs read.
        data = "data": Option<Json>,
    }
}

record! {
    /// One thing to choose.
    Choice {
        /// What comes back.
        value = "value": String,
        /// What is shown.
        label = "label": String,
        /// A hint beside it.
        description = "description": String,
    }
}

record! {
    /// One line of a settings panel.
    Setting {
        /// What comes back.
        key = "key": String,
        /// What is shown.
        label = "label": String,
        /// What it is now.
        value = "value": String,
        /// A hint beside it.
        description = "description": String,
        /// Empty: free text.
        choices = "choices": Vec<Choice>,
    }
}

variant! {
    /// A question to the user.
    Prompt {
        /// Yes or no. Title and body.
        Confirm((String, String)) = "confirm",
        /// One of several. Title and choices.
        Select((String, Vec<Choice>)) = "select",
        /// Free text. Title and what stands there at first.
        Input((String, String)) = "input",
        /// A panel of settings. Title and lines.
        Settings((String, Vec<Setting>)) = "settings",
    }
}

variant! {
    /// The user's answer.
    Answer {
        /// To `confirm`.
        Confirmed(bool) = "confirmed",
        /// To `select`: the value.
        Selected(String) = "selected",
        /// To `input`: the text.
        Entered(String) = "entered",
        /// To `settings`: key and new value; comes once for each change.
        Changed((String, String)) = "changed",
        /// The user closed the dialog.
        Dismissed = "dismissed",
        /// There is nobody to ask.
        Unavailable = "unavailable",
    }
}
