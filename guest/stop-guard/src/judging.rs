//! From a stop of the agent to what follows from its verdict.

use chaperone_sdk::traces::outcome::NO_VERDICT;
use chaperone_sdk::{
    AgentKind, Completion, Context, EntryId, Judgement, Level, LlmError, Mode, RequestId, SettledReason, StartReason,
    StopReason, Tone, Verdict as Reported,
};

use crate::answer::{self, Answer};
use crate::confidence::Confidence;
use crate::config::{Config, Rejected};
use crate::decision;
use crate::desk::Desk;
use crate::evidence::traced;
use crate::file;
use crate::memory::{Judging, Spent, Stop};
use crate::notice::Outcome;
use crate::nudge;
use crate::request::{self, Attempt, LABEL};
use crate::round::{self, Round};
use crate::ruling::Ruling;
use crate::verdict::Verdict;

/// How the agent came to rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rest {
    /// By itself; so its latest message ended.
    Stopped(StopReason),
    /// The user stopped it.
    Interrupted,
    /// The provider failed, or what it wrote is not all there.
    Unfinished,
}

impl Rest {
    fn of(reason: SettledReason, ending: Option<StopReason>) -> Self {
        match (reason, ending) {
            (SettledReason::Interrupted, _) | (_, Some(StopReason::Aborted)) => Self::Interrupted,
            (SettledReason::Finished, Some(ending @ (StopReason::Stop | StopReason::Length))) => Self::Stopped(ending),
            (SettledReason::Finished | SettledReason::Failed, _) => Self::Unfinished,
        }
    }
}

/// Whether stops are judged here: only the main agent's, and only where it could be sent back.
fn is_watched(cx: &Context) -> bool {
    let session = cx.session();
    session.agent.kind == AgentKind::Main && matches!(session.mode, Mode::Interactive | Mode::Rpc)
}

/// The session begins: what was under way before is over, unless the plugin was only loaded anew. A configuration that
/// is wrong is told at once, even if it was told before the session was taken up again.
pub fn begin(desk: &mut Desk, reason: StartReason) {
    if reason != StartReason::Reload {
        give_up(desk);
        desk.watch.told_rejected = None;
    }
    if is_watched(desk.cx) {
        let _ = check_config(desk);
    }
}

/// The agent has come to rest.
pub fn settled(desk: &mut Desk, reason: SettledReason) {
    if !is_watched(desk.cx) {
        return;
    }
    give_up(desk);
    let Some(config) = usable_config(desk, None) else { return };
    if !config.enabled {
        return;
    }
    let round = round::read(desk.cx, traced(&config));
    match Rest::of(reason, round.ending) {
        Rest::Interrupted => show(desk, &config, &Outcome::Interrupted, round.ending),
        Rest::Unfinished => show(desk, &config, &Outcome::Unfinished, round.ending),
        Rest::Stopped(ending) => stopped(desk, &config, &round, ending),
    }
}

fn stopped(desk: &mut Desk, config: &Config, round: &Round, ending: StopReason) {
    let (Some(user), Some(newest)) = (&round.user, &round.newest) else {
        return match round.goes_further {
            true => {
                let failure = format!("the user's request is not among the latest {} entries", round::FURTHEST);
                fail(desk, config, failure, None, round.newest.clone(), ending);
            }
            false => desk.cx.log(Level::Info, "the user has asked for nothing: there is nothing to judge by"),
        };
    };
    let stop = Stop { request: user.id.clone(), newest: newest.clone(), ending };
    if let Some(why) = outdated(desk.cx, &stop) {
        return desk.cx.log(Level::Info, format!("this stop is not judged: {why}"));
    }
    match config.forced_decision {
        None => ask(desk, config, round, stop, Attempt::First),
        Some(decision) => {
            let reason = format!("`forcedDecision` is \"{}\"; no judge was asked", decision.word());
            let forced = Verdict { decision, confidence: Confidence::FULL, reason };
            follow(desk, config, &stop, &forced, None);
        }
    }
}

fn ask(desk: &mut Desk, config: &Config, round: &Round, stop: Stop, attempt: Attempt) {
    let limit = request::output_limit(&desk.cx.models(), config, desk.cx.session().model.as_ref());
    let call = desk.cx.complete(request::request(config, round, attempt, limit));
    desk.watch.judging = Some(Judging { call, attempt, stop });
}

/// Why a judgement was given up.
const GONE_ON: &str = "the agent or the user went on before the judge had spoken";

/// Something has happened: a stop that is being judged is none any more.
pub fn give_up(desk: &mut Desk) {
    if let Some(judging) = desk.watch.judging.take() {
        desk.cx.cancel(judging.call);
        desk.cx.log(Level::Info, GONE_ON);
    }
}

/// The judge has answered, or has failed to.
pub fn completed(desk: &mut Desk, id: RequestId, outcome: Result<Completion, LlmError>) {
    let Some(Judging { attempt, stop, .. }) = desk.watch.judging.take_if(|judging| judging.call == id) else {
        return discard(desk, id, GONE_ON);
    };
    if let Some(why) = outdated(desk.cx, &stop) {
        desk.cx.log(Level::Info, format!("the verdict comes too late: {why}"));
        return discard(desk, id, why);
    }
    // The file may have changed while the judge was thinking; what holds is what it says now.
    let Some(config) = usable_config(desk, Some(id)) else { return };
    if !config.enabled {
        let why = "the stop guard was switched off while the judge was thinking";
        desk.cx.log(Level::Info, why);
        return discard(desk, id, why);
    }
    match answer::read(outcome, attempt) {
        Answer::Verdict(verdict) => follow(desk, &config, &stop, &verdict, Some(id)),
        Answer::AskAgain => {
            decision::became(desk.cx, id, decision::ASKED_AGAIN, None);
            let round = round::read(desk.cx, traced(&config));
            ask(desk, &config, &round, stop, Attempt::Second);
        }
        Answer::Failed(failure) => {
            fail(desk, &config, failure, Some(id), Some(stop.newest), stop.ending);
        }
    }
}

/// What the judge said counts for nothing.
fn discard(desk: &mut Desk, call: RequestId, why: &str) {
    decision::became(desk.cx, call, decision::DISCARDED, Some(why.into()));
}

/// No judgement came about: that is told, and nothing follows.
fn fail(
    desk: &mut Desk,
    config: &Config,
    failure: String,
    call: Option<RequestId>,
    entry: Option<EntryId>,
    ending: StopReason,
) {
    report(desk, Reported::Unknown, Some(failure.clone()), call, entry);
    conclude(desk, config, &Outcome::JudgeFailed { failure }, call, ending);
}

/// Why a stop is none any more, if so.
fn outdated(cx: &Context, stop: &Stop) -> Option<&'static str> {
    let session = cx.session();
    match () {
        () if session.input_pending => Some("the user has typed something"),
        () if !session.idle => Some("the agent is working again"),
        () if round::newest(cx).as_ref() != Some(&stop.newest) => Some("the conversation has gone on, or elsewhere"),
        () => None,
    }
}

fn follow(desk: &mut Desk, config: &Config, stop: &Stop, verdict: &Verdict, call: Option<RequestId>) {
    let spent = desk.spent.clone().on(&stop.request);
    let ruling = Ruling::on(verdict, config, spent.continuations);
    let (confidence, reason) = (verdict.confidence, verdict.reason.clone());
    let threshold = config.confidence_threshold;
    let reported = match ruling {
        Ruling::Accept => (Reported::Clean, None),
        Ruling::Unsure => (Reported::Clean, Some(format!("only {confidence} sure, below {threshold}: {reason}"))),
        Ruling::LimitReached(_) | Ruling::Continue(_) => (Reported::Flag, Some(reason.clone())),
    };
    report(desk, reported.0, reported.1, call, Some(stop.newest.clone()));
    let outcome = match ruling {
        Ruling::Accept => Outcome::StopAccepted { confidence, reason },
        Ruling::Unsure => Outcome::Unsure { confidence, threshold, reason },
        Ruling::LimitReached(limit) => {
            let sent = spent.continuations;
            if !spent.told_limit {
                let warning =
                    format!("[auto-goal] The agent was sent back {sent} times for this request; it is now up to you.");
                desk.cx.notify(warning, Tone::Warning);
            }
            desk.spent = Spent { told_limit: true, ..spent };
            Outcome::LimitReached { confidence, reason, sent, limit }
        }
        Ruling::Continue(number) => {
            let nudge = nudge::text(config, &reason);
            desk.spent = Spent { continuations: number.get(), ..spent };
            desk.watch.continuations = desk.watch.continuations.saturating_add(1);
            desk.cx.inject(nudge::message(config, nudge.clone(), &reason, number));
            let limit = config.max_auto_continues;
            Outcome::Premature { confidence, reason, nudge, continuation: number, limit }
        }
    };
    conclude(desk, config, &outcome, call, stop.ending);
}

/// Keeps what became of a judgement with the call that it rests on, and shows it.
fn conclude(desk: &mut Desk, config: &Config, outcome: &Outcome, call: Option<RequestId>, ending: StopReason) {
    if let Some((call, (word, detail))) = call.zip(decision::of(outcome)) {
        decision::became(desk.cx, call, word, detail);
    }
    show(desk, config, outcome, Some(ending));
}

fn report(
    desk: &mut Desk,
    verdict: Reported,
    description: Option<String>,
    request: Option<RequestId>,
    entry: Option<EntryId>,
) {
    desk.cx.judged(Judgement { watcher: LABEL.into(), verdict, description, request, entry });
}

/// Shows what became of a stop. Where the user wants no blocks, only what failed is told, in passing.
fn show(desk: &mut Desk, config: &Config, outcome: &Outcome, ending: Option<StopReason>) {
    if config.show_verdict_notice {
        desk.cx.show(outcome.notice(ending));
    } else if matches!(outcome, Outcome::JudgeFailed { .. }) {
        let (text, tone) = outcome.summary();
        desk.cx.notify(text, tone);
    }
}

/// The configuration. None where it is rejected, which is reported: no judgement comes about, whatever was asked.
fn usable_config(desk: &mut Desk, call: Option<RequestId>) -> Option<Config> {
    match check_config(desk) {
        Ok(config) => Some(config),
        Err(rejected) => {
            report(desk, Reported::Unknown, Some(format!("{} is rejected: {rejected}", file::PATH)), call, None);
            if let Some(call) = call {
                decision::became(desk.cx, call, NO_VERDICT, None);
            }
            None
        }
    }
}

/// Reads the configuration, and tells the user if it is rejected, once for each cause.
///
/// # Errors
/// All that is wrong with it.
pub fn check_config(desk: &mut Desk) -> Result<Config, Rejected> {
    let config = file::load(desk.cx);
    let cause = config.as_ref().err().map(Rejected::to_string);
    if desk.watch.told_rejected != cause {
        desk.watch.told_rejected = cause;
        if let Err(Rejected { faults }) = &config {
            let faults = faults.iter().map(|fault| format!("{}: {fault}", file::PATH)).collect();
            desk.cx.show(Outcome::ConfigurationRejected { faults }.notice(None));
        }
    }
    config
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verdict::Decision;

    #[test]
    fn only_a_message_that_ended_by_itself_or_at_its_limit_is_a_stop() {
        use SettledReason::{Failed, Finished, Interrupted};
        for (reason, ending, rest) in [
            (Finished, Some(StopReason::Stop), Rest::Stopped(StopReason::Stop)),
            (Finished, Some(StopReason::Length), Rest::Stopped(StopReason::Length)),
            (Finished, Some(StopReason::Aborted), Rest::Interrupted),
            (Finished, Some(StopReason::Error), Rest::Unfinished),
            (Finished, Some(StopReason::ToolUse), Rest::Unfinished),
            (Finished, None, Rest::Unfinished),
            (Interrupted, Some(StopReason::Stop), Rest::Interrupted),
            (Interrupted, Some(StopReason::Error), Rest::Interrupted),
            (Interrupted, None, Rest::Interrupted),
            (Failed, Some(StopReason::Stop), Rest::Unfinished),
            (Failed, Some(StopReason::Error), Rest::Unfinished),
            (Failed, Some(StopReason::Aborted), Rest::Interrupted),
        ] {
            assert_eq!(Rest::of(reason, ending), rest, "{reason:?} {ending:?}");
        }
    }

    #[test]
    fn a_confidence_that_is_forced_is_above_every_threshold() {
        assert_eq!(Confidence::FULL, Confidence::new(1.0).unwrap());
        let forced = Verdict { decision: Decision::Continue, confidence: Confidence::FULL, reason: "x".into() };
        let config = Config { confidence_threshold: Confidence::FULL, ..Config::default() };
        assert!(matches!(Ruling::on(&forced, &config, 0), Ruling::Continue(_)));
    }
}
