//! The schema of the protocol, against what is really read and written.

use chaperone::serve::protocol::*;
use chaperone::serve::schema::schema;
use chaperone_contract::*;
use jsonschema::Validator;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use super::chaos::damage;
use crate::readers::Chance;

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/sidecar.schema.json");

#[test]
fn the_schema_in_the_documentation_is_that_of_the_types() {
    let text = format!("{:#}\n", schema());
    if std::env::var("SNAPSHOTS").is_ok_and(|wish| wish == "overwrite") {
        std::fs::write(FILE, &text).unwrap();
    }
    let written = std::fs::read_to_string(FILE).unwrap_or_default();
    assert!(written == text, "docs/sidecar.schema.json is not up to date: run this test with SNAPSHOTS=overwrite");
}

#[test]
fn the_schema_is_a_schema() {
    assert!(jsonschema::meta::is_valid(&schema()));
}

/// Makes documents that a schema allows.
struct Documents<'s> {
    schema: &'s Value,
    chance: Chance,
}

impl Documents<'_> {
    fn any(&mut self, schema: &Value, depth: usize) -> Value {
        if let Some(path) = schema["$ref"].as_str() {
            let schema = self.schema.pointer(path.strip_prefix('#').unwrap()).unwrap();
            return self.any(schema, depth);
        }
        if let Some(value) = schema.get("const") {
            return value.clone();
        }
        if let Some(values) = schema["enum"].as_array() {
            return self.chance.pick(values).clone();
        }
        for key in ["oneOf", "anyOf"] {
            if let Some(schemas) = schema[key].as_array() {
                let one = if depth > 6 { &schemas[0] } else { self.chance.pick(schemas) };
                let part = self.any(one, depth);
                return match schema.get("properties") {
                    // The rest of an object into which the others are flattened.
                    Some(_) => merged(part, self.object(schema, depth)),
                    None => part,
                };
            }
        }
        let kind = match &schema["type"] {
            Value::Array(kinds) if depth > 6 && kinds.contains(&json!("null")) => "null".to_owned(),
            Value::Array(kinds) => self.chance.pick(kinds).as_str().unwrap().to_owned(),
            kind => kind.as_str().unwrap_or("object").to_owned(),
        };
        match kind.as_str() {
            "null" => Value::Null,
            "boolean" => json!(self.chance.below(2) == 0),
            "string" => json!(*self.chance.pick(&["", "a", "Ünïcode 🦀\n\u{0}", "{\"a\":[1]}"])),
            "integer" => {
                let maximum = schema["maximum"].as_u64().unwrap();
                let numbers = [0, 1, 7, maximum];
                json!(*self.chance.pick(&numbers))
            }
            "array" => match schema["prefixItems"].as_array() {
                Some(items) => items.clone().iter().map(|item| self.any(item, depth + 1)).collect(),
                None => {
                    let length = if depth > 6 { 0 } else { self.chance.below(3) };
                    (0..length).map(|_| self.any(&schema["items"], depth + 1)).collect()
                }
            },
            "object" => self.object(schema, depth),
            other => panic!("nobody makes a {other}"),
        }
    }

    fn object(&mut self, schema: &Value, depth: usize) -> Value {
        let required: Vec<_> = schema["required"].as_array().into_iter().flatten().cloned().collect();
        let mut object = Map::new();
        for (name, schema) in schema["properties"].as_object().into_iter().flatten() {
            if required.contains(&json!(name)) || self.chance.below(3) > 0 {
                object.insert(name.clone(), self.any(schema, depth + 1));
            }
        }
        Value::Object(object)
    }
}

fn merged(part: Value, rest: Value) -> Value {
    let (Value::Object(mut part), Value::Object(rest)) = (part, rest) else { panic!("only objects flow together") };
    part.extend(rest);
    Value::Object(part)
}

/// The schema and serde agree on what is a `T`.
fn agree<T: Serialize + DeserializeOwned>(whole: &Value, name: &str) {
    let mut schema = whole.clone();
    schema.as_object_mut().unwrap().remove("anyOf");
    schema["$ref"] = json!(format!("#/$defs/{name}"));
    let validator = Validator::new(&schema).unwrap();
    let own = whole["$defs"].get(name).unwrap_or_else(|| panic!("the schema has no {name}"));
    let mut documents = Documents { schema: whole, chance: Chance(11) };
    let mut refused = 0;
    for _ in 0..300 {
        let mut document = documents.any(own, 0);
        assert!(validator.is_valid(&document), "{name}: what was made is allowed: {document}");
        let read: T = serde_json::from_value(document.clone())
            .unwrap_or_else(|error| panic!("{name}: the schema allows what is not read: {error}: {document}"));
        let written = serde_json::to_value(&read).unwrap();
        assert!(validator.is_valid(&written), "{name}: the schema does not allow what is written: {written}");

        damage(&mut document, &mut documents.chance);
        let is_read = serde_json::from_value::<T>(document.clone()).is_ok();
        assert_eq!(validator.is_valid(&document), is_read, "{name}: {document}");
        refused += usize::from(!is_read);
    }
    // What has no member that is required cannot be damaged.
    assert!(refused > 30 || own.get("required").is_none_or(|it| it == &json!([])), "{name}: {refused}");
}

#[test]
fn what_the_schema_allows_is_read_what_it_refuses_is_not_and_what_is_written_is_allowed() {
    macro_rules! agree {
        ($schema:expr, $($type:ident)*) => { $(agree::<$type>($schema, stringify!($type));)* };
    }
    agree!(&schema(), Event Effect Initialize Initialized Open Opened Append GoTo BranchIs Happened Replied RunCommand Ran CompleteCommand
        Completions RunTool ToolRan AnswerQuestion Quiet Close AskModel Completion CancelRequest Progress Told Changed Plugins
        Noted LlmError);
}
