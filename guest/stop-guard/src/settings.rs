//! The settings panel: six fields, each with what it is now, and what a change of one means.

use chaperone_sdk::{Choice, ModelInfo, Setting};
use serde_json::Value;

use crate::config::{Config, Fault, Field, name};

/// What the panel is called.
pub const TITLE: &str = "auto-goal";

/// Stands for the session's own model, in the panel as behind the command.
pub const DEFAULT_MODEL: &str = "default";

const ON: &str = "on";
const OFF: &str = "off";

/// A field of the panel, its label, and a hint.
const ROWS: [(Field, &str, &str); 6] = [
    (Field::Enabled, "Judgement", "Whether each stop of the agent is judged by a second model"),
    (Field::Model, "Judge model", "Who judges: provider/modelId, or default for the session's own model"),
    (Field::MaxAutoContinues, "Continue limit", "How often the agent is sent back for one request; 0 is no limit"),
    (
        Field::ConfidenceThreshold,
        "Confidence threshold",
        "How sure the judge must be to send the agent back, from 0 to 1",
    ),
    (Field::JudgeMaxTokens, "Judge output limit", "How many tokens the judge may write, thinking included"),
    (Field::ShowVerdictNotice, "Verdict notice", "Whether the verdict is shown as a block below the agent's message"),
];

/// The panel's lines.
pub fn rows(config: &Config, models: &[ModelInfo]) -> Vec<Setting> {
    let row = |&(field, label, description): &(Field, &str, &str)| Setting {
        key: field.name().into(),
        label: label.into(),
        value: shown(config, field),
        description: description.into(),
        choices: choices(field, models),
    };
    ROWS.iter().map(row).collect()
}

/// The field of a line of the panel.
pub fn field(key: &str) -> Option<Field> {
    ROWS.iter().map(|(field, ..)| *field).find(|field| field.name() == key)
}

/// What a field is, as the panel shows it.
pub fn shown(config: &Config, field: Field) -> String {
    match config.value(field) {
        Value::Bool(true) => ON.into(),
        Value::Bool(false) => OFF.into(),
        Value::String(text) if text.is_empty() && field == Field::Model => DEFAULT_MODEL.into(),
        Value::String(text) => text,
        other => other.to_string(),
    }
}

/// What stands in the file for what was chosen or typed.
///
/// # Errors
/// Where the field may not be that.
pub fn entered(field: Field, text: &str) -> Result<Value, Fault> {
    let text = text.trim();
    let is_switch = Config::default().value(field).is_boolean();
    let value = match text {
        ON if is_switch => true.into(),
        OFF if is_switch => false.into(),
        DEFAULT_MODEL if field == Field::Model => "".into(),
        _ if field == Field::Model => text.into(),
        _ => serde_json::from_str(text).unwrap_or_else(|_| text.into()),
    };
    Config::default().set(field, &value)?;
    Ok(value)
}

fn choices(field: Field, models: &[ModelInfo]) -> Vec<Choice> {
    let choice = |value: &str, description: &str| Choice {
        value: value.into(),
        label: value.into(),
        description: description.into(),
    };
    match field {
        Field::Enabled | Field::ShowVerdictNotice => vec![choice(ON, ""), choice(OFF, "")],
        Field::Model if !models.is_empty() => {
            let default = choice(DEFAULT_MODEL, "The session's own model");
            std::iter::once(default).chain(models.iter().map(|model| choice(&name(&model.id), ""))).collect()
        }
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use chaperone_sdk::ModelId;
    use serde_json::json;

    fn model() -> ModelInfo {
        let id = ModelId { provider: "anthropic".into(), model: "haiku".into() };
        ModelInfo { id, context_window: None, max_output_tokens: None, reasons: false }
    }

    #[test]
    fn the_panel_has_six_lines_with_what_holds_now() {
        let config = Config { model: Some(model().id), enabled: false, ..Config::default() };
        let rows = rows(&config, &[model()]);
        let shown: Vec<_> =
            rows.iter().map(|row| (row.label.as_str(), row.value.as_str(), row.choices.len())).collect();
        assert_eq!(
            shown,
            [
                ("Judgement", "off", 2),
                ("Judge model", "anthropic/haiku", 2),
                ("Continue limit", "2", 0),
                ("Confidence threshold", "0.6", 0),
                ("Judge output limit", "2000", 0),
                ("Verdict notice", "on", 2),
            ]
        );
        assert!(rows.iter().all(|row| !row.description.is_empty() && field(&row.key).is_some()));
    }

    #[test]
    fn without_known_models_a_name_is_typed() {
        assert_eq!(rows(&Config::default(), &[])[1].choices, []);
        assert_eq!(rows(&Config::default(), &[])[1].value, "default");
    }

    #[test]
    fn every_value_that_is_shown_can_be_entered_and_means_the_same() {
        for config in
            [Config::default(), Config { model: Some(model().id), show_verdict_notice: false, ..Config::default() }]
        {
            for (field, ..) in ROWS {
                assert_eq!(entered(field, &shown(&config, field)), Ok(config.value(field)));
            }
        }
    }

    #[test]
    fn what_is_typed_is_taken_or_rejected_with_what_is_allowed() {
        assert_eq!(entered(Field::MaxAutoContinues, " 5 "), Ok(json!(5)));
        assert_eq!(entered(Field::ConfidenceThreshold, "0.85"), Ok(json!(0.85)));
        assert_eq!(entered(Field::Enabled, "true"), Ok(json!(true)));
        assert_eq!(entered(Field::Model, "p/7"), Ok(json!("p/7")));
        let rejected = entered(Field::ConfidenceThreshold, "very").unwrap_err().to_string();
        assert_eq!(rejected, "`confidenceThreshold` is \"very\"; it may be a number from 0 to 1");
        assert!(entered(Field::Model, "haiku").is_err());
        let rejected = entered(Field::Model, "on").unwrap_err().to_string();
        assert!(rejected.starts_with("`model` is \"on\"; it may be \"provider/modelId\""), "{rejected}");
    }
}
