//! From the turns of a transcript to the entries of a session, if an agent can have had such a session.

use std::collections::VecDeque;
use std::sync::Arc;

use chaperone_contract::{
    AssistantMessage, Content, CustomMessage, Entry, EntryBody, StopReason, Timestamp, ToolCall, ToolResult,
};
use serde_saphyr::{Location, Spanned};

use super::fault::Fault;
use super::format::{CallText, Fallible, StopText, TurnText};
use crate::session::BranchEntry;

/// When transcripts begin. Any moment would do; it is the same in each run.
const BEGIN: Timestamp = 1_760_000_000_000;
/// How far entries are apart, in milliseconds.
const PACE: Timestamp = 5_000;

/// The entries of a transcript.
pub fn branch(turns: Vec<Spanned<TurnText>>) -> Fallible<Vec<BranchEntry>> {
    let mut agent = Agent::default();
    let mut last = Location::UNKNOWN;
    let mut branch = Vec::with_capacity(turns.len());
    for (number, Spanned { value, referenced, .. }) in (1..).zip(turns) {
        let body = agent.take(turn(value, referenced)?).map_err(|fault| (referenced, fault))?;
        let entry = Entry { id: format!("e{number}"), timestamp: BEGIN + number * PACE, body };
        branch.push(BranchEntry { entry: Arc::new(entry), model: None });
        last = referenced;
    }
    match agent.state {
        State::Resting { .. } if !branch.is_empty() => Ok(branch),
        State::Working => Err((last, Fault::CallWithoutResult(agent.open_tool()))),
        State::Resting { .. } | State::Asked => Err((last, Fault::NoRest)),
    }
}

/// One turn, whose keys belong together.
enum Turn {
    User(String),
    Assistant { text: String, calls: Vec<Wish>, stop: StopReason },
    Result { text: String, is_error: bool, details: Option<String> },
    Custom { text: String, custom_type: String },
}

/// A tool that the agent wants to run, and with which arguments (an object).
struct Wish {
    tool: String,
    arguments: String,
}

fn wish(CallText { tool, arguments }: CallText) -> Fallible<Wish> {
    let arguments = match arguments {
        None => "{}".to_owned(),
        Some(Spanned { value, .. }) if value.is_object() => value.to_string(),
        Some(Spanned { referenced, .. }) => return Err((referenced, Fault::NotAnObject)),
    };
    Ok(Wish { tool, arguments })
}

fn turn(text: TurnText, place: Location) -> Fallible<Turn> {
    let TurnText { user, assistant, calls, stop, result, error, details, custom, custom_type } = text;
    let speakers = [
        user.is_some().then_some("user"),
        (assistant.is_some() || calls.is_some()).then_some("assistant"),
        result.is_some().then_some("result"),
        custom.is_some().then_some("custom"),
    ];
    let mut speakers = speakers.into_iter().flatten();
    let speaker = speakers.next().ok_or((place, Fault::NoSpeaker))?;
    if let Some(second) = speakers.next() {
        return Err((place, Fault::TwoSpeakers(speaker, second)));
    }
    let only = |key, at: Option<Location>, goes_with| match at {
        Some(at) if goes_with != speaker => Err((at, Fault::Misplaced { key, goes_with })),
        _ => Ok(()),
    };
    only("stop", stop.as_ref().map(|stop| stop.referenced), "assistant")?;
    only("error", error.as_ref().map(|error| error.referenced), "result")?;
    only("details", details.as_ref().map(|details| details.referenced), "result")?;
    only("type", custom_type.as_ref().map(|custom_type| custom_type.referenced), "custom")?;
    let text = |text: Option<Spanned<String>>| text.map(|text| text.value).unwrap_or_default();
    Ok(match speaker {
        "user" => Turn::User(text(user)),
        "result" => Turn::Result {
            text: text(result),
            is_error: error.is_some_and(|error| error.value),
            details: details.map(|details| details.value.to_string()),
        },
        "custom" => Turn::Custom {
            text: text(custom),
            custom_type: custom_type.map(|custom_type| custom_type.value).ok_or((place, Fault::NoType))?,
        },
        _ => {
            let calls = calls.map(|calls| calls.value).unwrap_or_default();
            let calls: Vec<Wish> = calls.into_iter().map(wish).collect::<Result<_, _>>()?;
            let stop = match stop {
                Some(stop) if stop.value == StopText::Stop && !calls.is_empty() => {
                    return Err((stop.referenced, Fault::StopWithCalls));
                }
                Some(stop) => stop.value.into(),
                None if calls.is_empty() => StopReason::Stop,
                None => StopReason::ToolUse,
            };
            Turn::Assistant { text: text(assistant), calls, stop }
        }
    })
}

/// What the agent waits for.
enum State {
    /// Somebody has to speak to it. After an error it may also try again by itself.
    Resting { tries_again: bool },
    /// Its model has to answer.
    Asked,
    /// Its tools have to answer.
    Working,
}

struct Agent {
    state: State,
    /// Calls without a result, oldest first.
    open: VecDeque<ToolCall>,
    calls: usize,
}

impl Default for Agent {
    fn default() -> Self {
        Self { state: State::Resting { tries_again: false }, open: VecDeque::new(), calls: 0 }
    }
}

impl Agent {
    fn take(&mut self, turn: Turn) -> Result<EntryBody, Fault> {
        match turn {
            Turn::User(text) => {
                self.hears();
                Ok(EntryBody::User(vec![Content::Text(text)]))
            }
            Turn::Custom { text, custom_type } => {
                self.hears();
                Ok(EntryBody::Custom(CustomMessage { custom_type, content: text, display: true, details: None }))
            }
            Turn::Result { text, is_error, details } => {
                let call = self.open.pop_front().ok_or(Fault::ResultWithoutCall)?;
                if self.open.is_empty() {
                    self.state = State::Asked;
                }
                Ok(EntryBody::ToolResult(ToolResult {
                    call_id: call.id,
                    tool_name: call.name,
                    content: vec![Content::Text(text)],
                    is_error,
                    details,
                }))
            }
            Turn::Assistant { text, calls, stop } => self.speaks(text, calls, stop),
        }
    }

    /// Somebody speaks to it. What is said while tools run, it reads after them.
    fn hears(&mut self) {
        if !matches!(self.state, State::Working) {
            self.state = State::Asked;
        }
    }

    fn speaks(&mut self, text: String, calls: Vec<Wish>, stop: StopReason) -> Result<EntryBody, Fault> {
        match self.state {
            State::Asked | State::Resting { tries_again: true } => {}
            State::Resting { tries_again: false } => return Err(Fault::Unasked),
            State::Working => return Err(Fault::CallWithoutResult(self.open_tool())),
        }
        let calls: Vec<ToolCall> = calls
            .into_iter()
            .map(|Wish { tool, arguments }| {
                self.calls += 1;
                ToolCall { id: format!("call-{}", self.calls), name: tool, arguments }
            })
            .collect();
        // Tools of a message that broke off are not run.
        let broke_off = matches!(stop, StopReason::Aborted | StopReason::Error);
        self.state = match broke_off || calls.is_empty() {
            true => State::Resting { tries_again: stop == StopReason::Error },
            false => State::Working,
        };
        if matches!(self.state, State::Working) {
            self.open.extend(calls.iter().cloned());
        }
        let text = (!text.is_empty()).then_some(Content::Text(text));
        Ok(EntryBody::Assistant(AssistantMessage {
            content: text.into_iter().chain(calls.into_iter().map(Content::ToolCall)).collect(),
            stop_reason: stop,
            usage: None,
            model: None,
            error: (stop == StopReason::Error).then(|| "the provider failed".to_owned()),
        }))
    }

    fn open_tool(&self) -> String {
        self.open.front().map(|call| call.name.clone()).unwrap_or_default()
    }
}
