//! Whether the agent says that it waits for work that goes on by itself.

use super::end_of;
use crate::phrases::Words;

/// How many characters of the end of a message are looked at.
const END: usize = 1000;

/// Who waits for the user waits for nothing that goes on by itself.
const WAITS: &[&str] = &[
    "i'm|am|i'll|will|now|currently|still|just|shall|let|let's|me|we're|we'll|^ wait|waiting for|on|until !the|you|your|user|user's|feedback|approval|confirmation|input|instructions|permission|review",
    "i'm|am|i'll|will|now|currently|still|just|shall|let|let's|me|we're|we'll wait|waiting for|on|until the !user|user's|reviewer|go|green",
    "^ wait|waiting for|on the|its|their|all|both|it|them|this|these|those !user|user's|reviewer|go",
    "i'll|will|we'll|shall|going|i|can .. report|follow|continue|resume|update|notify|check|get|pick|proceed|post|summarize|summarise|look|come .. when|once|after|as soon? as? !you|you're|you've|your|i|we .. finish|finishes|finished|complete|completes|completed|done|returns|return|returned|arrive|arrives|arrived|ends|ended|back|in|ready",
    "i'll|will|we'll .. let|tell|inform you know? .. when|once|as|after soon? as? !you|you're|you've|your .. finish|finishes|finished|complete|completes|completed|done|returns|arrive|arrives|back|in|ready",
    "tests|test|suite|build|builds|job|jobs|agent|agents|subagent|subagents|workflow|workflows|task|tasks|pipeline|script|migration|install|installation|download|benchmark|benchmarks|ci|checks .. is|are still|currently|now running|building|executing|pending|queued|going|underway",
    "tests|test|suite|build|builds|job|jobs|agent|agents|subagent|subagents|workflow|workflows|task|tasks|pipeline|script|migration|benchmark|benchmarks .. running|runs|run|continues|working|works in the background",
    "result|results|answer|answers|report|reports|notification|output will|should .. arrive|come|appear|delivered|reported .. automatically|itself|themselves|when|once|as",
    "result|results|report|reports .. arrives|arrive|comes|come|returns .. by? itself|themselves|automatically",
    "it|they|which|that run|runs|is|are|works|work running? in the background and|then .. report|reports|notify|notifies|tell|tells|return|returns",
    "ich warte .. auf|bis !dich|sie|dein*|ihr*|eine|euch",
    "melde mich|berichte .. sobald|wenn !du|sie",
    "läuft|laufen .. hintergrund",
    "j'attends|nous .. que|la|le|les|l'exécution !votre|ta|ton|vos",
    "dès|fois que|qu'il|qu'elle .. terminé*|fini*|prêt*",
    "estoy|estamos|seguiré|quedo esperando|espero a|que|al !usted|tu|su",
    "cuando|cuanto|vez que? .. termine|terminen|acabe|acaben|finalice|finalicen",
    "en segundo plano",
    "en arrière plan",
];

const WAITS_WITHOUT_BLANKS: &[&str] = &[
    "后台运行",
    "在后台",
    "完成后会",
    "完成后我",
    "等待构建",
    "等待测试",
    "等待子",
    "等待任务",
    "等它完成",
    "等其完成",
    "等它们完成",
    "结果会自动",
    "バックグラウンドで",
    "完了次第",
    "完了を待",
    "終わり次第",
    "結果を待って",
];

/// Whether a message ends by saying that work goes on, and the agent waits for it.
pub fn is_awaited(message: &str) -> bool {
    let end = end_of(message, END);
    Words::of(&end).match_any(WAITS) || WAITS_WITHOUT_BLANKS.iter().any(|phrase| end.contains(phrase))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_that_goes_on_by_itself_is_waited_for() {
        for message in [
            "I started three subagents. I'll wait for them to finish.",
            "The build is still running; I'm waiting for it.",
            "The benchmarks are running in the background. I will report back once they are done.",
            "Waiting for the test suite to complete.",
            "The workflow has begun; its results will arrive automatically.",
            "I'll let you know as soon as the migration finishes.",
            "A subagent works on the printer; its result arrives here by itself when it is ready.",
            "I started the workflow; it runs in the background and reports when it is through.",
            "Die Tests laufen im Hintergrund.",
            "Je continue dès que la compilation est terminée.",
            "Continuaré cuando termine la compilación.",
            "测试正在后台运行。",
            "结果会自动返回，我先等它完成。",
            "完了次第、ご報告します。",
        ] {
            assert!(is_awaited(message), "{message}");
        }
    }

    #[test]
    fn waiting_for_the_user_and_speaking_of_waiting_are_something_else() {
        for message in [
            "",
            "I'm waiting for your answer.",
            "I'll continue once you have decided.",
            "I will wait for the user to confirm.",
            "The client did not wait for the lock; it does now. All tests pass.",
            "I started the dev server, and the page loads.",
            "I will report what I find.",
            "Done. Everything is committed.",
        ] {
            assert!(!is_awaited(message), "{message}");
        }
    }
}
