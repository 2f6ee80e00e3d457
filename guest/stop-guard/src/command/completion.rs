//! How a `/config:auto-goal` line can go on.

use chaperone_sdk::{CompletionItem, ModelInfo};

use super::grammar::WORDS;
use crate::config::name;
use crate::settings::DEFAULT_MODEL;

/// What could stand next on the line that was typed so far. Each value is the whole line.
pub fn items(prefix: &str, models: &[ModelInfo]) -> Vec<CompletionItem> {
    let begun = prefix.trim_start();
    match begun.split_once(char::is_whitespace) {
        None => {
            let words = WORDS.iter().filter(|word| word.starts_with(begun));
            words.map(|word| item((*word).into(), word, hint(word))).collect()
        }
        Some(("model", begun)) => {
            let default = (DEFAULT_MODEL.to_owned(), "The session's own model");
            let models = models.iter().map(|model| (name(&model.id), ""));
            let choices = std::iter::once(default).chain(models);
            let begun = choices.filter(|(name, _)| name.starts_with(begun.trim_start()));
            begun.map(|(name, hint)| item(format!("model {name}"), &name, hint)).collect()
        }
        Some(_) => Vec::new(),
    }
}

fn item(value: String, label: &str, description: &str) -> CompletionItem {
    CompletionItem { value, label: label.into(), description: description.into() }
}

fn hint(word: &str) -> &'static str {
    match word {
        "enable" => "Judge stops",
        "disable" => "Judge no stops",
        "status" => "Show the whole configuration, and how often the agent was sent back",
        "reset" => "Forget how often the agent was sent back",
        "log" => "List the latest judgements: log [number]",
        "why" => "Say how a judgement came about: why [number]",
        "cost" => "Say what the judge has cost",
        _ => "Show or choose who judges",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use chaperone_sdk::ModelId;

    fn values(prefix: &str) -> Vec<String> {
        let id = ModelId { provider: "anthropic".into(), model: "haiku".into() };
        let model = ModelInfo { id, context_window: None, max_output_tokens: None, reasons: false };
        items(prefix, &[model]).into_iter().map(|item| item.value).collect()
    }

    #[test]
    fn the_first_word_is_one_of_the_commands() {
        assert_eq!(values(""), WORDS);
        assert_eq!(values("e"), ["enable"]);
        assert_eq!(values("x"), [""; 0]);
    }

    #[test]
    fn behind_model_come_the_models_and_the_value_is_the_whole_line() {
        assert_eq!(values("model "), ["model default", "model anthropic/haiku"]);
        assert_eq!(values("model  ant"), ["model anthropic/haiku"]);
        assert_eq!(values("status "), [""; 0]);
    }
}
