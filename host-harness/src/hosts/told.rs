//! What the watchers have been told of a session, and what there is to tell them now.
//!
//! Two sources tell of a session: events, which come at once, and the transcript, which is written beside them and may
//! be late. So some things are told from an event before the transcript has them: the prompt, calls and results of tools,
//! and the last words. They are remembered, and not told a second time when the transcript has them. Last words become
//! an entry of the branch at once; the transcript's own entry takes over its id, so that what a plugin remembers at it
//! stays where it is.

mod likeness;

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use chaperone_contract::{
    AssistantMessage, Branch, Content, CustomMessage, Entry, EntryBody, EntryId, Event, ModelId, SettledReason,
    StartReason, StopReason, Timestamp,
};
use serde::{Deserialize, Serialize};

use super::event::{LastWords, Moment};
use crate::session::{BranchEntry, Step, TimedStep, steps};
use likeness::{ends_run, find, is_answer_like, is_work, says, text_of, without_known};

/// More calls than this are not remembered: they are long over.
const MAX_CALLS: usize = 256;

/// More of a prompt is not remembered, in characters.
const MAX_PROMPT: usize = 100_000;

/// More texts than this are not told apart from the user's.
const MAX_SENT: usize = 64;

/// The kind of message that a text becomes which the agent was sent back with.
pub const FEEDBACK: &str = "hook-feedback";

/// What the watchers have been told. The default is nothing.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Told {
    /// That the session began.
    started: bool,
    /// The newest entry.
    newest: Option<Mark>,
    /// Entries that the transcript did not have yet, oldest first.
    early: Vec<Early>,
    /// The ids under which such entries were told, by the transcript's own.
    renamed: BTreeMap<EntryId, EntryId>,
    /// Prompts that the transcript did not have yet, oldest first.
    prompts: Vec<String>,
    /// The ids of calls that the transcript did not have yet.
    calls: BTreeSet<String>,
    /// The ids of calls whose results the transcript did not have yet.
    results: BTreeSet<String>,
    /// Hashes of what the agent was sent back with. Some hosts write it down as if the user had said it.
    sent: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Mark {
    entry: EntryId,
    at: Timestamp,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Early {
    entry: Arc<Entry>,
    /// The entry that it follows.
    after: Option<EntryId>,
}

/// What there is to tell.
#[derive(Debug)]
pub struct News {
    /// What the watchers know of the branch.
    pub known: Branch,
    /// The model that the agent ran on up to there.
    pub model: Option<ModelId>,
    /// The session begins for them.
    pub start: Option<StartReason>,
    /// The branch is another one than they knew.
    pub moved: bool,
    /// What has happened since.
    pub steps: Vec<TimedStep>,
    /// How the agent comes to rest, unless it is sent back.
    pub settles: Option<SettledReason>,
}

impl Told {
    /// What there is to tell when this happens, which counts as told from now on.
    pub fn news(&mut self, transcript: Vec<BranchEntry>, moment: &Moment, now: Timestamp) -> News {
        let mut line = self.line(transcript);
        let (mut from, moved) = self.place(&line, moment);
        match moment {
            Moment::Stop { words, .. } => self.hear(&mut line, from, words, now),
            Moment::Failed(error) => self.hear_failure(&mut line, from, error, now),
            _ => {}
        }
        let to = line.len() - usize::from(is_still_written(&line[from..], moment));
        from = from.min(to);
        let start = (!self.started).then_some(match moment {
            Moment::SessionStart(reason) => *reason,
            _ if from == 0 => StartReason::New,
            _ => StartReason::Resume,
        });
        self.started = true;
        let mut steps = self.new_steps(&line[..to], from);
        let settles = match (moment, steps.last().map(|step| &step.step)) {
            (Moment::Stop { .. }, Some(Step::Event(Event::AgentSettled { reason }))) => {
                let reason = *reason;
                steps.pop();
                Some(reason)
            }
            _ => None,
        };
        if let Some(newest) = line[..to].last() {
            self.newest = Some(Mark { entry: newest.entry.id.clone(), at: newest.entry.timestamp });
        }
        let model = line[..from].iter().rev().find_map(|entry| model_of(&entry.entry));
        let known = line[..from].iter().map(|entry| entry.entry.clone()).collect();
        // A fork from an earlier place goes on from there.
        News { known, model, start, moved: moved && start.is_none(), steps, settles }
    }

    /// What the watchers of a fork have been told. What its parent's transcript did not have yet, the fork's may never
    /// have.
    pub fn forked(self) -> Self {
        let Self { newest, early, renamed, sent, .. } = self;
        Self { newest, early, renamed, sent, ..Self::default() }
    }

    /// A prompt is told from its event.
    pub fn tell_prompt(&mut self, text: &str) {
        // One that never comes into the transcript, since another hook kept it out, must not hide more than one other.
        if self.prompts.len() > 1 {
            self.prompts.remove(0);
        }
        self.prompts.push(text.chars().take(MAX_PROMPT).collect());
    }

    /// Whether a call is to be told from its event; it counts as told from now on.
    pub fn tell_call(&mut self, id: &str) -> bool {
        self.calls.len() < MAX_CALLS && self.calls.insert(id.to_owned())
    }

    /// Whether a call's result is to be told from its event; it counts as told from now on.
    pub fn tell_result(&mut self, id: &str) -> bool {
        self.results.len() < MAX_CALLS && self.results.insert(id.to_owned())
    }

    /// The agent is sent back with this text.
    pub fn send_back(&mut self, text: &str) {
        if self.sent.len() == MAX_SENT {
            self.sent.remove(0);
        }
        self.sent.push(short_hash(text));
    }

    /// Whether a prompt is not the user's, but what the agent was sent back with.
    pub fn was_sent_back_with(&self, text: &str) -> bool {
        self.sent.contains(&short_hash(text))
    }

    /// The branch as the watchers know it: with the entries that the transcript does not have yet.
    fn line(&mut self, transcript: Vec<BranchEntry>) -> Vec<BranchEntry> {
        let mut line = transcript;
        if !self.sent.is_empty() {
            line.iter_mut().for_each(|entry| self.recognise(entry));
        }
        if !self.renamed.is_empty() {
            for entry in &mut line {
                if let Some(id) = self.renamed.get(&entry.entry.id) {
                    rename(entry, id.clone());
                }
            }
        }
        for early in std::mem::take(&mut self.early) {
            let after = match &early.after {
                None => 0,
                Some(id) => match line.iter().rposition(|entry| entry.entry.id == *id) {
                    Some(at) => at + 1,
                    // The user went back to before it.
                    None => continue,
                },
            };
            match find(&line[after..], &early.entry) {
                Some(found) => {
                    let entry = &mut line[after + found];
                    self.renamed.insert(entry.entry.id.clone(), early.entry.id.clone());
                    rename(entry, early.entry.id.clone());
                }
                None => {
                    // Results that were late as well come before what followed them.
                    let results = line[after..].iter().take_while(|entry| is_work(&entry.entry)).count();
                    line.insert(after + results, BranchEntry { entry: early.entry.clone(), model: None });
                    self.early.push(early);
                }
            }
        }
        line
    }

    fn recognise(&self, entry: &mut BranchEntry) {
        if !matches!(entry.entry.body, EntryBody::User(_)) {
            return;
        }
        let content = text_of(&entry.entry);
        if self.was_sent_back_with(&content) {
            let message = CustomMessage { custom_type: FEEDBACK.into(), content, display: true, details: None };
            let Entry { id, timestamp, .. } = Entry::clone(&entry.entry);
            entry.entry = Arc::new(Entry { id, timestamp, body: EntryBody::Custom(message) });
        }
    }

    /// Where on the branch the news begin, and whether the branch is another one than before.
    fn place(&self, line: &[BranchEntry], moment: &Moment) -> (usize, bool) {
        let Some(newest) = &self.newest else { return (first_place(line, self.prompts.len(), moment), false) };
        match line.iter().rposition(|entry| entry.entry.id == newest.entry) {
            Some(at) => (at + 1, false),
            // The user went back: what is older than what was told, was told.
            None => {
                let later = line.iter().rev().take_while(|entry| entry.entry.timestamp > newest.at).count();
                (line.len() - later, true)
            }
        }
    }

    /// Puts the agent's last words on the branch, if they are not there.
    fn hear(&mut self, line: &mut Vec<BranchEntry>, from: usize, words: &LastWords, now: Timestamp) {
        let text = match words {
            LastWords::Unknown => return,
            LastWords::Last(text) => text.as_str(),
            LastWords::Joined(text) => without_known(text, line),
        };
        let is_said = |entry: &BranchEntry| is_answer_like(&entry.entry, text);
        let fresh = &line[from..];
        let newest_answer = fresh.iter().rev().find(|entry| matches!(entry.entry.body, EntryBody::Assistant(_)));
        // The same event again, or a second hook for it: nobody has spoken since.
        let is_voice =
            |entry: &&BranchEntry| !matches!(entry.entry.body, EntryBody::Compaction(_) | EntryBody::Other(_));
        let is_again =
            !fresh.iter().any(|entry| is_voice(&entry)) && line.iter().rev().find(is_voice).is_some_and(is_said);
        if text.trim().is_empty() || newest_answer.is_some_and(is_said) || is_again {
            return;
        }
        self.hear_prompt(line, from, now);
        let content = vec![Content::Text(text.trim().to_owned())];
        self.add_answer(line, content, StopReason::Stop, None, now);
    }

    /// Puts the prompt that the agent answers on the branch, if it is not there.
    fn hear_prompt(&mut self, line: &mut Vec<BranchEntry>, from: usize, now: Timestamp) {
        let there = line[from..].iter().filter(|entry| matches!(entry.entry.body, EntryBody::User(_))).count();
        if let Some(prompt) = self.prompts.get(there..).and_then(<[String]>::last) {
            let content = vec![Content::Text(prompt.clone())];
            self.add(line, EntryBody::User(content), now);
        }
    }

    /// Puts the provider's failure on the branch, if it is not there.
    fn hear_failure(&mut self, line: &mut Vec<BranchEntry>, from: usize, error: &str, now: Timestamp) {
        let failed = |entry: &BranchEntry| match &entry.entry.body {
            EntryBody::Assistant(message) => message.stop_reason == StopReason::Error,
            _ => false,
        };
        let is_told = line[from..].is_empty() && line.last().is_some_and(failed);
        if !is_told && !line[from..].iter().any(failed) {
            self.hear_prompt(line, from, now);
            self.add_answer(line, Vec::new(), StopReason::Error, Some(error.to_owned()), now);
        }
    }

    fn add_answer(
        &mut self,
        line: &mut Vec<BranchEntry>,
        content: Vec<Content>,
        stop_reason: StopReason,
        error: Option<String>,
        now: Timestamp,
    ) {
        let message = AssistantMessage { content, stop_reason, usage: None, model: None, error };
        self.add(line, EntryBody::Assistant(message), now);
    }

    fn add(&mut self, line: &mut Vec<BranchEntry>, body: EntryBody, now: Timestamp) {
        let after = line.last().map(|entry| entry.entry.id.clone());
        let mut hasher = blake3::Hasher::new();
        hasher.update(after.as_deref().unwrap_or_default().as_bytes());
        hasher.update(serde_json::json!(body).to_string().as_bytes());
        let id = format!("early-{}", &hasher.finalize().to_hex()[..16]);
        let timestamp = line.last().map_or(now, |entry| entry.entry.timestamp.max(now));
        let entry = Arc::new(Entry { id, timestamp, body });
        line.push(BranchEntry { entry: entry.clone(), model: None });
        self.early.push(Early { entry, after });
    }

    /// The steps that the entries from `from` on tell of, but for those that were told from events.
    fn new_steps(&mut self, line: &[BranchEntry], from: usize) -> Vec<TimedStep> {
        let Some(first) = line.get(from) else { return Vec::new() };
        let of_news = steps(&line[rest_before(line, from)..])
            .into_iter()
            .skip_while(|step| step.entry.as_ref() != Some(&first.entry.id))
            .filter(|step| self.is_new(&step.step));
        of_news.collect()
    }

    fn is_new(&mut self, step: &Step) -> bool {
        match step {
            Step::Event(Event::SessionStart { .. } | Event::SessionEnd) => false,
            Step::Event(Event::Input { .. }) if !self.prompts.is_empty() => {
                self.prompts.remove(0);
                false
            }
            Step::Event(Event::ToolStart { call }) => !self.calls.remove(&call.id),
            Step::Event(Event::ToolEnd { outcome }) => !self.results.remove(&outcome.call_id),
            _ => true,
        }
    }
}

/// Where the news begin in a session of which no entry was told so far: with the first of the prompts that were told from
/// their events; else with the user's latest message, or, where the agent has not answered it yet, not at all.
fn first_place(line: &[BranchEntry], prompts: usize, moment: &Moment) -> usize {
    let is_prompt = |entry: &BranchEntry| matches!(entry.entry.body, EntryBody::User(_));
    let latest_prompt = line.iter().rposition(is_prompt);
    if prompts > 0 {
        let places = (0..line.len()).rev().filter(|&at| is_prompt(&line[at]));
        return places.take(prompts).last().unwrap_or(line.len());
    }
    match moment {
        Moment::Prompt(prompt) => match latest_prompt {
            Some(at) if at + 1 == line.len() && says(&line[at].entry, prompt) => at,
            _ => line.len(),
        },
        Moment::SessionStart(_) | Moment::SessionEnd | Moment::Other => line.len(),
        Moment::BeforeTool(_) | Moment::AfterTool(_) | Moment::Stop { .. } | Moment::Failed(_) => {
            latest_prompt.unwrap_or(0)
        }
    }
}

/// Whether the newest entry is an answer of which more parts may come. That a tool of it has run, that the agent is about
/// to stop, or that it was stopped, shows that there are none. A prompt does not: it may be sent while the agent works.
fn is_still_written(news: &[BranchEntry], moment: &Moment) -> bool {
    let Some(EntryBody::Assistant(message)) = news.last().map(|entry| &entry.entry.body) else { return false };
    if matches!(message.stop_reason, StopReason::Aborted | StopReason::Error) {
        return false;
    }
    match moment {
        Moment::Prompt(_) | Moment::BeforeTool(_) | Moment::Other => true,
        Moment::AfterTool(result) => {
            !message.content.iter().any(|part| matches!(part, Content::ToolCall(call) if call.id == result.call_id))
        }
        Moment::SessionStart(_) | Moment::Stop { .. } | Moment::Failed(_) | Moment::SessionEnd => false,
    }
}

/// The last place at or before `at` where the agent was at rest for certain, so that a telling can begin there.
fn rest_before(line: &[BranchEntry], at: usize) -> usize {
    let is_rest = |&place: &usize| {
        matches!(line[place].entry.body, EntryBody::User(_))
            && place.checked_sub(1).is_none_or(|before| ends_run(&line[before].entry))
    };
    (0..=at).rev().find(is_rest).unwrap_or(0)
}

fn short_hash(text: &str) -> String {
    blake3::hash(text.trim().as_bytes()).to_hex()[..16].to_owned()
}

fn rename(entry: &mut BranchEntry, id: EntryId) {
    let named = Entry { id, ..Entry::clone(&entry.entry) };
    entry.entry = Arc::new(named);
}

fn model_of(entry: &Entry) -> Option<ModelId> {
    match &entry.body {
        EntryBody::Assistant(message) => message.model.clone(),
        _ => None,
    }
}
