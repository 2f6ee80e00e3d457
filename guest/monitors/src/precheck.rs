//! `classify.precheck`: what can be decided before a judge is paid.

use serde::{Deserialize, Serialize};

use crate::condition::Condition;
use crate::transcript::Transcript;

/// One rule. In JSON, an object with the rule's name and its condition.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Rule {
    /// Where the condition holds, the verdict is clean, and no judge is asked.
    CleanIf(Condition),
    /// Where the condition holds, the judge is asked, whatever later rules say.
    AskIf(Condition),
}

/// The condition that makes the verdict clean. None: the judge is to be asked. The first rule whose condition holds
/// decides; where none does, the judge is asked.
pub fn clean<'r>(rules: &'r [Rule], transcript: &Transcript) -> Option<&'r Condition> {
    rules.iter().find_map(|rule| match rule {
        Rule::CleanIf(condition) if condition.holds(transcript) => Some(Some(condition)),
        Rule::AskIf(condition) if condition.holds(transcript) => Some(None),
        Rule::CleanIf(_) | Rule::AskIf(_) => None,
    })?
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::*;

    #[test]
    fn the_first_rule_that_holds_decides_and_else_the_judge() {
        let rule = |ask: bool, text: &str| {
            let condition = text.parse().unwrap();
            if ask { Rule::AskIf(condition) } else { Rule::CleanIf(condition) }
        };
        let rules = [rule(true, "claims_success"), rule(false, "not tool(*)"), rule(true, "always")];
        let decided = |answer: &str, calls: &[(&str, &str, &str)]| {
            let entries = branch([user("go"), assistant("", calls), assistant(answer, &[])]);
            clean(&rules, &Transcript::new(&entries)).map(Condition::to_string)
        };
        assert_eq!(decided("Hello.", &[]).as_deref(), Some("not tool(*)"));
        assert_eq!(decided("All tests pass.", &[]), None, "an earlier rule asks");
        assert_eq!(decided("Hello.", &[("1", "bash", "{}")]), None);
        assert_eq!(clean(&[], &Transcript::new(&branch([user("go")]))), None);
    }

    #[test]
    fn a_rule_is_an_object_with_one_member() {
        let rule = Rule::CleanIf("not tool(*)".parse().unwrap());
        let json = serde_json::json!({"clean_if": "not tool(*)"});
        assert_eq!(serde_json::to_value(&rule).unwrap(), json);
        assert_eq!(serde_json::from_value::<Rule>(json).unwrap(), rule);
    }
}
