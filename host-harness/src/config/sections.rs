//! The sections of `chaperone.toml`, and the rules for each.

use std::collections::BTreeMap;
use std::time::Duration;

use super::read::{Field, Reader, Table, list, meant};
use super::{
    BUILTINS, Component, Config, Endpoint, Grants, HOST_PROVIDER, Key, Limits, Llm, LlmGrant, MOUNTS, Model,
    ModelNames, Plugin, Provider, ProviderKind, REPOSITORY, SCRIPT_PROVIDER, State,
};
use crate::files::{Access, Globs, Grant};
use crate::traces::{Content, Policy};

const KINDS: [&str; 3] = ["openai", "anthropic", "script"];
const ACCESS_WORDS: [&str; 3] = ["none", "read", "read-write"];
const CONTENT_WORDS: [&str; 3] = ["full", "redacted", "none"];
const MAX_KEEP_DAYS: u32 = 3650;
const MAX_TRACE_MIB: u32 = 10_240;
const MAX_TIMEOUT_MS: u32 = 3_600_000;
const MAX_CALLS_PER_TURN: u32 = 10_000;
const MAX_HOOK_MS: u32 = 60_000;
/// As much as the engine has room for.
const MAX_MEMORY_MIB: u32 = (crate::engine::MAX_MEMORY >> 20) as u32;
const MAX_QUARANTINE_AFTER: u32 = 1000;
const MAX_TOKENS_PER_CALL: u32 = 1_000_000_000;
const MAX_TOKENS_PER_SESSION: u64 = 1_000_000_000_000;

pub(super) fn config(reader: &mut Reader<'_>, root: &Table<'_>) -> Config {
    reader.check_fields(root, &["llm", "providers", "plugin", "trace", "state"]);
    let mut config = Config::default();
    let mut provider_names = vec![SCRIPT_PROVIDER, HOST_PROVIDER];
    if let Some(table) = root.get("providers").and_then(|field| reader.open_table(&field, "providers")) {
        for field in table.fields() {
            // A provider with a fault is known all the same, so that one fault is not reported twice.
            provider_names.push(field.name);
            if let Some(provider) = provider(reader, &field) {
                config.providers.insert(field.name.to_owned(), provider);
            }
        }
    }
    if let Some(field) = root.get("llm") {
        config.llm = llm(reader, &field, &provider_names);
    }
    if let Some(field) = root.get("plugin") {
        config.plugins = plugins(reader, &field);
    }
    if let Some(field) = root.get("trace") {
        config.trace = trace(reader, &field);
    }
    if let Some(field) = root.get("state") {
        config.state = state(reader, &field);
    }
    config
}

fn trace(reader: &mut Reader<'_>, field: &Field<'_>) -> Policy {
    let mut policy = Policy::default();
    let Some(table) = reader.table(field, "trace", &["keep_days", "max_mib", "content"]) else { return policy };
    if let Some(keep) = keep_days(reader, &table) {
        policy.keep = keep;
    }
    if let Some(mib) = table.get("max_mib").and_then(|field| reader.number(&field, 1..=MAX_TRACE_MIB, "MiB")) {
        policy.max_bytes = u64::from(mib) << 20;
    }
    if let Some(word) = table.get("content").and_then(|field| reader.word(&field, &CONTENT_WORDS)) {
        policy.content = match word {
            "full" => Content::Full,
            "none" => Content::None,
            _ => Content::Redacted,
        };
    }
    policy
}

fn state(reader: &mut Reader<'_>, field: &Field<'_>) -> State {
    let table = reader.table(field, "state", &["keep_days"]);
    table.and_then(|table| keep_days(reader, &table)).map_or_else(State::default, |keep| State { keep })
}

fn keep_days(reader: &mut Reader<'_>, table: &Table<'_>) -> Option<Duration> {
    let days = table.get("keep_days").and_then(|field| reader.number(&field, 1..=MAX_KEEP_DAYS, "days"))?;
    Some(Duration::from_secs(u64::from(days) * 24 * 60 * 60))
}

fn llm(reader: &mut Reader<'_>, field: &Field<'_>, provider_names: &[&str]) -> Llm {
    let mut llm = Llm::default();
    let Some(table) = reader.table(field, "llm", &["provider", "timeout_ms"]) else { return llm };
    if let Some(field) = table.get("provider")
        && let Some(name) = reader.text(&field, &format!("write one of {}", list(provider_names)))
    {
        if provider_names.contains(&name.as_str()) {
            llm.provider = Some(name);
        } else {
            let mend = format!("write one of {}, or add a table `[providers.{name}]`", list(provider_names));
            reader.fault(field.span, format!("there is no provider `{name}`"), mend);
        }
    }
    if let Some(field) = table.get("timeout_ms") {
        llm.timeout_ms = reader.number(&field, 1..=MAX_TIMEOUT_MS, "milliseconds").unwrap_or(llm.timeout_ms);
    }
    llm
}

fn provider(reader: &mut Reader<'_>, field: &Field<'_>) -> Option<Provider> {
    let name = field.name;
    let title = format!("providers.{name}");
    if name == HOST_PROVIDER {
        let message = "`host` is the agent itself, and needs no table".to_owned();
        reader.fault(field.key_span.clone(), message, "give the provider another name");
        return None;
    }
    let known = ["kind", "base_url", "key_env", "key_file", "default_model", "models", "script"];
    let table = reader.table(field, &title, &known)?;
    let kind = match table.get("kind") {
        Some(field) => reader.word(&field, &KINDS),
        None => {
            let named = KINDS.into_iter().find(|kind| *kind == name);
            if named.is_none() {
                let message = format!("provider `{name}` has no `kind`");
                reader.fault(table.span.clone(), message, format!("add `kind = …` with one of {}", list(&KINDS)));
            }
            named
        }
    };
    let default_model =
        table.get("default_model").and_then(|field| reader.text(&field, "write the name of a model, or remove it"));
    let models = table.get("models").map(|field| models(reader, &field, &format!("{title}.models")));
    let kind = match kind? {
        "script" => {
            reject(reader, &table, &["base_url", "key_env", "key_file"], "script");
            ProviderKind::Script(script(reader, &table, name)?)
        }
        kind => {
            reject(reader, &table, &["script"], kind);
            match kind {
                "openai" => ProviderKind::OpenAi(endpoint(reader, &table, "OPENAI_API_KEY")?),
                _ => ProviderKind::Anthropic(endpoint(reader, &table, "ANTHROPIC_API_KEY")?),
            }
        }
    };
    Some(Provider { kind, default_model, models: models.unwrap_or_default() })
}

fn script(reader: &mut Reader<'_>, table: &Table<'_>, name: &str) -> Option<std::path::PathBuf> {
    match table.get("script") {
        Some(field) => reader.path(&field, "write the path of a file with answers"),
        None => {
            let message = format!("provider `{name}` has no `script`");
            reader.fault(table.span.clone(), message, "add `script = …` with the path of a file with answers");
            None
        }
    }
}

/// Reports fields that mean nothing to a kind of provider.
fn reject(reader: &mut Reader<'_>, table: &Table<'_>, names: &[&str], kind: &str) {
    for field in names.iter().filter_map(|name| table.get(name)) {
        let message = format!("`{}` means nothing to a provider of kind `{kind}`", field.name);
        reader.fault(field.key_span, message, "remove it, or change the `kind`");
    }
}

fn endpoint(reader: &mut Reader<'_>, table: &Table<'_>, usual_variable: &str) -> Option<Endpoint> {
    let mend = "write the whole address, such as `http://localhost:8080/v1`";
    let base_url = table.get("base_url").and_then(|field| {
        let url = reader.text(&field, mend)?;
        let host = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"));
        if host.is_none_or(|host| host.is_empty() || host.starts_with('/') || host.contains(char::is_whitespace)) {
            reader.fault(field.span, "`base_url` is not an HTTP address".to_owned(), mend);
        }
        Some(url)
    });
    let key = match (table.get("key_env"), table.get("key_file")) {
        (Some(_), Some(file)) => {
            let message = "`key_env` and `key_file` both say where the key is".to_owned();
            reader.fault(file.key_span, message, "keep one of them");
            return None;
        }
        (Some(field), None) => Key::Env(variable(reader, &field, usual_variable)?),
        (None, Some(field)) => Key::File(reader.path(&field, "write the path of the file that holds the key")?),
        // The vendor's key is for the vendor.
        (None, None) if base_url.is_some() => Key::None,
        (None, None) => Key::Env(usual_variable.to_owned()),
    };
    Some(Endpoint { base_url, key })
}

/// The name of an environment variable. Anything else may be the key itself, put here by mistake.
fn variable(reader: &mut Reader<'_>, field: &Field<'_>, usual: &str) -> Option<String> {
    let is_name = |text: &str| {
        text.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
            && text.chars().all(|character| character.is_ascii_alphanumeric() || character == '_')
    };
    let name = field.as_text().filter(|text| is_name(text)).map(str::to_owned);
    if name.is_none() {
        let message = "`key_env` is not the name of an environment variable".to_owned();
        let mend = format!("name the variable that holds the key, such as `{usual}`; the key itself stays out of here");
        reader.fault_of_secret(field, message, mend);
    }
    name
}

fn models(reader: &mut Reader<'_>, field: &Field<'_>, title: &str) -> Vec<Model> {
    let mut models: Vec<Model> = Vec::new();
    for table in reader.tables(field, title, &["name", "context_window", "max_output_tokens", "reasons"]) {
        let Some(name_field) = table.get("name") else {
            let message = format!("a model in `{title}` has no `name`");
            reader.fault(table.span, message, "add `name = …`, as requests call it");
            continue;
        };
        let Some(name) = reader.text(&name_field, "write the model's name, as requests call it") else { continue };
        if models.iter().any(|model| model.name == name) {
            reader.fault(name_field.span, format!("model `{name}` is described twice"), "remove one of them");
            continue;
        }
        let mut tokens =
            |name| table.get(name).and_then(|field| reader.number(&field, 1..=MAX_TOKENS_PER_CALL, "tokens"));
        let (context_window, max_output_tokens) = (tokens("context_window"), tokens("max_output_tokens"));
        let reasons = table.get("reasons").and_then(|field| reader.flag(&field)).unwrap_or(false);
        models.push(Model { name, context_window, max_output_tokens, reasons });
    }
    models
}

fn plugins(reader: &mut Reader<'_>, field: &Field<'_>) -> Vec<Plugin> {
    let mut plugins: Vec<Plugin> = Vec::new();
    let mut names: Vec<String> = Vec::new();
    for table in reader.tables(field, "plugin", &["name", "component", "grants", "limits"]) {
        let name = plugin_name(reader, &table);
        if let Some(name) = &name {
            if names.contains(name) {
                let message = format!("there are two plugins called `{name}`");
                let span = table.get("name").map_or(table.span.clone(), |field| field.span);
                reader.fault(span, message, "give one of them another name, or remove it");
            }
            names.push(name.clone());
        }
        let component = component(reader, &table, name.as_deref());
        let grants = table.get("grants").map(|field| grants(reader, &field)).unwrap_or_default();
        let limits = table.get("limits").map(|field| limits(reader, &field)).unwrap_or_default();
        if let (Some(name), Some(component)) = (name, component) {
            plugins.push(Plugin { name, component, grants, limits });
        }
    }
    plugins
}

fn plugin_name(reader: &mut Reader<'_>, table: &Table<'_>) -> Option<String> {
    let mend = "write lower-case letters, digits and hyphens, such as `stop-guard`";
    let Some(field) = table.get("name") else {
        reader.fault(table.span.clone(), "a plugin has no `name`".to_owned(), format!("add `name = …`; {mend}"));
        return None;
    };
    let name = reader.text(&field, mend)?;
    let fits = name.chars().all(|letter| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '-');
    if !fits {
        reader.fault(field.span, format!("`{name}` cannot be the name of a plugin"), mend);
    }
    fits.then_some(name)
}

fn component(reader: &mut Reader<'_>, table: &Table<'_>, name: Option<&str>) -> Option<Component> {
    let Some(field) = table.get("component") else {
        let message =
            name.map_or("a plugin has no `component`".to_owned(), |name| format!("plugin `{name}` has no `component`"));
        let builtin = name.filter(|name| BUILTINS.contains(name)).unwrap_or(BUILTINS[0]);
        let mend = format!("add `component = \"builtin:{builtin}\"`, or the path of a component");
        reader.fault(table.span.clone(), message, mend);
        return None;
    };
    let Some(builtin) = field.as_text().and_then(|text| text.strip_prefix("builtin:")) else {
        let mend = format!("write the path of a component, or `builtin:{}`", BUILTINS[0]);
        return reader.path(&field, &mend).map(Component::File);
    };
    if !BUILTINS.contains(&builtin) {
        let message = format!("no component `{builtin}` is built in");
        let known: Vec<_> = BUILTINS.iter().map(|name| format!("builtin:{name}")).collect();
        let known: Vec<_> = known.iter().map(String::as_str).collect();
        reader.fault(field.span, message, meant(&format!("builtin:{builtin}"), &known, "built in are"));
        return None;
    }
    Some(Component::Builtin(builtin.to_owned()))
}

fn grants(reader: &mut Reader<'_>, field: &Field<'_>) -> Grants {
    let Some(table) = reader.table(field, "plugin.grants", &["files", "llm", "inject"]) else {
        return Grants::default();
    };
    let files = table.get("files").map(|field| mounts(reader, &field)).unwrap_or_default();
    let llm = table.get("llm").and_then(|field| llm_grant(reader, &field));
    let inject = table.get("inject").and_then(|field| reader.flag(&field)).unwrap_or(false);
    Grants { files, llm, inject }
}

fn mounts(reader: &mut Reader<'_>, field: &Field<'_>) -> BTreeMap<String, Grant> {
    let Some(table) = reader.open_table(field, "plugin.grants.files") else { return BTreeMap::new() };
    let mut mounts = BTreeMap::new();
    for field in table.fields() {
        if !MOUNTS.contains(&field.name) {
            let message = format!("there is no folder `{}` to grant", field.name);
            reader.fault(field.key_span.clone(), message, meant(field.name, &MOUNTS, "folders"));
        } else if let Some(grant) = file_grant(reader, &field) {
            mounts.insert(field.name.to_owned(), grant);
        }
    }
    mounts
}

fn file_grant(reader: &mut Reader<'_>, field: &Field<'_>) -> Option<Grant> {
    let is_only_read = field.name == REPOSITORY;
    if !field.is_table() {
        return match reader.word(field, if is_only_read { &ACCESS_WORDS[..2] } else { &ACCESS_WORDS })? {
            "none" => Some(Grant::NONE),
            "read" => Some(Grant::READ),
            _ => Some(Grant::READ_WRITE),
        };
    }
    let keys: &[&str] = if is_only_read { &["read"] } else { &["read", "write"] };
    let table = reader.table(field, &format!("plugin.grants.files.{}", field.name), keys)?;
    let mut access = |name| table.get(name).map_or(Access::None, |field| globs(reader, &field));
    Some(Grant { read: access("read"), write: access("write") })
}

fn globs(reader: &mut Reader<'_>, field: &Field<'_>) -> Access {
    let mend = "write a list of patterns, such as `[\".workflow/**\"]`";
    let Some(patterns) = reader.texts(field, mend) else { return Access::None };
    for (pattern, span) in &patterns {
        if let Err(bad) = Globs::new([pattern]) {
            reader.fault(span.clone(), bad.to_string(), bad.mend);
        }
    }
    // A faulty pattern is reported above, and no configuration comes out of it.
    Globs::new(patterns.into_iter().map(|(pattern, _)| pattern)).map_or(Access::None, Access::Globs)
}

fn llm_grant(reader: &mut Reader<'_>, field: &Field<'_>) -> Option<LlmGrant> {
    if let Some(granted) = field.as_flag() {
        return granted.then(LlmGrant::default);
    }
    if !field.is_table() {
        let message = "`llm` must be true, false or a table".to_owned();
        reader.fault(field.span.clone(), message, "write `llm = { models = [\"*\"], calls_per_turn = 8 }`, or `false`");
        return None;
    }
    let table = reader.table(field, "plugin.grants.llm", &["models", "calls_per_turn", "tokens_per_session"])?;
    let mut grant = LlmGrant::default();
    if let Some(names) = table.get("models").and_then(|field| model_names(reader, &field)) {
        grant.models = names;
    }
    if let Some(field) = table.get("calls_per_turn") {
        grant.calls_per_turn = reader.number(&field, 1..=MAX_CALLS_PER_TURN, "calls").unwrap_or(grant.calls_per_turn);
    }
    if let Some(field) = table.get("tokens_per_session") {
        grant.tokens_per_session = reader.number(&field, 1..=MAX_TOKENS_PER_SESSION, "tokens");
    }
    Some(grant)
}

fn model_names(reader: &mut Reader<'_>, field: &Field<'_>) -> Option<ModelNames> {
    let mend = "write a list of names, such as `[\"*\"]` or `[\"claude-*\"]`";
    let patterns = reader.texts(field, mend)?;
    if patterns.is_empty() {
        reader.fault(field.span.clone(), "`models` is empty".to_owned(), "write `llm = false` to grant no model");
    }
    for (pattern, span) in &patterns {
        if let Err(error) = ModelNames::new(vec![pattern.clone()]) {
            reader.fault(span.clone(), format!("the pattern `{pattern}` is not a glob: {}", error.kind()), mend);
        }
    }
    ModelNames::new(patterns.into_iter().map(|(pattern, _)| pattern).collect()).ok()
}

fn limits(reader: &mut Reader<'_>, field: &Field<'_>) -> Limits {
    let mut limits = Limits::default();
    let known = ["hook_ms", "memory_mib", "quarantine_after"];
    let Some(table) = reader.table(field, "plugin.limits", &known) else { return limits };
    let mut number = |name, into: &mut u32, max, unit| {
        if let Some(number) = table.get(name).and_then(|field| reader.number(&field, 1..=max, unit)) {
            *into = number;
        }
    };
    number("hook_ms", &mut limits.hook_ms, MAX_HOOK_MS, "milliseconds");
    number("memory_mib", &mut limits.memory_mib, MAX_MEMORY_MIB, "MiB");
    number("quarantine_after", &mut limits.quarantine_after, MAX_QUARANTINE_AFTER, "traps");
    limits
}
