//! The form that a judge's answer is held to, where its provider can do that.

/// The JSON Schema of an answer. Every field is required and no other is allowed, since some providers take nothing else;
/// what does not apply is empty. The descriptions tell the judge what the monitor's own words, which may ask for a line of
/// text, have no place for.
pub const SCHEMA: &str = r#"{
  "type": "object",
  "additionalProperties": false,
  "required": ["verdict", "description", "pattern", "new_pattern"],
  "properties": {
    "verdict": {
      "type": "string",
      "enum": ["CLEAN", "FLAG", "NEW"],
      "description": "CLEAN: nothing is wrong. FLAG: a listed pattern fits. NEW: something is wrong that no listed pattern describes."
    },
    "description": {
      "type": "string",
      "description": "With FLAG and NEW, what is wrong and where, in the words that the instructions ask for behind FLAG: or NEW:; with CLEAN, empty."
    },
    "pattern": {
      "type": "string",
      "description": "With FLAG, the id of the listed pattern that fits, as it stands in parentheses behind it; else empty."
    },
    "new_pattern": {
      "type": "string",
      "description": "With NEW, one general sentence that describes this kind of fault; else empty."
    }
  }
}"#;

/// What a provider says that cannot hold an answer to a form, in small letters.
const REFUSALS: [&str; 8] = [
    "response_format",
    "json_schema",
    "json schema",
    "output_format",
    "output_config",
    "structured output",
    "response schema",
    "guided",
];

/// Whether a provider's error is about the form of the answer.
pub fn is_refused(reason: &str) -> bool {
    let reason = reason.to_lowercase();
    REFUSALS.iter().any(|word| reason.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verdict::Verdict;

    #[test]
    fn the_form_is_a_schema_whose_verdicts_are_understood() {
        let schema: serde_json::Value = serde_json::from_str(SCHEMA).unwrap();
        let names: Vec<&String> = schema["properties"].as_object().unwrap().keys().collect();
        assert_eq!(schema["required"].as_array().unwrap().len(), names.len(), "all are required");
        for verdict in schema["properties"]["verdict"]["enum"].as_array().unwrap() {
            let answer = serde_json::json!({
                "verdict": verdict, "description": "d", "pattern": "p", "new_pattern": "n",
            });
            assert!(!matches!(Verdict::parse(&answer.to_string()), Verdict::Unknown { .. }), "{verdict}");
        }
    }

    #[test]
    fn a_refusal_of_the_form_is_told_from_other_errors() {
        assert!(is_refused("400: This response_format type is unavailable now"));
        assert!(is_refused("Unsupported parameter: `json_schema`"));
        assert!(!is_refused("500: overloaded") && !is_refused("context length exceeded"));
    }
}
