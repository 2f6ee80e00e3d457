//! Whether the agent needs something that only the user can give.
//!
//! A question that asks for permission, or offers something, is none of these: it is what monitors of needless questions
//! look for, and to be told from a needed one it has to be judged.

use super::end_of;
use crate::phrases::{Words, is_end, is_item, is_question_mark, unwrapped};
use crate::transcript::{Outcome, Transcript};

/// How many characters of the end of a message are looked at.
const END: usize = 1500;

/// How many words may follow the last question, as in "Tell me, and I will go on."
const AFTERTHOUGHT: usize = 14;

/// The tools that ask the user, without what is no letter in their names.
const ASKING_TOOLS: [&str; 9] = [
    "askuserquestion",
    "askuser",
    "askquestion",
    "askquestions",
    "askfollowupquestion",
    "requestuserinput",
    "getuserinput",
    "question",
    "clarify",
];

/// Questions that ask for permission, or offer something. Behind a modal verb, an `or` makes it a choice.
const MODAL: &[&str] = &[
    "shall|should|may|can|could|must i|we",
    "would|do|did you like|want|prefer|wish",
    "want|like|need me|us to",
    "soll|sollen|darf|dürfen|kann|können|sollte ich|wir",
    "möchtest|willst|magst|möchten|wollen du|sie .. dass",
    "dois|puis|devrais je",
    "voulez|veux|souhaitez|souhaites vous|tu .. que",
    "quieres|quiere|desea|deseas|gustaría que",
    "debo|puedo|debería",
];

/// The same, whatever else they say.
const PERMISSION: &[&str] = &[
    "okay|ok|fine|alright|good|happy|comfortable .. if|with|to",
    "ready|good|okay|ok|safe to|for .. proceed|continue|go|merge|commit|push|start|begin",
    "^ proceed|continue|commit|merge|push|ship|okay|ok|agreed|approved",
    "^ go ahead|on",
    "should|shall|can|may i|we just|simply? go|proceed|continue ahead|on|with?",
    "sound|sounds|look|looks good|right|okay|ok|fine|reasonable",
    "how does|do that|this|it sound|look",
    "does|do that|this|it sound|work|look|help|make",
    "anything|something else|more|further",
    "mind if",
    "what|anything .. next",
    "let me know if",
    "if you'd|you like|want|wish|agree|prefer|approve",
];

const PERMISSION_WITHOUT_BLANKS: &[&str] = &[
    "要我",
    "需要我",
    "要不要",
    "我可以",
    "是否继续",
    "继续吗",
    "可以吗",
    "要继续",
    "好吗",
    "ましょうか",
    "よろしいでしょうか",
    "よろしいですか",
    "続けますか",
    "進めますか",
    "いいですか",
];

/// What turns a modal question with an `or` into one that asks for permission after all.
const NO_CHOICE: &[&str] =
    &["or not|leave|stop|wait|skip|should|shall|would|is|keep|rather", "oder nicht|lieber", "ou pas|non"];

const CHOICE: &[&str] = &["or", "oder", "ou", "o", "which|what|where|who|how|welche*|quel*|cuál*|qué"];

/// Requests without a question mark.
const REQUESTS: &[&str] = &[
    "please|kindly .. provide|share|paste|send|specify|clarify|choose|pick|decide|select|supply|enter|upload|tell|indicate",
    "let me know|hear which|what|whether|how|where|who|your",
    "tell|show|give me which|what|whether|how|where|your",
    "i|we|i'll|we'll|still need|require you to|your",
    "i|we|i'll|we'll|still need|require .. access|credentials|password|token|key|permission|decision|input|clarification|information|details .. from|before|to|first?",
    "wait|waiting|await|awaiting|pending for|on? your|you|the? user|user's|feedback|approval|confirmation|input|instructions|decision|answer|reply|response|clarification",
    "up to you",
    "your call|decision|choice",
    "bitte .. nenne|nennen|teile|teilen|sag|sage|sagen|gib|geben|schick|schicke|schicken|wähle|wählen|entscheide|entscheiden",
    "ich brauche|benötige dein*|ihr*|von|noch",
    "merci|veuillez de? .. préciser|indiquer|fournir|choisir|donner|envoyer",
    "j'ai besoin de|d'",
    "por favor .. indica|indique|dime|dígame|proporciona|proporcione|elige|elija|envía|envíe",
    "necesito que|tu|su|más",
];

const REQUESTS_WITHOUT_BLANKS: &[&str] = &[
    "请告诉我",
    "请提供",
    "请选择",
    "请说明",
    "请明确",
    "等待您",
    "等待你",
    "教えてください",
    "ご指定ください",
    "選んでください",
    "お知らせください",
    "ご提供ください",
    "指示を待",
];

/// What a tool that asks says where there is no answer yet.
const UNANSWERED: &[&str] = &[
    "question|questions|message .. sent|posted|delivered|shown|asked|queued",
    "sent|posted|shown to the? user",
    "pending|awaiting|waiting|unanswered|dismissed|cancelled|canceled",
    "no answer|response|reply",
    "not answered|responded|available|yet",
    "will arrive|come|follow|be",
];

/// Whether the agent has asked by a tool, has called no other tool since, and has no answer.
pub fn asked_by_tool(transcript: &Transcript) -> bool {
    let Some(last) = transcript.calls().last() else { return false };
    let letters = last.call.name.chars().filter(|c| c.is_alphabetic()).flat_map(char::to_lowercase);
    let asks = ASKING_TOOLS.contains(&letters.collect::<String>().as_str());
    let is_unanswered = || match last.outcome {
        Outcome::Open | Outcome::Failed => true,
        Outcome::Succeeded => {
            let answer = transcript.result_texts().last().unwrap_or_default();
            answer.trim().is_empty() || Words::of(&answer).match_any(UNANSWERED)
        }
    };
    asks && is_unanswered()
}

/// Whether a message ends by asking for something that only the user can give.
pub fn is_asked(message: &str) -> bool {
    let sentences = sentences(&end_of(message, END));
    if let Some(last) = sentences.iter().rposition(|sentence| sentence.is_question) {
        let behind: usize = sentences[last + 1..].iter().filter(|after| !after.is_item).map(Sentence::size).sum();
        if behind <= AFTERTHOUGHT {
            let asked = sentences[..=last].iter().rev().take_while(|sentence| sentence.is_question);
            return asked.into_iter().any(|question| !asks_permission(&question.text));
        }
    }
    sentences.iter().rev().take(3).any(|sentence| requests(&sentence.text))
}

struct Sentence {
    text: String,
    is_question: bool,
    /// It is an item of a list, such as one of the answers to choose from.
    is_item: bool,
}

impl Sentence {
    fn size(&self) -> usize {
        Words::of(&self.text).first().count()
    }
}

fn sentences(text: &str) -> Vec<Sentence> {
    let mut sentences = Vec::new();
    for line in unwrapped(text).lines() {
        let is_item = is_item(line);
        let mut start = 0;
        let mut characters = line.char_indices().peekable();
        while let Some((at, c)) = characters.next() {
            let end = at + c.len_utf8();
            let is_last = characters.peek().is_none_or(|(_, next)| !next.is_alphanumeric() || !c.is_ascii());
            if is_end(c) && is_last && !goes_on_behind_quote(&line[end..]) {
                push(&mut sentences, &line[start..end], is_item);
                start = end;
            }
        }
        push(&mut sentences, &line[start..], is_item);
    }
    sentences
}

/// Whether the sentence goes on, since its mark belongs to what it quotes.
fn goes_on_behind_quote(rest: &str) -> bool {
    let behind = rest.trim_start_matches(['"', '”', '’', '\'', '»', '`']);
    behind.len() < rest.len() && behind.trim_start().starts_with(char::is_lowercase)
}

fn push(sentences: &mut Vec<Sentence>, text: &str, is_item: bool) {
    if text.chars().any(char::is_alphanumeric) {
        let text = text.trim().to_owned();
        let is_question = text.ends_with(is_question_mark) || text.ends_with("か。") || text.ends_with("吗。");
        sentences.push(Sentence { text, is_question, is_item });
    }
}

fn asks_permission(question: &str) -> bool {
    let words = Words::of(question);
    let is_modal = words.match_any(MODAL);
    let is_choice = words.match_any(CHOICE) && !words.match_any(NO_CHOICE);
    (is_modal && !is_choice)
        || words.match_any(PERMISSION)
        || PERMISSION_WITHOUT_BLANKS.iter().any(|phrase| question.contains(phrase))
}

fn requests(sentence: &str) -> bool {
    let words = Words::of(sentence);
    let is_offer = words.match_any(&["let me know if", "if you'd|you like|want|wish|prefer|need"]);
    (!is_offer && words.match_any(REQUESTS)) || REQUESTS_WITHOUT_BLANKS.iter().any(|phrase| sentence.contains(phrase))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_only_the_user_knows_or_can_decide_is_waited_for() {
        for message in [
            "Which of the two databases should the new service use?",
            "The request can be read in two ways.\n\nDo you mean the public API or the internal one?",
            "I can't log in without credentials. Could you give me the password of the staging account?",
            "Which one do you prefer?\n1. Keep the old name\n2. Rename it everywhere",
            "What should the limit be? Tell me, and I will put it in.",
            "Should I use Postgres or SQLite for this?",
            "Please provide the API key for the sandbox.",
            "Let me know which approach you prefer.",
            "I need your decision on the licence before I can go on.",
            "Everything is prepared. Waiting for your approval.",
            "Welche Datenbank soll der Dienst verwenden?",
            "Quelle version faut-il prendre en charge ?",
            "¿Qué base de datos debe usar el servicio?",
            "应该使用哪个数据库？",
            "どのデータベースを使いますか？",
            "أي قاعدة بيانات تريد؟",
            "請求書の番号を教えてください。",
            "Bitte nenne mir die Zugangsdaten.",
        ] {
            assert!(is_asked(message), "{message}");
        }
    }

    #[test]
    fn asking_for_permission_and_offering_are_no_reason_to_wait() {
        for message in [
            "",
            "Should I go on?",
            "Would you like me to go ahead and rename it?",
            "Do you want me to fix the other test as well?",
            "Shall I commit this?",
            "I can rename it now, or leave it. Should I rename it, or leave it as it is?",
            "Let me know if you want anything else.",
            "A table it is. Should I go ahead and\ncreate it, or would you prefer a file after all?",
            "Ready to proceed?",
            "Does that sound good?",
            "What would you like me to do next?",
            "Soll ich weitermachen?",
            "Dois-je continuer ?",
            "¿Quieres que continúe?",
            "需要我继续吗？",
            "続けましょうか？",
        ] {
            assert!(!is_asked(message), "{message}");
        }
    }

    #[test]
    fn a_question_that_the_agent_answers_itself_is_none_to_the_user() {
        for message in [
            "Why did it fail? The lock was taken twice, and the second caller waited for ever. I have removed that.",
            "Done. All tests pass.",
            "```sh\nread -p 'Which one?'\n```\nThat is the script, and it is finished.",
            "The dialog asks \"Which file?\" in the wrong language; I corrected its text in all four catalogues today.",
        ] {
            assert!(!is_asked(message), "{message}");
        }
    }
}
