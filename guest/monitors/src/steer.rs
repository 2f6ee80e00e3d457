//! What the agent reads when monitors steer it: one message for all that was found.

use chaperone_sdk::text::one_line;
use serde::{Deserialize, Serialize};

/// The kind of message, and of the entry that it becomes.
pub const CUSTOM_TYPE: &str = "monitor-steer";

/// One finding that the agent is to hear of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Remark<'a> {
    /// Who found it.
    pub monitor: &'a str,
    /// What the judge said.
    pub verdict: Kind,
    /// What was found.
    pub description: &'a str,
    /// What the monitor tells the agent to do.
    pub steer: &'a str,
    /// The how manieth steer in a row this is.
    pub count: u32,
    /// After how many steers in a row the monitor escalates.
    pub ceiling: u32,
    /// Whether the finding became a pattern.
    pub learned: bool,
}

/// A verdict that something is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A known pattern.
    Flag,
    /// Something that no pattern describes.
    New,
}

/// The message: a line for each finding, and one that says whose words these are.
pub fn message(remarks: &[Remark<'_>]) -> String {
    let mut message = String::new();
    for remark in remarks {
        message.push_str(&line(remark));
        message.push('\n');
    }
    message.push_str(match remarks {
        [_] => {
            "(An automatic observation by a monitor, not the user's word: weigh it against what the user asked for.)"
        }
        _ => "(Automatic observations by monitors, not the user's word: weigh them against what the user asked for.)",
    });
    message
}

/// What the agent reads in the place of a tool's result: what was found, and what to do.
pub fn refusal(monitor: &str, description: &str, words: &str) -> String {
    let remark =
        Remark { monitor, verdict: Kind::Flag, description, steer: words, count: 0, ceiling: 0, learned: false };
    format!(
        "{}\n(This call was refused by a monitor, an automatic check, and not by the user: if it is what the user asked \
         for, say so and leave it to them.)",
        line(&remark).trim_end()
    )
}

/// What programs read beside the message, a JSON object.
pub fn details(remarks: &[Remark<'_>]) -> String {
    serde_json::json!({ "monitors": remarks }).to_string()
}

fn line(remark: &Remark<'_>) -> String {
    let description = one_line(remark.description);
    let description = description.strip_suffix('.').unwrap_or(&description).trim_end();
    let found = match (description, remark.learned) {
        ("", false) => String::new(),
        ("", true) => "New pattern learned. ".into(),
        (description, true) => format!("{description} — new pattern learned. "),
        (description, false) if ends_a_sentence(description) => format!("{description} "),
        (description, false) => format!("{description}. "),
    };
    format!("[{}] {found}{}", remark.monitor, one_line(remark.steer))
}

fn ends_a_sentence(text: &str) -> bool {
    text.ends_with(['.', '!', '?', '…', '。', '！', '？'])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn remark<'a>(monitor: &'a str, description: &'a str) -> Remark<'a> {
        Remark { monitor, verdict: Kind::Flag, description, steer: "Fix it.", count: 1, ceiling: 5, learned: false }
    }

    fn first_line(remark: Remark<'_>) -> String {
        message(&[remark]).lines().next().unwrap().to_owned()
    }

    #[test]
    fn a_single_finding_reads_name_description_order() {
        assert_eq!(first_line(remark("m", "left a test failing")), "[m] left a test failing. Fix it.");
    }

    #[test]
    fn learning_is_told_between_description_and_order() {
        let learned = Remark { verdict: Kind::New, learned: true, ..remark("m", "a new thing.") };
        assert_eq!(first_line(learned), "[m] a new thing — new pattern learned. Fix it.");
    }

    #[test]
    fn no_full_stop_is_doubled_and_no_question_mark_followed_by_one() {
        assert_eq!(first_line(remark("m", "it ended.")), "[m] it ended. Fix it.");
        assert_eq!(first_line(remark("m", "is that so?")), "[m] is that so? Fix it.");
        assert_eq!(first_line(remark("m", "終わり。")), "[m] 終わり。 Fix it.");
    }

    #[test]
    fn an_empty_description_leaves_no_hole() {
        assert_eq!(first_line(remark("m", " ")), "[m] Fix it.");
        assert_eq!(first_line(Remark { learned: true, ..remark("m", "") }), "[m] New pattern learned. Fix it.");
    }

    #[test]
    fn a_description_of_several_lines_stays_on_one() {
        assert_eq!(first_line(remark("m", "a\nb\n\n  c")), "[m] a b c. Fix it.");
    }

    #[test]
    fn a_refusal_says_what_was_found_and_who_refuses() {
        let text = refusal("guard", "it deletes what was not asked for", "Ask first.");
        assert!(text.starts_with("[guard] it deletes what was not asked for. Ask first.\n(This call was refused"));
        assert!(refusal("guard", "x", "").starts_with("[guard] x.\n"));
    }

    #[test]
    fn several_findings_are_a_line_each_and_the_last_line_says_who_speaks() {
        let text = message(&[remark("a", "x"), remark("b", "y")]);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[..2], ["[a] x. Fix it.", "[b] y. Fix it."]);
        assert!(lines[2].contains("not the user's word") && lines.len() == 3);
        assert!(message(&[remark("a", "x")]).lines().last().unwrap().contains("not the user's word"));
    }

    #[test]
    fn programs_read_each_finding_with_its_count() {
        let details: serde_json::Value = serde_json::from_str(&details(&[remark("a", "x")])).unwrap();
        assert_eq!(
            details,
            serde_json::json!({"monitors": [{
                "monitor": "a", "verdict": "flag", "description": "x", "steer": "Fix it.",
                "count": 1, "ceiling": 5, "learned": false,
            }]})
        );
    }
}
