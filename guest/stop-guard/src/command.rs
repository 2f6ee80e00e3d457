//! `/config:auto-goal …`: the settings panel, the same without one, and what was judged so far.

mod completion;
mod grammar;
mod judgements;
mod status;

use chaperone_sdk::failure::not_written;
use chaperone_sdk::{Answer, FileError, Level, Prompt, RequestId, Tone};
use serde_json::Value;

use crate::config::{Config, Field, Rejected, name};
use crate::desk::Desk;
use crate::file;
use crate::judging::check_config;
use crate::memory::{Change, Spent};
use crate::round;
use crate::settings;

pub use completion::items;
use grammar::Command;
pub use grammar::NAMES;
use status::Sent;

/// Does what a line asks for, and answers it.
pub fn run(desk: &mut Desk, arguments: &str) {
    match grammar::parse(arguments) {
        Err(misspelt) => tell(desk, misspelt, Tone::Error),
        Ok(Command::Panel) => open_panel(desk),
        Ok(Command::Enable(enabled)) => change(desk, Field::Enabled, &enabled.into(), false),
        Ok(Command::Status) => show_status(desk),
        Ok(Command::Reset) => reset(desk),
        Ok(Command::ShowModel) => show_model(desk),
        Ok(Command::Log(count)) => judgements::log(desk, count),
        Ok(Command::Why(number)) => judgements::why(desk, number.as_deref()),
        Ok(Command::Cost) => judgements::cost(desk),
        Ok(Command::SetModel(model)) => match settings::entered(Field::Model, &model) {
            Ok(value) => change(desk, Field::Model, &value, false),
            Err(fault) => tell(desk, fault, Tone::Error),
        },
    }
}

/// The user has answered a dialog. There is none but the panel, which stays open through its changes: asking anew would
/// put a second one beside it.
pub fn answered(desk: &mut Desk, answer: Answer) {
    match answer {
        Answer::Changed((key, text)) => {
            match settings::field(&key).map(|field| (field, settings::entered(field, &text))) {
                Some((field, Ok(value))) => change(desk, field, &value, true),
                Some((_, Err(fault))) => tell(desk, fault, Tone::Error),
                None => desk.cx.log(Level::Warn, format!("the panel has no line `{key}`")),
            }
        }
        Answer::Unavailable => {
            let words = grammar::WORDS.join(", ");
            tell(desk, format!("nobody can be shown the settings here; type one of {words}"), Tone::Warning);
        }
        Answer::Dismissed | Answer::Confirmed(_) | Answer::Selected(_) | Answer::Entered(_) => {}
    }
}

/// A change has been written to the file, or has not.
pub fn stored(desk: &mut Desk, id: RequestId, outcome: Result<(), FileError>) {
    let Some(change) = desk.watch.changes.remove(&id) else { return };
    match outcome {
        Err(error) => {
            let why = not_written(&error);
            tell(desk, format!("{} was left as it is, since {why}", file::PATH), Tone::Error);
        }
        Ok(()) if change.in_panel => {}
        Ok(()) => {
            if let Some((config, field)) = usable_config(desk).zip(change.field()) {
                tell_changed(desk, &config, field);
            }
        }
    }
}

fn change(desk: &mut Desk, field: Field, value: &Value, in_panel: bool) {
    let id = file::write(desk.cx, field, value);
    desk.watch.changes.insert(id, Change::of(field, in_panel));
}

fn tell_changed(desk: &mut Desk, config: &Config, field: Field) {
    let told = match (field, &config.model) {
        (Field::Enabled, _) => format!("judgement is {}", status::on_or_off(config.enabled)),
        (Field::Model, None) => "the session's own model judges".into(),
        (Field::Model, Some(model)) => {
            let known = desk.cx.models();
            let is_known = known.is_empty() || known.iter().any(|known| known.id == *model);
            let doubt = if is_known { "" } else { ", which is not among the models that are known here" };
            format!("the judge is {}{doubt}", name(model))
        }
        _ => format!("{} is {}", field.name(), settings::shown(config, field)),
    };
    tell(desk, told, Tone::Success);
}

fn open_panel(desk: &mut Desk) {
    if let Some(config) = usable_config(desk) {
        let rows = settings::rows(&config, &desk.cx.models());
        desk.cx.ask(Prompt::Settings((settings::TITLE.into(), rows)));
    }
}

fn show_model(desk: &mut Desk) {
    let Some(config) = usable_config(desk) else { return };
    let told = match (&config.model, desk.cx.session().model) {
        (Some(model), _) => format!("the judge is {}", name(model)),
        (None, Some(own)) => format!("the session's own model judges: {}", name(&own)),
        (None, None) => "the session's own model judges".into(),
    };
    tell(desk, told, Tone::Normal);
}

fn show_status(desk: &mut Desk) {
    let Some(config) = usable_config(desk) else { return };
    let request = round::read(desk.cx, 0).user.map(|user| user.id);
    let sent = Sent {
        for_request: request.map_or(0, |request| desk.spent.clone().on(&request).continuations),
        in_session: desk.watch.continuations,
    };
    let text = status::status(&config, desk.cx.session().model.as_ref(), sent);
    desk.cx.notify(text, Tone::Normal);
}

/// Forgets how often the agent was sent back, for this request and in this session.
fn reset(desk: &mut Desk) {
    desk.watch.continuations = 0;
    desk.spent = Spent::default();
    tell(desk, "the agent counts as never sent back", Tone::Success);
}

/// The configuration. Where it is rejected, the user is told why, and that nothing is judged until then.
fn usable_config(desk: &mut Desk) -> Option<Config> {
    match check_config(desk) {
        Ok(config) => Some(config),
        Err(Rejected { faults }) => {
            let faults: String = faults.iter().map(|fault| format!("\n  {fault}")).collect();
            let told = format!("{} is rejected, and no stop is judged until it is mended:{faults}", file::PATH);
            tell(desk, told, Tone::Error);
            None
        }
    }
}

fn tell(desk: &mut Desk, text: impl std::fmt::Display, tone: Tone) {
    desk.cx.notify(format!("[auto-goal] {text}"), tone);
}
