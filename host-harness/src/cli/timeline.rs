//! The output for people: what the agent did, and what its watchers made of it.

use std::io::{self, Write};

use chaperone_contract::*;

use super::{diff, style};
use crate::drive::{HookRun, Note};
use crate::files::Change;
use crate::session::{Step, TimedStep};
use crate::transaction::Committed;

/// Where the text of a timeline begins, behind time and speaker.
const INDENT: &str = "                 ";

/// How wide texts are, in columns.
const WIDTH: usize = 100;

/// How much of a tool call is shown, in characters.
const CALL: usize = 2 * WIDTH;

/// The most lines of one message that are shown.
const LINES: usize = 10;

/// Prints a timeline.
pub struct Timeline {
    /// Whether files are written; else their changes are shown as diffs.
    writes: bool,
    /// Whether questions to models are shown, in full.
    pub shows_questions: bool,
}

impl Timeline {
    pub fn new(writes: bool) -> Self {
        Self { writes, shows_questions: false }
    }

    pub fn session(&mut self, out: &mut dyn Write, title: &str, subtitle: &str) -> io::Result<()> {
        let (heading, muted, reset) = (style::HEADING, style::MUTED, style::RESET);
        let (title, subtitle) = (style::plain(title), style::plain(subtitle));
        writeln!(out, "\n{heading}{title}{reset}  {muted}{subtitle}{reset}\n")
    }

    pub fn command(&mut self, out: &mut dyn Write, line: &str) -> io::Result<()> {
        writeln!(out, "          {}command{} /{}", style::USER, style::RESET, style::plain(line))
    }

    /// Shows what a step adds to the conversation.
    pub fn step(&mut self, out: &mut dyn Write, step: &TimedStep) -> io::Result<()> {
        let Step::Append(entry) = &step.step else { return Ok(()) };
        let time = clock(entry.timestamp);
        match &entry.body {
            EntryBody::User(content) => said(out, &time, style::USER, "user", &text_of(content)),
            EntryBody::Assistant(message) => {
                let text = text_of(&message.content);
                if !text.is_empty() {
                    said(out, &time, style::AGENT, "agent", &text)?;
                }
                for part in &message.content {
                    if let Content::ToolCall(call) = part {
                        let call = format!("{} {}", call.name, brief(&call.arguments));
                        said(out, &time, style::MUTED, "calls", &cut(call))?;
                    }
                }
                match message.stop_reason {
                    StopReason::Aborted => said(out, &time, style::WARNING, "halted", "by the user"),
                    StopReason::Error => {
                        said(out, &time, style::ERROR, "failed", message.error.as_deref().unwrap_or("no reason given"))
                    }
                    StopReason::Length => said(out, &time, style::WARNING, "cut", "at the output limit"),
                    StopReason::Stop | StopReason::ToolUse => Ok(()),
                }
            }
            EntryBody::ToolResult(result) if result.is_error => {
                let text = text_of(&result.content);
                let last = text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default();
                said(out, &time, style::ERROR, "error", &format!("{}: {last}", result.tool_name))
            }
            EntryBody::Custom(message) => {
                said(out, &time, style::STEER, "told", &format!("[{}] {}", message.custom_type, message.content))
            }
            EntryBody::Compaction(_) => said(out, &time, style::MUTED, "folded", "what is older, into a summary"),
            EntryBody::ToolResult(_) | EntryBody::Other(_) => Ok(()),
        }
    }

    pub fn hook(&mut self, out: &mut dyn Write, run: &HookRun<'_>) -> io::Result<()> {
        match run.result {
            Ok(Committed { reply, effects }) => {
                if let (Reply::Gate(Gate::Refuse(reason)), Event::ToolStart { call }) = (reply, run.event) {
                    let call_id = call.id.clone();
                    self.effect(out, run.plugin, &Effect::Release { call_id, refusal: Some(reason.clone()) })?;
                }
                let mut told = effects.iter().filter(|effect| !is_told_twice(effect, effects));
                told.try_for_each(|effect| self.effect(out, run.plugin, effect))?;
                untold_notices(effects).try_for_each(|notice| shown(out, notice))
            }
            Err(failure) => {
                let text = format!("{} failed in {}: {failure}", run.plugin, run.event.name());
                note(out, style::ERROR, "!", &text)
            }
        }
    }

    fn effect(&mut self, out: &mut dyn Write, plugin: &str, effect: &Effect) -> io::Result<()> {
        match effect {
            Effect::Judged(Judgement { watcher, verdict, description, .. }) => {
                let word = verdict.name().to_uppercase();
                let text = match description {
                    Some(description) => format!("{watcher}: {word}  {description}"),
                    None => format!("{watcher}: {word}"),
                };
                let sign = if *verdict == Verdict::Clean { "✓" } else { "⚑" };
                note(out, style::verdict(*verdict), sign, &text)
            }
            Effect::Spared(Sparing { watcher, reason, .. }) => {
                note(out, style::MUTED, "○", &format!("{watcher}: not asked  {reason}"))
            }
            Effect::Inject(message) => note(out, style::STEER, "➤", &format!("to the agent: {}", message.content)),
            Effect::Found(finding) => note(out, style::WARNING, "✎", &format!("{} in {}", finding.id, finding.file)),
            Effect::Notify { text, tone } => note(out, style::tone(*tone), "·", text),
            Effect::Ask { prompt, .. } => {
                let question = match prompt {
                    Prompt::Confirm((title, body)) => format!(
                        "{title}
{body}"
                    ),
                    Prompt::Select((title, _)) | Prompt::Input((title, _)) | Prompt::Settings((title, _)) => {
                        title.clone()
                    }
                };
                note(out, style::MUTED, "?", &format!("would ask: {question}"))
            }
            Effect::Abort => note(out, style::ERROR, "■", "stops the agent"),
            // A recorded call has run long ago.
            Effect::Release { call_id, refusal: Some(reason) } => {
                let text = format!("would have refused the tool call {call_id}, which has run:");
                note(out, style::ERROR, "■", &format!("{text}\n{reason}"))
            }
            Effect::Release { refusal: None, .. } => Ok(()),
            Effect::Complete(call) if self.shows_questions => question(out, &call.request),
            Effect::Log { level: Level::Warn | Level::Error, message } => {
                note(out, style::WARNING, "!", &format!("{plugin}: {message}"))
            }
            // Notices have been told, or are told behind the rest; the others are bookkeeping.
            Effect::Show(_)
            | Effect::Complete(_)
            | Effect::Cancel { .. }
            | Effect::SetStatus { .. }
            | Effect::SetWidget { .. }
            | Effect::Refresh { .. }
            | Effect::Write { .. }
            | Effect::Patch { .. }
            | Effect::Set { .. }
            | Effect::Arm { .. }
            | Effect::Disarm { .. }
            | Effect::Decided(_)
            | Effect::Log { .. } => Ok(()),
        }
    }

    pub fn changed(&mut self, out: &mut dyn Write, change: &Change) -> io::Result<()> {
        let location = format!("{}:{}", change.location.mount, change.location.path);
        if self.writes {
            return note(out, style::MUTED, "✎", &format!("wrote {location}"));
        }
        note(out, style::MUTED, "✎", &format!("would write {location}"))?;
        diff::write(out, change, &format!("{INDENT}  "))
    }

    pub fn note(&mut self, out: &mut dyn Write, plugin: &str, happened: &Note) -> io::Result<()> {
        match happened {
            Note::Denied { effect } => {
                let text = format!("{plugin} is not granted `{effect}`; it was not carried out");
                note(out, style::WARNING, "!", &text)
            }
            Note::Quarantined { failures } => {
                let text = format!("{plugin} failed {failures} times in a row and is set aside");
                note(out, style::ERROR, "!", &text)
            }
            Note::RanAway { hooks } => {
                let text = format!("{plugin} answered its own answers {hooks} times for one event and is set aside");
                note(out, style::ERROR, "!", &text)
            }
            // The effect that decided has been shown.
            Note::Answered { .. } | Note::Decided { .. } => Ok(()),
        }
    }
}

/// Whether another effect of the hook says the same: a note to the user what stands in the log, a judgement that did not
/// come about why.
fn is_told_twice(effect: &Effect, all: &[Effect]) -> bool {
    match effect {
        Effect::Log { message, .. } => {
            all.iter().any(|it| matches!(it, Effect::Notify { text, .. } if text == message))
        }
        Effect::Notify { text, .. } => all.iter().any(|it| {
            let Effect::Judged(Judgement { verdict: Verdict::Unknown, description: Some(reason), .. }) = it else {
                return false;
            };
            text.ends_with(reason)
        }),
        _ => false,
    }
}

/// The blocks of a hook that tell of something that nothing else of it tells: a verdict's block says what the verdict
/// said.
fn untold_notices(effects: &[Effect]) -> impl Iterator<Item = &Notice> {
    let is_told = effects.iter().any(|effect| matches!(effect, Effect::Judged(_) | Effect::Notify { .. }));
    effects.iter().filter_map(move |effect| match effect {
        Effect::Show(notice) if !is_told => Some(notice),
        _ => None,
    })
}

/// What is always shown of a block.
fn shown(out: &mut dyn Write, notice: &Notice) -> io::Result<()> {
    let title: String = notice.title.iter().map(|span| span.text.as_str()).collect();
    let tone = notice.title.last().map_or(Tone::Normal, |span| span.tone);
    note(out, style::tone(tone), "·", &title)
}

fn said(out: &mut dyn Write, time: &str, style: anstyle::Style, who: &str, text: &str) -> io::Result<()> {
    let lines = wrapped(text);
    let (muted, reset) = (style::MUTED, style::RESET);
    let first = lines.first().map_or("", |line| line);
    writeln!(out, "{muted}{time}{reset}  {style}{who:<7}{reset}{first}")?;
    for line in lines.iter().take(LINES).skip(1) {
        writeln!(out, "{INDENT}{line}")?;
    }
    match lines.len().saturating_sub(LINES) {
        0 => Ok(()),
        more => writeln!(out, "{INDENT}{muted}… {more} more lines{reset}"),
    }
}

/// A question to a model, word for word.
fn question(out: &mut dyn Write, request: &CompletionRequest) -> io::Result<()> {
    let (muted, reset) = (style::MUTED, style::RESET);
    let system = request.system.iter().map(|text| ("system", text));
    let messages = request.messages.iter().map(|message| match message.role {
        Role::User => ("user", &message.text),
        Role::Assistant => ("assistant", &message.text),
    });
    for (part, text) in system.chain(messages) {
        writeln!(out, "{INDENT}{muted}? {} is asked, {part}:{reset}", style::plain(&request.label))?;
        for line in style::plain(text).lines() {
            writeln!(out, "{INDENT}{muted}│{reset} {line}")?;
        }
    }
    Ok(())
}

fn note(out: &mut dyn Write, style: anstyle::Style, sign: &str, text: &str) -> io::Result<()> {
    for (index, line) in wrapped(text).iter().enumerate() {
        let sign = if index == 0 { sign } else { " " };
        writeln!(out, "{INDENT}{style}{sign} {line}{}", style::RESET)?;
    }
    Ok(())
}

/// The lines of a text that are not blank, none of them wider than the timeline.
fn wrapped(text: &str) -> Vec<String> {
    let visible = style::plain(text).replace('\t', " ");
    let lines = visible.lines().filter(|line| !line.trim().is_empty());
    lines.flat_map(|line| textwrap::wrap(line, WIDTH)).map(|line| line.into_owned()).collect()
}

fn text_of(content: &[Content]) -> String {
    let texts = content.iter().filter_map(|part| match part {
        Content::Text(text) => Some(text.as_str()),
        _ => None,
    });
    texts.collect::<Vec<_>>().join("\n")
}

/// The arguments of a tool call as a person would say them: the one that matters, or all.
fn brief(arguments: &str) -> String {
    let Ok(serde_json::Value::Object(arguments)) = serde_json::from_str(arguments) else { return arguments.into() };
    ["command", "path", "file_path", "pattern", "url"]
        .iter()
        .find_map(|key| arguments.get(*key)?.as_str())
        .map_or_else(|| serde_json::Value::Object(arguments.clone()).to_string(), |value| value.replace('\n', " ⏎ "))
}

/// A tool call may hold a whole file; here its beginning is enough.
fn cut(mut call: String) -> String {
    if let Some((end, _)) = call.char_indices().nth(CALL) {
        call.truncate(end);
        call.push('…');
    }
    call
}

fn clock(timestamp: Timestamp) -> String {
    let time =
        i64::try_from(timestamp).ok().and_then(|milliseconds| jiff::Timestamp::from_millisecond(milliseconds).ok());
    time.map_or_else(|| "--:--:--".into(), |time| time.strftime("%H:%M:%S").to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_would_obey_is_made_visible() {
        assert_eq!(wrapped("red: \u{1b}[31m\u{7}\rover\n\n tail\t."), ["red: ␛[31m␇␍over", " tail ."]);
    }

    #[test]
    fn long_lines_are_wrapped_between_words() {
        let lines = wrapped(&"word ".repeat(30));
        assert_eq!(lines.len(), 2);
        assert!(lines.iter().all(|line| line.ends_with("word")), "{lines:?}");
    }

    #[test]
    fn a_block_is_told_only_where_nothing_else_tells_of_it() {
        let notice = Notice { custom_type: "x".into(), title: Vec::new(), details: Vec::new(), data: None };
        let notify = Effect::Notify { text: "a".into(), tone: Tone::Normal };
        assert_eq!(untold_notices(&[Effect::Show(notice.clone())]).collect::<Vec<_>>(), [&notice]);
        assert_eq!(untold_notices(&[notify, Effect::Show(notice)]).count(), 0);
    }

    #[test]
    fn what_is_noted_and_logged_or_judged_and_noted_is_told_once() {
        let notify = |text: &str| Effect::Notify { text: text.into(), tone: Tone::Error };
        let log = |text: &str| Effect::Log { level: Level::Error, message: text.into() };
        let judged = |verdict| {
            let (watcher, description) = ("hedge".into(), Some("timed out".into()));
            Effect::Judged(Judgement { watcher, verdict, description, request: Some(1), entry: None })
        };
        let kept = |effects: &[Effect]| effects.iter().filter(|effect| !is_told_twice(effect, effects)).count();
        assert_eq!(kept(&[log("not recorded"), notify("not recorded")]), 1);
        assert_eq!(kept(&[log("not recorded"), notify("not learned")]), 2);
        assert_eq!(kept(&[judged(Verdict::Unknown), notify("[hedge] No verdict: timed out")]), 1);
        assert_eq!(kept(&[judged(Verdict::Flag), notify("[hedge] FLAG: timed out")]), 2);
    }

    #[test]
    fn a_long_call_is_cut_between_characters() {
        assert_eq!(cut("é".repeat(500)).chars().count(), CALL + 1);
        assert_eq!(cut("ls".into()), "ls");
    }
}
