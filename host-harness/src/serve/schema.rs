//! The JSON Schema of the protocol, from the same types that read and write it.

use schemars::generate::SchemaSettings;
use schemars::transform::{RecursiveTransform, Transform as _};
use schemars::{Schema, SchemaGenerator};
use serde_json::{Map, Value, json};

use super::errors::Fault;
use super::protocol::*;

/// The schema of one line, in either direction. `methods` in it says which types a method's parameters and result have;
/// validators pass over that.
pub fn schema() -> Value {
    let mut generator = SchemaSettings::draft2020_12().into_generator();
    let mut methods = Map::new();
    let mut lines = Map::new();
    let client = requests(&mut generator, ClientRequest::NAMES, ClientRequest::schemas, "client", &mut methods);
    let sidecar = requests(&mut generator, SidecarRequest::NAMES, SidecarRequest::schemas, "sidecar", &mut methods);
    let client_tells =
        notifications(&mut generator, ClientNotification::NAMES, ClientNotification::schemas, "client", &mut methods);
    let sidecar_tells = notifications(
        &mut generator,
        SidecarNotification::NAMES,
        SidecarNotification::schemas,
        "sidecar",
        &mut methods,
    );
    // Either side may take back what it asked.
    let cancelled = client_tells.iter().find(|line| line["properties"]["method"]["const"] == CancelRequest::NAME);
    let cancelled: Vec<_> = cancelled.cloned().into_iter().collect();
    let responses = |asked: &Methods| {
        let results: Vec<_> = asked.iter().map(|(_, _, result)| result.clone()).collect();
        line("Result", &["id", "result"], json!({"id": {"$ref": "#/$defs/Id"}, "result": {"anyOf": results}}))
    };
    let id = generator.subschema_for::<Id>();
    let failed = |error: Schema| {
        line("Error", &["id", "error"], json!({"id": {"anyOf": [id, {"type": "null"}]}, "error": error}))
    };
    let (refused, client_failed) =
        (failed(generator.subschema_for::<Fault>()), failed(generator.subschema_for::<ErrorIn>()));
    let one_of = |parts: [Vec<Value>; 4]| json!({"anyOf": parts.concat()});
    lines.insert(
        "ClientLine".into(),
        one_of([request_lines(&client), client_tells, vec![responses(&sidecar)], vec![client_failed]]),
    );
    lines.insert(
        "SidecarLine".into(),
        one_of([request_lines(&sidecar), [sidecar_tells, cancelled].concat(), vec![responses(&client)], vec![refused]]),
    );
    let mut definitions = generator.take_definitions(true);
    definitions.extend(lines);
    let mut schema = Schema::try_from(json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "The protocol of chaperone serve",
        "description": format!(
            "One line of the pipe. Version {PROTOCOL_VERSION}, with the contract chaperone:agent@{} in its JSON form.",
            chaperone_contract::VERSION
        ),
        "anyOf": [{"$ref": "#/$defs/ClientLine"}, {"$ref": "#/$defs/SidecarLine"}],
        "methods": methods,
        "$defs": definitions,
    }))
    .expect("an object is a schema");
    RecursiveTransform(bound_integers).transform(&mut schema);
    schema.to_value()
}

/// Name, parameters and result.
type Methods = Vec<(&'static str, Value, Value)>;

fn requests(
    generator: &mut SchemaGenerator,
    names: &[&'static str],
    schemas: fn(&mut SchemaGenerator) -> Vec<[Schema; 2]>,
    from: &str,
    methods: &mut Map<String, Value>,
) -> Methods {
    let schemas = schemas(generator).into_iter().map(|pair| pair.map(Schema::to_value));
    let asked: Methods = names.iter().zip(schemas).map(|(&name, [params, result])| (name, params, result)).collect();
    for (name, params, result) in &asked {
        methods.insert((*name).into(), json!({"from": from, "params": params, "result": result}));
    }
    asked
}

fn request_lines(asked: &Methods) -> Vec<Value> {
    let request = |(name, params, _): &(&str, Value, Value)| {
        line(
            name,
            &["id", "method"],
            json!({"id": {"$ref": "#/$defs/Id"}, "method": {"const": name}, "params": params}),
        )
    };
    asked.iter().map(request).collect()
}

fn notifications(
    generator: &mut SchemaGenerator,
    names: &[&'static str],
    schemas: fn(&mut SchemaGenerator) -> Vec<Schema>,
    from: &str,
    methods: &mut Map<String, Value>,
) -> Vec<Value> {
    let told = names.iter().zip(schemas(generator)).map(|(name, params)| {
        let params = params.to_value();
        let from = if *name == CancelRequest::NAME { "both" } else { from };
        methods.insert((*name).into(), json!({"from": from, "params": params}));
        line(name, &["method"], json!({"method": {"const": name}, "params": params}))
    });
    told.collect()
}

fn line(title: &str, required: &[&str], members: Value) -> Value {
    let required: Vec<_> = std::iter::once(&"jsonrpc").chain(required).collect();
    let mut line = json!({"title": title, "type": "object", "required": required, "properties": members});
    line["properties"]["jsonrpc"] = json!({"const": "2.0"});
    line
}

/// Formats are only a hint to validators: the bounds of whole numbers are spelt out.
fn bound_integers(schema: &mut Schema) {
    let bound = match schema.get("format").and_then(Value::as_str) {
        Some("uint8") => json!(u8::MAX),
        Some("uint32") => json!(u32::MAX),
        Some("int32") => json!(i32::MAX),
        Some("uint64") => json!(u64::MAX),
        Some("int64") => json!(i64::MAX),
        _ => return,
    };
    schema.insert("maximum".into(), bound);
}
