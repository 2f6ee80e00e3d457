//! What a failed attempt means.

use std::error::Error;
use std::time::{Duration, SystemTime};

use chaperone_contract::LlmError;
use genai::{BoxError, webc};
use serde_json::Value;

use super::HttpConfig;
use super::retry::{Again, retry_after};
use super::secret::Secret;

/// The most characters of a provider's words that are passed on.
const LONGEST: usize = 600;

/// Why one attempt failed.
#[derive(Debug)]
pub(super) struct Failure {
    /// The status that the provider answered with, or the one that its words stand for.
    status: Option<u16>,
    /// The provider's words, or what went wrong before there were any.
    text: String,
    /// Whether another attempt makes sense.
    pub(super) again: Again,
}

impl Failure {
    /// Something that a second attempt may mend.
    pub(super) fn passing(text: impl Into<String>) -> Self {
        Self { status: None, text: text.into(), again: Again::Later }
    }

    /// Something that would come back.
    pub(super) fn lasting(text: impl Into<String>) -> Self {
        Self { status: None, text: text.into(), again: Again::Never }
    }

    /// The same where part of the answer was passed on already, so that another attempt would say it twice.
    pub(super) fn after_progress(self) -> Self {
        Self { again: Again::Never, ..self }
    }

    /// What went wrong in `genai`; `now` is for a date to wait for.
    pub(super) fn of(error: &genai::Error, now: SystemTime) -> Self {
        if let Some(status) = error.status() {
            let header = error.headers().and_then(|headers| headers.get("retry-after"));
            let wait = header.and_then(|value| retry_after(value.to_str().ok()?, now));
            let body = match error {
                genai::Error::HttpError { body, .. }
                | genai::Error::WebModelCall { webc_error: webc::Error::ResponseFailedStatus { body, .. }, .. } => body,
                _ => "",
            };
            return Self::with_status(status.as_u16(), said(body), wait);
        }
        match error {
            genai::Error::WebModelCall { webc_error, .. } => Self::of_web(webc_error),
            genai::Error::WebStream { error, .. } => Self::of_stream(error, now),
            genai::Error::ChatResponse { body, .. } => Self::in_body(body),
            genai::Error::ChatResponseGeneration { cause, response_body, .. } => {
                Self::lasting(format!("the answer was not understood: {cause}; it was: {response_body}"))
            }
            other => Self::lasting(other.to_string()),
        }
    }

    fn of_web(error: &webc::Error) -> Self {
        match error {
            webc::Error::ResponseFailedNotJson { content_type, body } => {
                let kind = if content_type.is_empty() { "without a content type" } else { content_type };
                Self::lasting(format!("the answer is not JSON but {kind}; is `base_url` right? It was: {body}"))
            }
            webc::Error::ResponseFailedInvalidJson { body, cause } => {
                Self::lasting(format!("the answer is not JSON: {cause}; it was: {body}"))
            }
            webc::Error::Reqwest(error) => {
                let text = chain(error);
                if error.is_builder() { Self::lasting(text) } else { Self::passing(text) }
            }
            other => Self::lasting(other.to_string()),
        }
    }

    /// A stream hides what it failed with in a box.
    fn of_stream(error: &BoxError, now: SystemTime) -> Self {
        if let Some(error) = error.downcast_ref::<genai::Error>() {
            return Self::of(error, now);
        }
        let broken = content_of(webc::Error::Reqwest, error).is_some_and(|error| !error.is_builder());
        let text = chain(&**error);
        if broken { Self::passing(text) } else { Self::lasting(text) }
    }

    /// An error that the provider tells in the body of an answer that it calls a success.
    pub(super) fn in_body(body: &Value) -> Self {
        let error = body.get("error").unwrap_or(body);
        let code = error.get("code").and_then(Value::as_u64).and_then(|code| u16::try_from(code).ok());
        let status = code.or_else(|| match error.get("type").and_then(Value::as_str)? {
            "authentication_error" | "permission_error" => Some(401),
            "not_found_error" => Some(404),
            "rate_limit_error" => Some(429),
            "api_error" | "server_error" => Some(500),
            "timeout_error" => Some(504),
            "overloaded_error" => Some(529),
            _ => None,
        });
        let text = said(&body.to_string());
        match status {
            Some(status) => Self::with_status(status, text, None),
            None => Self::lasting(text),
        }
    }

    fn with_status(status: u16, text: String, wait: Option<Duration>) -> Self {
        let again = match (status, wait) {
            (429 | 500..=599, Some(wait)) => Again::After(wait),
            (429 | 500..=599, None) => Again::Later,
            _ => Again::Never,
        };
        Self { status: Some(status), text, again }
    }

    /// As plugins and people read it: without the key, and cut to a length that can be read.
    pub(super) fn tell(&self, config: &HttpConfig, model: &str, key: Option<&Secret>) -> LlmError {
        let name = &config.name;
        let whole = key.map_or_else(|| self.text.clone(), |key| key.scrub(&self.text));
        let text = cut(&whole);
        match self.status {
            Some(status) if about_a_model(status, &whole) => {
                LlmError::UnknownModel(format!("`{name}/{model}`: {text}"))
            }
            Some(401 | 403) if key.is_none() => LlmError::Authentication(format!("`{name}` asks for a key: {text}")),
            Some(401 | 403) => LlmError::Authentication(format!("`{name}` refused the key: {text}")),
            Some(429) => LlmError::RateLimited(match self.again {
                Again::After(wait) => Some(whole_seconds(wait)),
                Again::Later | Again::Never => None,
            }),
            Some(status) => LlmError::Provider(format!("`{name}` answered with status {status}: {text}")),
            None => LlmError::Provider(format!("`{name}`: {text}")),
        }
    }
}

/// Whether it is the model that is missing: a page may be missing for a wrong address as well, and some providers have
/// a code for it instead.
fn about_a_model(status: u16, text: &str) -> bool {
    text.contains("model_not_found") || status == 404 && text.to_lowercase().contains("model")
}

/// What is in `error`, where it is of the type that is the content of `_case`: a type whose crate is not at hand.
fn content_of<T: Error + 'static>(_case: fn(T) -> webc::Error, error: &BoxError) -> Option<&T> {
    error.downcast_ref()
}

/// What a body says: the message in it where it is an error as both APIs tell it, else all of it.
fn said(body: &str) -> String {
    let message = serde_json::from_str::<Value>(body).ok().and_then(|value| {
        let error = value.get("error").unwrap_or(&value);
        let message = error.as_str().or_else(|| error.get("message")?.as_str()).filter(|text| !text.is_empty())?;
        Some(match error.get("code").and_then(Value::as_str) {
            Some(code) => format!("{message} ({code})"),
            None => message.to_owned(),
        })
    });
    message.unwrap_or_else(|| match body.trim() {
        "" => "it said nothing more".to_owned(),
        body => body.to_owned(),
    })
}

/// An error with its causes.
fn chain(error: &dyn Error) -> String {
    match error.source() {
        Some(cause) => format!("{error}: {}", chain(cause)),
        None => error.to_string(),
    }
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}… ({} characters)", &text[..end], text.chars().count()),
        None => text.to_owned(),
    }
}

fn whole_seconds(wait: Duration) -> u32 {
    let seconds = wait.as_secs().saturating_add(u64::from(wait.subsec_nanos() > 0));
    u32::try_from(seconds).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::super::{Key, Kind};
    use super::*;

    fn tell(failure: &Failure) -> LlmError {
        failure.tell(&HttpConfig::new("p", Kind::OpenAi, Key::None), "m", Secret::new("sk-secret").as_ref())
    }

    fn status(status: u16, body: &str) -> Failure {
        Failure::with_status(status, said(body), None)
    }

    #[test]
    fn a_status_says_whether_to_ask_again() {
        for code in [429, 500, 502, 503, 529] {
            assert_eq!(status(code, "").again, Again::Later, "{code}");
        }
        for code in [400, 401, 403, 404, 413, 422] {
            assert_eq!(status(code, "").again, Again::Never, "{code}");
        }
    }

    #[test]
    fn a_refused_key_is_an_authentication_error() {
        for code in [401, 403] {
            let failure = status(code, r#"{"error":{"message":"bad key"}}"#);
            assert_eq!(tell(&failure), LlmError::Authentication("`p` refused the key: bad key".into()));
            let keyless = failure.tell(&HttpConfig::new("p", Kind::OpenAi, Key::None), "m", None);
            assert_eq!(keyless, LlmError::Authentication("`p` asks for a key: bad key".into()));
        }
    }

    #[test]
    fn a_missing_page_is_an_unknown_model_only_where_it_is_about_a_model() {
        let text = "The model `m` does not exist (model_not_found)";
        let body = r#"{"error":{"message":"The model `m` does not exist","code":"model_not_found"}}"#;
        assert_eq!(tell(&status(404, body)), LlmError::UnknownModel(format!("`p/m`: {text}")));
        assert_eq!(tell(&status(403, body)), LlmError::UnknownModel(format!("`p/m`: {text}")));
        let page = tell(&status(404, "<h1>Not Found</h1>"));
        assert_eq!(page, LlmError::Provider("`p` answered with status 404: <h1>Not Found</h1>".into()));
    }

    #[test]
    fn a_rate_limit_tells_the_seconds_rounded_up() {
        let limited = |wait| tell(&Failure::with_status(429, String::new(), wait));
        assert_eq!(limited(None), LlmError::RateLimited(None));
        assert_eq!(limited(Some(Duration::from_millis(1200))), LlmError::RateLimited(Some(2)));
        assert_eq!(limited(Some(Duration::MAX)), LlmError::RateLimited(Some(u32::MAX)));
    }

    #[test]
    fn an_error_in_a_successful_answer_is_read_as_the_status_that_it_stands_for() {
        let overloaded = json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}});
        let failure = Failure::in_body(&overloaded);
        assert_eq!(failure.again, Again::Later);
        assert_eq!(tell(&failure), LlmError::Provider("`p` answered with status 529: Overloaded".into()));
        let upstream = Failure::in_body(&json!({"message": "upstream", "code": 502}));
        assert_eq!(tell(&upstream), LlmError::Provider("`p` answered with status 502: upstream".into()));
        let other = Failure::in_body(&json!({"error": "no memory"}));
        assert_eq!((other.again, tell(&other)), (Again::Never, LlmError::Provider("`p`: no memory".into())));
    }

    #[test]
    fn the_words_of_both_apis_and_of_others_are_found() {
        assert_eq!(said(r#"{"type":"error","error":{"type":"x","message":"words"}}"#), "words");
        assert_eq!(said(r#"{"error":"words"}"#), "words");
        assert_eq!(said(r#"{"message":"words"}"#), "words");
        assert_eq!(said(r#"{"detail":"words"}"#), r#"{"detail":"words"}"#);
        assert_eq!(said(" words\n"), "words");
        assert_eq!(said(""), "it said nothing more");
    }

    #[test]
    fn a_key_is_blacked_out_before_the_text_is_cut() {
        let LlmError::Provider(text) = tell(&Failure::lasting(format!("{}sk-secret", "x".repeat(LONGEST - 4)))) else {
            panic!("expected a provider error")
        };
        assert!(!text.contains("sk-") && text.contains("[key"), "{text}");
    }

    proptest! {
        #[test]
        fn no_text_is_cut_inside_a_character_or_grows_without_bounds(text in "\\PC{0,700}") {
            let cut = cut(&text);
            prop_assert!(cut.chars().count() <= LONGEST + 30);
            prop_assert!(text.chars().count() > LONGEST || cut == text);
        }

        #[test]
        fn any_body_says_something(body in "(?s).{0,80}") {
            prop_assert!(!said(&body).is_empty());
        }
    }
}
