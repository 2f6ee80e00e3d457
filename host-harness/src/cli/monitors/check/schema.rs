//! What the JSON Schemas of monitors say about a file.

use std::sync::LazyLock;

use jsonschema::error::{TypeKind, ValidationErrorKind};
use jsonschema::{JsonType, ValidationError, Validator};
use serde_json::Value;

use super::files::Kind;

/// A value longer than this is not repeated in a message, in characters.
const LONG: usize = 60;

/// Something that a schema does not allow.
#[derive(Clone, Debug, PartialEq)]
pub struct Breach {
    /// A JSON pointer to it, or to where it should be.
    pub pointer: String,
    pub message: String,
    /// What the schema says about that place.
    pub mend: String,
}

struct Schema {
    document: Value,
    validator: Validator,
}

impl Schema {
    fn new(text: &str) -> Self {
        let document = serde_json::from_str(text).expect("the schema is JSON, as tests show");
        let validator = jsonschema::validator_for(&document).expect("it is a schema, as tests show");
        Self { document, validator }
    }
}

macro_rules! schema {
    ($file:literal) => {
        LazyLock::new(|| Schema::new(include_str!(concat!("../../../../../monitors-examples/schemas/", $file))))
    };
}

static DEFINITION: LazyLock<Schema> = schema!("monitor.schema.json");
static PATTERNS: LazyLock<Schema> = schema!("monitor-pattern.schema.json");
static RULES: LazyLock<Schema> = schema!("monitor-instruction.schema.json");

/// All that the schema of its kind does not allow in a value.
pub fn breaches(kind: Kind, value: &Value) -> Vec<Breach> {
    let schema: &Schema = match kind {
        Kind::Definition => &DEFINITION,
        Kind::Patterns => &PATTERNS,
        Kind::Rules => &RULES,
    };
    schema.validator.iter_errors(value).flat_map(|error| breach(&schema.document, &error)).collect()
}

fn breach(document: &Value, error: &ValidationError) -> Vec<Breach> {
    let pointer = error.instance_path().as_str();
    let path = error.evaluation_path().as_str();
    let parent = path.rsplit_once('/').map_or("", |(parent, _)| parent);
    match error.kind() {
        ValidationErrorKind::AnyOf { context } => match meant(context, pointer) {
            Some(errors) => errors.iter().flat_map(|error| breach(document, error)).collect(),
            None => vec![Breach {
                pointer: pointer.into(),
                message: format!("{} is not allowed here", short(error.instance())),
                mend: description(document, parent),
            }],
        },
        ValidationErrorKind::Required { property } => {
            let property = property.as_str().unwrap_or_default();
            vec![Breach {
                pointer: below(pointer, property),
                message: "is missing".into(),
                mend: description(document, &format!("{parent}/properties/{}", escaped(property))),
            }]
        }
        ValidationErrorKind::AdditionalProperties { unexpected } => unexpected
            .iter()
            .map(|property| Breach {
                pointer: below(pointer, property),
                message: format!("`{property}` is not a known field"),
                mend: format!("write one of {}, or remove it", known(document, parent)),
            })
            .collect(),
        ValidationErrorKind::Type { kind: TypeKind::Single(JsonType::Array) } if error.instance().is_string() => {
            vec![Breach {
                pointer: pointer.into(),
                message: format!("{} is not a list", short(error.instance())),
                mend: format!("write [{}]", short(error.instance())),
            }]
        }
        kind => vec![Breach {
            pointer: pointer.into(),
            message: match kind {
                ValidationErrorKind::MinLength { .. } => "is empty".into(),
                ValidationErrorKind::Pattern { .. } => {
                    format!("{} has not the form that it needs", short(error.instance()))
                }
                ValidationErrorKind::Enum { options } => {
                    let options = options.as_array().into_iter().flatten().map(Value::to_string);
                    format!("{} is not one of {}", short(error.instance()), options.collect::<Vec<_>>().join(", "))
                }
                _ if short(error.instance()).len() < error.instance().to_string().len() => {
                    error.masked_with(short(error.instance())).to_string()
                }
                _ => error.to_string(),
            },
            mend: description(document, parent),
        }],
    }
}

/// Of several alternatives, the one that the value was meant to be: the only one that does not refuse it as a whole.
fn meant<'e>(
    alternatives: &'e [Vec<ValidationError<'static>>],
    pointer: &str,
) -> Option<&'e [ValidationError<'static>]> {
    let refuses = |error: &ValidationError| {
        matches!(error.kind(), ValidationErrorKind::Type { .. }) && error.instance_path().as_str() == pointer
    };
    let mut fitting = alternatives.iter().filter(|errors| !errors.iter().any(refuses));
    match (fitting.next(), fitting.next()) {
        (Some(errors), None) => Some(errors),
        _ => None,
    }
}

/// The places of the schema along a path, from its root; the path goes through references.
fn along<'d>(document: &'d Value, path: &str) -> impl Iterator<Item = &'d Value> {
    let steps = path.split('/').skip(1).scan(document, |node, token| {
        *node = match token {
            "$ref" => followed(document, node),
            token => node.pointer(&format!("/{token}")).unwrap_or(&Value::Null),
        };
        Some(*node)
    });
    std::iter::once(document).chain(steps)
}

/// The description of a place in the schema, or of the nearest one around it that has one.
fn description(document: &Value, path: &str) -> String {
    let nearest = along(document, path).filter_map(|node| node["description"].as_str()).last();
    nearest.unwrap_or_default().trim_end_matches('.').into()
}

fn followed<'d>(document: &'d Value, node: &Value) -> &'d Value {
    let target = node["$ref"].as_str().and_then(|reference| reference.strip_prefix('#'));
    target.and_then(|pointer| document.pointer(pointer)).unwrap_or(&Value::Null)
}

/// The fields that an object of the schema may have.
fn known(document: &Value, path: &str) -> String {
    let node = along(document, path).last().unwrap_or(document);
    let names = node["properties"].as_object().into_iter().flatten().map(|(name, _)| name.as_str());
    names.collect::<Vec<_>>().join(", ")
}

fn short(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(LONG) {
        None => text,
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}

fn below(pointer: &str, key: &str) -> String {
    format!("{pointer}/{}", escaped(key))
}

fn escaped(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn told(kind: Kind, value: Value) -> Vec<(String, String, String)> {
        let mut told: Vec<_> = breaches(kind, &value)
            .into_iter()
            .map(|Breach { pointer, message, mend }| (pointer, message, mend))
            .collect();
        told.sort();
        told
    }

    fn pointers(kind: Kind, value: Value) -> Vec<String> {
        told(kind, value).into_iter().map(|(pointer, ..)| pointer).collect()
    }

    fn definition(changes: Value) -> Value {
        let mut definition = json!({"name": "x", "classify": {"prompt": "p"}, "patterns": {"path": "p.json"}});
        for (key, value) in changes.as_object().unwrap() {
            definition[key] = value.clone();
        }
        definition
    }

    #[test]
    fn the_bundled_files_are_allowed() {
        assert_eq!(told(Kind::Definition, definition(json!({}))), []);
        assert_eq!(told(Kind::Patterns, json!([{"id": "a", "description": "b"}])), []);
        assert_eq!(told(Kind::Rules, json!([{"text": "a", "added_at": "2026-03-15T02:30:00.000Z"}])), []);
    }

    #[test]
    fn what_is_missing_has_a_pointer_and_the_words_of_its_schema() {
        let told = told(Kind::Patterns, json!([{"id": "a"}]));
        let (pointer, message, mend) = &told[0];
        assert_eq!((told.len(), pointer.as_str(), message.as_str()), (1, "/0/description", "is missing"));
        assert!(mend.starts_with("What the judge looks for: one sentence"), "{mend}");
    }

    #[test]
    fn each_unknown_field_is_one_breach_and_the_known_ones_are_named() {
        let told = told(Kind::Definition, definition(json!({"a/b": 1, "evnt": 2})));
        assert_eq!(told.iter().map(|breach| breach.0.as_str()).collect::<Vec<_>>(), ["/a~1b", "/evnt"]);
        assert!(told[1].2.contains("name, description, event, when"), "{told:?}");
    }

    #[test]
    fn behind_a_reference_the_place_that_refers_says_what_it_is_for() {
        let told = told(Kind::Definition, definition(json!({"actions": {"on_new": 5}})));
        assert_eq!(told[0].0, "/actions/on_new");
        assert_eq!(told[0].2, "A fault that no pattern describes");
    }

    #[test]
    fn in_an_alternative_the_one_that_was_meant_is_looked_into() {
        let write = json!({"path": "", "array_field": "f", "merge": "replace"});
        let value = definition(json!({"actions": {"on_flag": {"write": write}}}));
        let place = |field: &str| format!("/actions/on_flag/write/{field}");
        assert_eq!(pointers(Kind::Definition, value), ["merge", "path", "template"].map(place));
        let value = definition(json!({"scope": {"filter": {"agent_type": [5]}}}));
        assert_eq!(pointers(Kind::Definition, value), ["/scope/filter/agent_type/0"]);
        let value = definition(json!({"scope": {"filter": {"agent_type": 5}}}));
        assert_eq!(pointers(Kind::Definition, value), ["/scope/filter/agent_type"]);
    }

    #[test]
    fn a_text_in_the_place_of_a_list_is_shown_in_one() {
        let classify = json!({"prompt": "p", "context": "git_status"});
        let told = told(Kind::Definition, definition(json!({ "classify": classify })));
        let expected =
            ["/classify/context", "\"git_status\" is not a list", "write [\"git_status\"]"].map(String::from);
        assert_eq!(told, [expected.into()]);
    }

    #[test]
    fn a_long_value_is_not_repeated_in_full() {
        let told = told(Kind::Definition, definition(json!({"when": "x".repeat(500)})));
        assert!(told[0].1.chars().count() < 250, "{told:?}");
        assert!(told[0].2.starts_with("A condition that must hold as well"), "{told:?}");
    }
}
