//! The texts that `/monitors` answers with. People read them, and some scripts do: their layout stays as it is.

use chaperone_sdk::Tone;

use crate::condition::Condition;
use crate::fault::Fault;
use crate::memory::{Memory, Watch};
use crate::patterns::Pattern;
use crate::proposals::Proposal;
use crate::roster::Listed;
use crate::rules::Rule;
use crate::scope::Target;
use crate::status;
use crate::trust::Reason;
use crate::when::When;

/// What can be typed.
pub const HELP: &str = "\
/monitors                                list all monitors and how they stand
/monitors on | off                       watch again | pause all monitors for this session
/monitors check                          say what is wrong with the monitors' files
/monitors init [all|<name>...]           add bundled monitors to this project
/monitors log [<name>] [<n>]             the latest judgements, with their numbers
/monitors why <finding>                  how it came about: question, evidence, answer, what became of it
/monitors wrong <finding>                it was no fault: count it, and add a rule
/monitors cost                           calls, tokens and findings of each monitor
/monitors trust [<name>|all]             what the project's monitors would do | let them act
/monitors untrust <name>|all             let it act no longer | none of them
/monitors <name>                         one monitor: what it watches, how it stands
/monitors <name> rules                   its rules, numbered
/monitors <name> rules add <text>        add a rule for its judge
/monitors <name> rules remove <n>        remove a rule
/monitors <name> rules replace <n> <text>  put another text in the place of a rule
/monitors <name> patterns                its patterns, and those that it proposes, numbered
/monitors <name> patterns approve <n>|all  let proposed patterns become patterns
/monitors <name> patterns reject <n>|all   refuse them, for good
/monitors <name> patterns undo           take the pattern that was learned last out again
/monitors <name> dismiss                 silence it for this session
/monitors <name> reset                   forget its state and bring it back
/<name>                                  run a monitor whose event is \"command\"";

/// `/monitors`
pub fn list(watch: &Watch, memory: &Memory) -> String {
    let mut text = String::from(if watch.off { "monitors: OFF (all monitoring paused)" } else { "monitors: ON" });
    for listed in &watch.roster.monitors {
        let when = match &listed.when {
            When::Holds(Condition::Always) => String::new(),
            when => format!(", when: {when}"),
        };
        let scope = match listed.scope.target {
            Target::Main => String::new(),
            target => format!(" [scope:{target}]"),
        };
        let state = status::state(listed, watch, memory);
        text.push_str(&format!("\n  {} [{}{when}]{scope} — {state}", listed.name, listed.event));
    }
    for (name, fault) in watch.roster.out_of_service() {
        text.push_str(&format!("\n  {name} — out of service: {}", fault.message));
    }
    if watch.roster.untrusted.iter().any(|monitor| monitor.reason != Reason::Refused) {
        text.push_str("\n(some are not trusted: /monitors trust)");
    }
    if watch.roster.monitors.is_empty() && watch.roster.out_of_service().next().is_none() {
        text.push_str("\n  (no monitors; /monitors init adds the bundled ones)");
    }
    match watch.roster.faults.iter().filter(|fault| fault.is_to_be_mended()).count() {
        0 => {}
        1 => text.push_str("\n(1 fault in their files: /monitors check)"),
        faults => text.push_str(&format!("\n({faults} faults in their files: /monitors check)")),
    }
    text
}

/// `/monitors <name>`, with the number of rules and of patterns, or why they cannot be read.
pub fn inspect(
    listed: &Listed,
    watch: &Watch,
    memory: &Memory,
    rules: Result<usize, Fault>,
    patterns: Result<usize, Fault>,
) -> String {
    let Listed { name, description, event, when, scope, ceiling, escalate, .. } = listed;
    let state = status::state(listed, watch, memory);
    let count = |list: Result<usize, Fault>| match list {
        Ok(count) => count.to_string(),
        Err(fault) => format!("unreadable ({fault})"),
    };
    format!(
        "{}\nevent: {event}, when: {when}, scope: {}\nstate: {state}, ceiling: {ceiling}, escalate: {escalate}\n\
         rules: {}, patterns: {}",
        format!("[{name}] {description}").trim_end(),
        scope.target,
        count(rules),
        count(patterns),
    )
}

/// `/monitors <name> rules`
pub fn rules(name: &str, rules: &[Rule]) -> String {
    if rules.is_empty() {
        return format!("[{name}] (no rules)");
    }
    let lines = (1..).zip(rules).map(|(number, rule)| format!("\n{number}. {}", rule.text));
    format!("[{name}] rules:{}", lines.collect::<String>())
}

/// A number that no rule has.
pub fn no_such_rule(name: &str, number: usize, count: usize) -> String {
    let rules = match count {
        0 => "there are no rules".into(),
        1 => "there is 1 rule".into(),
        count => format!("there are {count} rules"),
    };
    format!("[{name}] Invalid index {number}: {rules}")
}

/// `/monitors <name> patterns`
pub fn patterns(name: &str, patterns: &[Pattern]) -> String {
    if patterns.is_empty() {
        return format!("[{name}] (no patterns: the monitor will not classify)");
    }
    let lines = (1..).zip(patterns).map(|(number, Pattern { description, severity, source, .. })| {
        let source = source.as_ref().map(|source| format!(" ({source})")).unwrap_or_default();
        format!("\n{number}. [{severity}] {description}{source}")
    });
    format!("[{name}] patterns:{}", lines.collect::<String>())
}

/// What `/monitors <name> patterns` says of those that wait. Empty where none does.
pub fn proposals(name: &str, proposals: &[&Proposal]) -> String {
    if proposals.is_empty() {
        return String::new();
    }
    let lines = (1..).zip(proposals).map(|(number, proposal)| format!("\n{number}. {}", proposal.description));
    format!(
        "\n[{name}] proposed, not in use (patterns approve <n>|all, patterns reject <n>|all):{}",
        lines.collect::<String>()
    )
}

/// `/monitors <name> dismiss`
pub fn dismissed(name: &str) -> String {
    format!("[{name}] Dismissed for this session")
}

/// The first line of `/monitors check`, and how it is meant.
pub fn checked(monitors: usize, errors: usize, warnings: usize, untrusted: usize) -> (String, Tone) {
    let counted = |count: usize, what: &str| match count {
        1 => format!("1 {what}"),
        count => format!("{count} {what}s"),
    };
    let tone = match (errors, warnings) {
        (0, 0) => Tone::Success,
        (0, _) => Tone::Warning,
        _ => Tone::Error,
    };
    let faults = match (errors, warnings) {
        (0, 0) => "no faults".into(),
        _ => format!("{}, {}", counted(errors, "error"), counted(warnings, "warning")),
    };
    let inactive = match untrusted {
        0 => String::new(),
        untrusted => format!("; {untrusted} inactive until trusted: /monitors trust"),
    };
    (format!("{}, {faults}{inactive}", counted(monitors, "monitor")), tone)
}

/// One line for each faulty file, with its gravest fault and how many more there are.
pub fn faulty_files(faults: &[Fault]) -> Vec<String> {
    let mut files: Vec<(&str, &str)> = Vec::new();
    for fault in faults.iter().filter(|fault| fault.is_to_be_mended()) {
        if !files.contains(&(&fault.mount, &fault.file)) {
            files.push((&fault.mount, &fault.file));
        }
    }
    let line = |(mount, file): (&str, &str)| {
        let of_file: Vec<&Fault> = faults
            .iter()
            .filter(|fault| *fault.mount == *mount && *fault.file == *file && fault.is_to_be_mended())
            .collect();
        let gravest = of_file.iter().find(|fault| fault.is_error()).or(of_file.first())?;
        let more = match of_file.len() - 1 {
            0 => String::new(),
            more => format!(" (and {more} more: /monitors check)"),
        };
        Some(format!("{gravest}{more}"))
    };
    files.into_iter().filter_map(line).collect()
}
