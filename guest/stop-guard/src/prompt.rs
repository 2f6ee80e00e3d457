//! What a judge is asked.

use chaperone_sdk::judge::ABOUT_EVIDENCE;

use crate::config::Config;

/// The instructions.
pub fn instructions(config: &Config) -> String {
    let trace = if config.include_tool_trace { TRACE } else { "" };
    format!("{ROLE}\n\n{ABOUT_EVIDENCE}\n\n{PARTS}{trace}\n\n{RULES}\n\n{FORM}")
}

/// A JSON Schema of the answer, for providers that can hold a model to one. The reason comes first, so that a model
/// that does not think beforehand does so there.
pub const ANSWER_SCHEMA: &str = r#"{
  "type": "object",
  "properties": {
    "reason": { "type": "string", "description": "what is missing, or why stopping is fine" },
    "verdict": { "type": "string", "enum": ["continue", "stop"] },
    "confidence": { "type": "number", "description": "from 0 to 1" }
  },
  "required": ["reason", "verdict", "confidence"],
  "additionalProperties": false
}"#;

const ROLE: &str = "\
You are a judge beside a coding agent. The agent has come to rest: it will do nothing more until somebody speaks to it. \
You take no part in the conversation. Decide one question: is it acceptable that the agent stops here (\"stop\"), or is \
work that the user asked for still missing (\"continue\")? If you say \"continue\", the agent is sent back to work with \
your reason, without anybody asking the user.";

const PARTS: &str = "\
- user_request: the latest message that the user typed.
- user_answer: what the user answered when the agent asked, in this order. There may be none.
- final_output: the last text that the agent wrote. Where it is empty, the agent has said nothing.
A line such as [… 120 characters left out …] was put there when a long text was shortened; it is no fault of the agent.";

const TRACE: &str = "
- tool_trace: the tools that the agent called since the request, a line each.";

const RULES: &str = "\
Judge by these rules. Where two of them disagree, the earlier one wins.

1. Waiting is no early stop. If the final output says that the agent waits for work that goes on in the background and \
that will report by itself (a subagent or a workflow that it has started or resumed, a long job whose result is \
delivered to it), the verdict is \"stop\": that work will wake the agent, and sending it back now would only cost a \
round. Go by what the final output says, whether or not you see a tool call for it.
2. What the user answered outranks the request. An answer that makes the task smaller, chooses one of several ways, or \
asks to stop or to wait says what is to be done from there on. What the answers have taken away is not missing.
3. Saying is not doing. A request for a change is an order (\"remove X\", \"rename it\", \"make the tests pass\") or a \
description of how things should be (\"A should be B\", \"there must be no X\"). If the agent only repeats the rule, \
describes how things would then be, announces what it is going to do, or replies that it has understood, and nothing \
shows that it made the change, the verdict is \"continue\".
4. A request that is nothing but a question, a discussion or a wish for an opinion, a review or a plan is met by the \
answer. No change is missing that nobody asked for.
5. A request of several parts is met when each part is done, or the agent says plainly why one of them is not to be \
done. A progress report in the middle, one file of many, a list of next steps that belong to the request, or a text \
that breaks off, is \"continue\".
6. The agent may stop where it cannot go on alone: it asks something that only the user can decide and that the request \
and the answers leave open, it needs access, a secret or a confirmation for something that cannot be undone, or it \
reports an obstacle that it has tried to overcome. To ask whether it should do what it was just told to do is not such \
a question.
7. You see the end of the work, not the work. Do not call for more proof, more tests, more polish or more care than the \
request asks for. If the agent says that it has done something and nothing contradicts it, take it as done.

All of this holds in whatever language the request is written.";

const FORM: &str = "\
Answer with one JSON object and nothing else, in this form:
{\"reason\": \"...\", \"verdict\": \"continue\" or \"stop\", \"confidence\": a number from 0 to 1}
- reason: one or two sentences, in the language of the request. For \"continue\", name exactly what is missing, so that \
the agent knows what to do next.
- confidence: how sure you are of the verdict. Below 0.5, you would as well say the opposite.";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verdict::{Decision, Verdict};

    #[test]
    fn the_judge_is_told_of_the_tool_trace_only_if_there_is_one() {
        assert!(!instructions(&Config::default()).contains("tool_trace"));
        assert!(instructions(&Config { include_tool_trace: true, ..Config::default() }).contains("- tool_trace: "));
    }

    #[test]
    fn waiting_comes_before_every_other_rule_and_answers_before_the_request() {
        let text = instructions(&Config::default());
        let place = |words: &str| text.find(words).unwrap();
        assert!(place("the earlier one wins") < place("1. Waiting"));
        assert!(place("1. Waiting") < place("2. What the user answered outranks the request"));
        assert!(place("2. What the user answered") < place("3. Saying is not doing"));
        assert!(place("3. Saying is not doing") < place("4. A request that is nothing but a question"));
    }

    #[test]
    fn the_schema_is_json_and_asks_for_what_is_read() {
        let schema: serde_json::Value = serde_json::from_str(ANSWER_SCHEMA).unwrap();
        let words: Vec<&str> = Decision::ALL.into_iter().map(Decision::word).collect();
        assert_eq!(schema["properties"]["verdict"]["enum"], serde_json::json!(words));
        let answer = r#"{"reason":"x","verdict":"continue","confidence":0.5}"#;
        let members: serde_json::Map<String, serde_json::Value> = serde_json::from_str(answer).unwrap();
        assert_eq!(schema["required"], serde_json::json!(members.keys().collect::<Vec<_>>()));
        assert!(Verdict::parse(answer).is_ok());
    }

    #[test]
    fn the_form_that_is_shown_to_the_judge_is_no_verdict_if_it_is_sent_back() {
        assert!(Verdict::parse(&instructions(&Config::default())).is_err());
    }
}
