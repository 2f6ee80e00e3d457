//! What a run comes to, in figures: those of all watchers together, and of each.

mod text;
mod watchers;

use std::time::Duration;

use chaperone_contract::{Effect, Gate, Reply, Usage, Verdict};
use serde::Serialize;

use crate::drive::{HookRun, Note};

pub use text::print;
pub use watchers::Watchers;

/// The figures of a run, as the last line of the JSON output has them.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Summary {
    /// Hooks that ran.
    pub hooks: u64,
    /// Model calls that were answered, one way or the other.
    pub llm_calls: u64,
    /// Model calls that were saved: rules have decided, or there was nothing to judge.
    pub saved: u64,
    /// Verdicts by kind.
    pub verdicts: Verdicts,
    /// Messages put before the agent.
    pub steers: u64,
    /// Tool calls that were refused, or would have been.
    pub refusals: u64,
    /// Findings that stand in a file.
    pub findings: u64,
    /// What the calls cost.
    pub tokens: Tokens,
    /// The time that all hooks took together, in microseconds.
    pub hook_micros: u64,
    /// What each watcher did.
    pub watchers: Watchers,
    /// Model calls without an answer; not part of the output.
    #[serde(skip)]
    pub failed_calls: u64,
    /// Hooks that failed; not part of the output.
    #[serde(skip)]
    pub failures: u64,
}

/// Verdicts by kind.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Verdicts {
    pub clean: u64,
    pub flag: u64,
    pub new: u64,
    pub unknown: u64,
}

/// Tokens in and out.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Tokens {
    pub input: u64,
    pub output: u64,
}

impl Summary {
    pub fn hook(&mut self, run: &HookRun<'_>) {
        self.hooks += 1;
        self.hook_micros += micros(run.took);
        let Ok(committed) = run.result else {
            self.failures += 1;
            return;
        };
        self.watchers.hook(run.plugin, committed);
        self.refusals += u64::from(matches!(committed.reply, Reply::Gate(Gate::Refuse(_))));
        for effect in &committed.effects {
            match effect {
                Effect::Judged(judgement) => {
                    *self.verdicts.of(judgement.verdict) += 1;
                    self.saved += u64::from(watchers::is_settled(judgement));
                }
                Effect::Spared(_) => self.saved += 1,
                Effect::Release { refusal: Some(_), .. } => self.refusals += 1,
                Effect::Inject(_) => self.steers += 1,
                Effect::Found(_) => self.findings += 1,
                _ => {}
            }
        }
    }

    pub fn note(&mut self, plugin: &str, note: &Note) {
        self.watchers.note(plugin, note);
        match note {
            Note::Answered { usage, ok, .. } => {
                self.llm_calls += 1;
                self.failed_calls += u64::from(!ok);
                self.tokens.add(usage.as_ref());
            }
            Note::Denied { .. } | Note::Quarantined { .. } | Note::RanAway { .. } | Note::Decided { .. } => {}
        }
    }
}

impl Summary {
    /// Whether models were asked and not one of them answered: then nothing was judged.
    pub fn is_unanswered(&self) -> bool {
        self.llm_calls > 0 && self.failed_calls == self.llm_calls
    }
}

impl Verdicts {
    fn of(&mut self, verdict: Verdict) -> &mut u64 {
        match verdict {
            Verdict::Clean => &mut self.clean,
            Verdict::Flag => &mut self.flag,
            Verdict::New => &mut self.new,
            Verdict::Unknown => &mut self.unknown,
        }
    }
}

impl Tokens {
    /// What the provider told of a call; it may tell nothing.
    fn add(&mut self, usage: Option<&Usage>) {
        if let Some(Usage { input, output, .. }) = usage {
            self.input += input;
            self.output += output;
        }
    }
}

fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}
