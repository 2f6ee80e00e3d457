//! The configuration: its fields, their defaults, and what each may be.

mod fault;
#[cfg(test)]
mod tests;

use std::num::NonZeroU32;

use chaperone_sdk::ModelId;
use chaperone_sdk::document::{self, Document};
use serde_json::{Value, json};

use crate::confidence::Confidence;
use crate::verdict::Decision;

pub use fault::{Fault, Rejected};

/// How the stop guard behaves.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// Whether stops are judged at all.
    pub enabled: bool,
    /// Who judges. None: the session's own model.
    pub model: Option<ModelId>,
    /// How often the agent is sent back for one request of the user. None: any number of times.
    pub max_auto_continues: Option<NonZeroU32>,
    /// How sure a judge must be for the agent to be sent back.
    pub confidence_threshold: Confidence,
    /// How long one call of the judge may take, in milliseconds; from 1.
    pub timeout_ms: u32,
    /// Whether the judge sees the tool calls of the round.
    pub include_tool_trace: bool,
    /// How many characters of the user's request the judge sees; from 1.
    pub max_user_request_chars: u32,
    /// The same of the agent's final output.
    pub max_final_output_chars: u32,
    /// How many tool calls the judge sees, the newest ones; from 1.
    pub max_tool_trace_entries: u32,
    /// How many characters of each of the user's answers the judge sees; from 1.
    pub max_user_answer_chars: u32,
    /// Whether the verdict is shown as a block in the transcript.
    pub show_verdict_notice: bool,
    /// How many tokens one call of the judge may write; from 1.
    pub judge_max_tokens: u32,
    /// What the agent is told, with `{reason}` in it. None: the built-in text.
    pub continue_message_template: Option<String>,
    /// Stands in for every verdict. None: the judge decides.
    pub forced_decision: Option<Decision>,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            enabled: true,
            model: None,
            max_auto_continues: NonZeroU32::new(2),
            confidence_threshold: Confidence::new(0.6).expect("it is between 0 and 1"),
            timeout_ms: 30_000,
            include_tool_trace: false,
            max_user_request_chars: 2_000,
            max_final_output_chars: 4_000,
            max_tool_trace_entries: 20,
            max_user_answer_chars: 2_000,
            show_verdict_notice: true,
            judge_max_tokens: 2_000,
            continue_message_template: None,
            forced_decision: None,
        }
    }
}

/// The longest time that can be waited for a judge, in seconds.
const LONGEST_TIMEOUT: f64 = 3_600.0;

macro_rules! fields {
    ($($case:ident $name:literal: $allowed:literal,)*) => {
        /// A field of the file.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        #[allow(missing_docs, reason = "they are the fields of `Config`, by the names of the file")]
        pub enum Field { $($case,)* }

        impl Field {
            /// All, in the order of the documentation.
            pub const ALL: &'static [Self] = &[$(Self::$case,)*];

            /// All names, in that order.
            pub const NAMES: &'static [&'static str] = &[$($name,)*];

            /// What it is called in the file.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$case => $name,)* }
            }

            /// What may stand there, in words.
            pub const fn allowed(self) -> &'static str {
                match self { $(Self::$case => $allowed,)* }
            }
        }
    };
}

fields! {
    Enabled "enabled": "true or false",
    Model "model": "\"provider/modelId\", or \"\" for the session's own model",
    MaxAutoContinues "maxAutoContinues": "a whole number from 0, where 0 is no limit",
    ConfidenceThreshold "confidenceThreshold": "a number from 0 to 1",
    TimeoutSeconds "timeoutSeconds": "a number of seconds above 0, at most 3600",
    IncludeToolTrace "includeToolTrace": "true or false",
    MaxUserRequestChars "maxUserRequestChars": "a whole number from 1",
    MaxFinalOutputChars "maxFinalOutputChars": "a whole number from 1",
    MaxToolTraceEntries "maxToolTraceEntries": "a whole number from 1",
    MaxUserAnswerChars "maxUserAnswerChars": "a whole number from 1",
    NotifyOnStopDecision "notifyOnStopDecision": "true or false; it has no effect",
    ShowVerdictNotice "showVerdictNotice": "true or false",
    JudgeMaxTokens "judgeMaxTokens": "a whole number from 1",
    ContinueMessageTemplate "continueMessageTemplate": "a text, where {reason} stands for what is missing; \"\" for the built-in one",
    ForcedDecision "forcedDecision": "\"auto\", \"continue\" or \"stop\"",
}

impl Field {
    /// The field of a name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|field| field.name() == name)
    }
}

/// The word of `forcedDecision` for a verdict of the judge's own.
const AUTO: &str = "auto";

impl Config {
    /// Reads the text of the file.
    ///
    /// # Errors
    /// All that is wrong with it. A file with a fault is not used at all.
    pub fn parse(text: &str) -> Result<Self, Rejected> {
        let (members, repeated) = match document::parse(text) {
            Ok(Document { value: Value::Object(members), repeated }) => (members, repeated),
            Ok(Document { value, .. }) => return Err(Fault::no_object(&value).into()),
            Err(error) => return Err(Fault::NotJson(error.to_string()).into()),
        };
        let mut config = Self::default();
        let mut faults = Vec::new();
        for (name, value) in &members {
            if repeated.contains(&document::pointer_to("", name)) {
                faults.push(Fault::repeated(name));
            }
            match Field::named(name) {
                Some(field) => faults.extend(config.set(field, value).err()),
                None => faults.push(Fault::unknown(name)),
            }
        }
        if faults.is_empty() { Ok(config) } else { Err(Rejected { faults }) }
    }

    /// Sets a field to what stands in the file.
    ///
    /// # Errors
    /// Where the field may not be that; nothing is changed then.
    pub fn set(&mut self, field: Field, value: &Value) -> Result<(), Fault> {
        let mut try_set = || -> Option<()> {
            match field {
                Field::Enabled => self.enabled = value.as_bool()?,
                Field::Model => self.model = model(value.as_str()?)?,
                Field::MaxAutoContinues => self.max_auto_continues = NonZeroU32::new(whole(value)?),
                Field::ConfidenceThreshold => self.confidence_threshold = Confidence::new(value.as_f64()?)?,
                Field::TimeoutSeconds => self.timeout_ms = milliseconds(value.as_f64()?)?,
                Field::IncludeToolTrace => self.include_tool_trace = value.as_bool()?,
                Field::MaxUserRequestChars => self.max_user_request_chars = from_1(value)?,
                Field::MaxFinalOutputChars => self.max_final_output_chars = from_1(value)?,
                Field::MaxToolTraceEntries => self.max_tool_trace_entries = from_1(value)?,
                Field::MaxUserAnswerChars => self.max_user_answer_chars = from_1(value)?,
                Field::NotifyOnStopDecision => _ = value.as_bool()?,
                Field::ShowVerdictNotice => self.show_verdict_notice = value.as_bool()?,
                Field::JudgeMaxTokens => self.judge_max_tokens = from_1(value)?,
                Field::ContinueMessageTemplate => {
                    let text = value.as_str()?;
                    self.continue_message_template = (!text.trim().is_empty()).then(|| text.to_owned());
                }
                Field::ForcedDecision => {
                    let word = value.as_str()?;
                    let forced = Decision::ALL.into_iter().find(|decision| decision.word() == word);
                    if forced.is_none() && word != AUTO {
                        return None;
                    }
                    self.forced_decision = forced;
                }
            }
            Some(())
        };
        try_set().ok_or_else(|| Fault::value(field, value))
    }

    /// What stands in a file that means the same.
    pub fn value(&self, field: Field) -> Value {
        match field {
            Field::Enabled => self.enabled.into(),
            Field::Model => self.model.as_ref().map(name).unwrap_or_default().into(),
            Field::MaxAutoContinues => self.max_auto_continues.map_or(0, NonZeroU32::get).into(),
            Field::ConfidenceThreshold => self.confidence_threshold.get().into(),
            Field::TimeoutSeconds => match self.timeout_ms {
                whole if whole % 1_000 == 0 => (whole / 1_000).into(),
                fraction => (f64::from(fraction) / 1_000.0).into(),
            },
            Field::IncludeToolTrace => self.include_tool_trace.into(),
            Field::MaxUserRequestChars => self.max_user_request_chars.into(),
            Field::MaxFinalOutputChars => self.max_final_output_chars.into(),
            Field::MaxToolTraceEntries => self.max_tool_trace_entries.into(),
            Field::MaxUserAnswerChars => self.max_user_answer_chars.into(),
            Field::NotifyOnStopDecision => false.into(),
            Field::ShowVerdictNotice => self.show_verdict_notice.into(),
            Field::JudgeMaxTokens => self.judge_max_tokens.into(),
            Field::ContinueMessageTemplate => json!(self.continue_message_template.as_deref().unwrap_or_default()),
            Field::ForcedDecision => self.forced_decision.map_or(AUTO, Decision::word).into(),
        }
    }
}

/// A model's name as it stands in the file.
pub fn name(model: &ModelId) -> String {
    format!("{}/{}", model.provider, model.model)
}

/// The model of a name; inside, none for the session's own. The provider is what stands before the first slash.
fn model(text: &str) -> Option<Option<ModelId>> {
    if text.is_empty() {
        return Some(None);
    }
    let (provider, model) = text.split_once('/')?;
    let is_name = |name: &str| !name.is_empty() && !name.contains(char::is_whitespace);
    (is_name(provider) && is_name(model)).then(|| Some(ModelId { provider: provider.into(), model: model.into() }))
}

/// A whole number from 0, however it is spelt: `2.0` is one.
fn whole(value: &Value) -> Option<u32> {
    let number = value.as_f64()?;
    // A float holds every number of 32 bits.
    ((0.0..=f64::from(u32::MAX)).contains(&number) && number.fract() == 0.0).then_some(number as u32)
}

fn from_1(value: &Value) -> Option<u32> {
    whole(value).filter(|number| *number >= 1)
}

fn milliseconds(seconds: f64) -> Option<u32> {
    // Less than a millisecond would be no time at all.
    (seconds > 0.0 && seconds <= LONGEST_TIMEOUT).then(|| ((seconds * 1_000.0).round() as u32).max(1))
}
