//! From what came of the trials to the figures of the report. Pure.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use serde::Serialize;

use super::statistics::{Latency, Matrix, latency, share, wilson};
use super::trial::Trial;
use crate::cases::{Case, Expect, Said};

/// A case, and what came of each of its trials.
pub struct Tried<'c> {
    pub case: &'c Case,
    pub trials: Vec<Trial>,
}

/// All figures; the JSON output has them under these names. What has no cases to rest on is null.
#[derive(Debug, PartialEq, Serialize)]
pub struct Report {
    /// The plugin that was measured.
    pub plugin: String,
    /// Who judged: a provider, and its model where one was named.
    pub judge: String,
    /// How often each case was tried.
    pub repeat: u32,
    #[serde(flatten)]
    pub score: Score,
    /// By what the cases are about.
    pub rules: BTreeMap<String, Score>,
    /// By whose judgement was meant.
    pub watchers: BTreeMap<String, Score>,
    /// By the language of the conversation.
    pub languages: BTreeMap<String, Score>,
    pub cost: Cost,
    /// Of the calls that were answered.
    pub latency: Option<Latency>,
    pub results: Vec<CaseResult>,
}

/// How well some of the cases were judged.
#[derive(Debug, Default, PartialEq, Serialize)]
pub struct Score {
    pub cases: u64,
    pub matrix: Matrix,
    pub accuracy: Option<f64>,
    /// The 95 % interval of the accuracy. A case counts once, however often it was tried: trials of one case say little
    /// about other cases.
    pub interval: Option<[f64; 2]>,
    pub precision: Option<f64>,
    pub recall: Option<f64>,
    /// Trials in which the agent would have been steered, and nothing was wrong.
    pub false_steers: u64,
    /// Their share of the trials in which nothing was wrong.
    pub false_steer_rate: Option<f64>,
}

/// What the judging cost.
#[derive(Debug, Default, PartialEq, Serialize)]
pub struct Cost {
    pub calls: u64,
    /// Calls without an answer.
    pub failed_calls: u64,
    /// Judgements that needed no call.
    pub saved_calls: u64,
    /// Tokens read, those of the provider's cache left out.
    pub input: u64,
    pub output: u64,
    pub cache_read: u64,
    pub cache_write: u64,
}

/// A case, and how it was judged.
#[derive(Debug, PartialEq, Serialize)]
pub struct CaseResult {
    /// `RULE/NAME`
    pub case: String,
    /// File and line.
    pub place: String,
    pub watcher: String,
    pub language: String,
    pub expect: Expect,
    pub why: String,
    pub trials: Vec<TrialResult>,
}

#[derive(Debug, PartialEq, Serialize)]
pub struct TrialResult {
    pub said: Said,
    pub right: bool,
    pub reason: Option<String>,
    pub steered: bool,
    pub calls: u64,
    /// How long its calls took together, in milliseconds.
    pub took_ms: f64,
    /// Hooks that failed, and why.
    pub failures: Vec<String>,
}

/// Why figures say nothing of the watcher, with what the first judgement failed of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Void {
    /// Models were asked, and not one of them answered.
    Unanswered { cause: Option<String> },
    /// Not one judgement came about.
    Unjudged { cause: Option<String> },
}

impl fmt::Display for Void {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (what, cause) = match self {
            Self::Unanswered { cause } => ("no model call was answered, so nothing was judged", cause),
            Self::Unjudged { cause } => ("no judgement came about", cause),
        };
        match (cause, self) {
            (Some(cause), _) => write!(f, "{what}: {cause}"),
            (None, Self::Unjudged { .. }) => write!(f, "{what}: in no case the watcher saw a reason to look"),
            (None, Self::Unanswered { .. }) => f.write_str(what),
        }
    }
}

impl Report {
    pub fn new(plugin: String, judge: String, repeat: u32, tried: &[Tried<'_>]) -> Self {
        let by = |key: fn(&Case) -> &String| {
            let mut groups: BTreeMap<&String, Vec<&Tried<'_>>> = BTreeMap::new();
            for one in tried {
                groups.entry(key(one.case)).or_default().push(one);
            }
            groups.into_iter().map(|(name, group)| (name.clone(), Score::of(group))).collect()
        };
        let trials = || tried.iter().flat_map(|one| &one.trials);
        let took = trials().flat_map(|trial| &trial.calls).filter(|call| call.ok).map(|call| call.took);
        Self {
            plugin,
            judge,
            repeat,
            score: Score::of(tried),
            rules: by(|case| &case.rule),
            watchers: by(|case| &case.watcher),
            languages: by(|case| &case.language),
            cost: Cost::of(trials()),
            latency: latency(took.collect()),
            results: tried.iter().map(CaseResult::of).collect(),
        }
    }

    /// Why the figures say nothing of the watcher, if so.
    pub fn void(&self) -> Option<Void> {
        let trials = || self.results.iter().flat_map(|result| &result.trials);
        let is_unanswered = self.cost.calls > 0 && self.cost.failed_calls == self.cost.calls;
        let is_unjudged = trials().all(|trial| matches!(trial.said, Said::Unknown | Said::NotAsked));
        let said = |said| trials().filter(move |trial| trial.said == said).find_map(|trial| trial.reason.clone());
        let cause = said(Said::Unknown).or_else(|| said(Said::NotAsked));
        match (is_unanswered, is_unjudged) {
            (true, _) => Some(Void::Unanswered { cause }),
            (false, true) => Some(Void::Unjudged { cause }),
            (false, false) => None,
        }
    }

    /// Hooks that failed, with the case in which they did.
    pub fn failures(&self) -> impl Iterator<Item = (&str, &str)> {
        let trials = self.results.iter().flat_map(|result| result.trials.iter().map(|trial| (&result.case, trial)));
        trials.flat_map(|(case, trial)| trial.failures.iter().map(|failure| (case.as_str(), failure.as_str())))
    }
}

impl Score {
    fn of<'t, 'c: 't>(tried: impl IntoIterator<Item = &'t Tried<'c>>) -> Self {
        let mut score = Self::default();
        for Tried { case, trials } in tried {
            score.cases += 1;
            for trial in trials {
                score.matrix.count(case.expect, trial.last.said);
                score.false_steers += u64::from(trial.steered && case.expect == Expect::Clean);
            }
        }
        let matrix = &score.matrix;
        score.accuracy = matrix.accuracy();
        score.interval = score.accuracy.map(|accuracy| wilson(accuracy, score.cases));
        score.precision = matrix.precision();
        score.recall = matrix.recall();
        score.false_steer_rate = share(score.false_steers, matrix.clean());
        score
    }
}

impl Cost {
    fn of<'t>(trials: impl Iterator<Item = &'t Trial>) -> Self {
        let mut cost = Self::default();
        for trial in trials {
            cost.saved_calls += u64::from(trial.last.saved);
            for call in &trial.calls {
                cost.calls += 1;
                cost.failed_calls += u64::from(!call.ok);
                if let Some(usage) = &call.usage {
                    cost.input += usage.input;
                    cost.output += usage.output;
                    cost.cache_read += usage.cache_read;
                    cost.cache_write += usage.cache_write;
                }
            }
        }
        cost
    }
}

impl CaseResult {
    fn of(Tried { case, trials }: &Tried<'_>) -> Self {
        let result = |trial: &Trial| TrialResult {
            said: trial.last.said,
            right: case.expect.is_met_by(trial.last.said),
            reason: trial.last.reason.clone(),
            steered: trial.steered,
            calls: trial.calls.len() as u64,
            took_ms: trial.calls.iter().map(|call| call.took).sum::<Duration>().as_secs_f64() * 1000.0,
            failures: trial.failures.clone(),
        };
        Self {
            case: case.id(),
            place: case.place.clone(),
            watcher: case.watcher.clone(),
            language: case.language.clone(),
            expect: case.expect,
            why: case.why.clone(),
            trials: trials.iter().map(result).collect(),
        }
    }

    pub fn is_right(&self) -> bool {
        self.trials.iter().all(|trial| trial.right)
    }
}

#[cfg(test)]
mod tests {
    use chaperone_contract::Usage;

    use super::*;
    use crate::cli::eval::trial::CallSeen;
    use crate::cli::last_word::LastWord;

    fn case(rule: &str, name: &str, language: &str, expect: Expect) -> Case {
        Case {
            watcher: "hedge".into(),
            rule: rule.into(),
            name: name.into(),
            language: language.into(),
            expect,
            why: "Because.".into(),
            git_status: None,
            command: None,
            branch: Vec::new(),
            place: "c.yaml:1".into(),
        }
    }

    fn trial(said: Said, steered: bool, calls: &[(u64, bool)]) -> Trial {
        let usage = Usage { input: 100, output: 2, cache_read: 7, cache_write: 1, total: 110 };
        let call = |&(ms, ok): &(u64, bool)| CallSeen {
            took: Duration::from_millis(ms),
            usage: ok.then(|| usage.clone()),
            ok,
        };
        Trial {
            last: LastWord { said, reason: None, saved: calls.is_empty() && said == Said::Clean },
            steered,
            calls: calls.iter().map(call).collect(),
            failures: Vec::new(),
        }
    }

    fn report(tried: &[Tried<'_>]) -> Report {
        Report::new("monitors".into(), "script".into(), 1, tried)
    }

    #[test]
    fn figures_are_those_of_all_and_of_each_group() {
        let [a, b, c] = [
            case("r", "a", "en", Expect::Clean),
            case("r", "b", "de", Expect::Flag),
            case("s", "c", "en", Expect::Clean),
        ];
        let tried = [
            Tried { case: &a, trials: vec![trial(Said::Flag, true, &[(10, true)])] },
            Tried { case: &b, trials: vec![trial(Said::Flag, true, &[(5, false), (30, true)])] },
            Tried { case: &c, trials: vec![trial(Said::Clean, false, &[])] },
        ];
        let report = report(&tried);
        assert_eq!(report.score.accuracy, Some(2.0 / 3.0));
        assert_eq!((report.score.false_steers, report.score.false_steer_rate), (1, Some(0.5)));
        assert_eq!((report.rules["r"].accuracy, report.rules["s"].accuracy), (Some(0.5), Some(1.0)));
        assert_eq!((report.languages["en"].cases, report.languages["de"].cases), (2, 1));
        assert_eq!(report.watchers["hedge"], report.score);
        let cost = &report.cost;
        assert_eq!((cost.calls, cost.failed_calls, cost.saved_calls), (3, 1, 1));
        assert_eq!((cost.input, cost.output, cost.cache_read, cost.cache_write), (200, 4, 14, 2));
        assert_eq!(report.latency.map(|latency| latency.median_ms), Some(20.0), "a failed call says nothing of it");
        assert_eq!(report.void(), None);
    }

    #[test]
    fn repeating_a_case_does_not_make_the_figures_surer() {
        let a = case("r", "a", "en", Expect::Clean);
        let trials = |times| (0..times).map(|_| trial(Said::Clean, false, &[(1, true)])).collect();
        let once = report(&[Tried { case: &a, trials: trials(1) }]);
        let often = report(&[Tried { case: &a, trials: trials(50) }]);
        assert_eq!(once.score.interval, often.score.interval);
        assert_eq!(often.score.matrix.total(), 50);
    }

    #[test]
    fn a_case_is_right_if_each_trial_is() {
        let a = case("r", "a", "en", Expect::Flag);
        let trials = vec![trial(Said::Flag, true, &[]), trial(Said::Unknown, false, &[(1, false)])];
        let report = report(&[Tried { case: &a, trials }]);
        assert!(!report.results[0].is_right());
        assert_eq!(report.void(), Some(Void::Unanswered { cause: None }));
    }

    #[test]
    fn figures_without_one_judgement_say_nothing_and_the_first_cause_is_kept() {
        let a = case("r", "a", "en", Expect::Clean);
        let of = |said: &[Said], ok| {
            let failed = |said: &Said| {
                let mut trial = trial(*said, false, &[(1, ok)]);
                trial.last.reason = (*said == Said::Unknown).then(|| "nonsense".to_owned());
                trial
            };
            report(&[Tried { case: &a, trials: said.iter().map(failed).collect() }]).void()
        };
        let cause = || Some("nonsense".to_owned());
        assert_eq!(of(&[Said::NotAsked, Said::Unknown], true), Some(Void::Unjudged { cause: cause() }));
        assert_eq!(of(&[Said::Unknown], false), Some(Void::Unanswered { cause: cause() }));
        assert_eq!(of(&[Said::Unknown, Said::Clean], true), None);
        assert_eq!(of(&[Said::NotAsked], true), Some(Void::Unjudged { cause: None }));
        assert!(Void::Unjudged { cause: None }.to_string().ends_with("saw a reason to look"));
        assert_eq!(Void::Unjudged { cause: cause() }.to_string(), "no judgement came about: nonsense");
    }
}
