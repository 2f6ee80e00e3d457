//! How monitors stand, in a word each and in the status bar.

use chaperone_sdk::{Line, Span, Tone};

use crate::memory::{Memory, Watch};
use crate::roster::Listed;

/// How one monitor stands: `dismissed`, `engaged (k/ceiling)` or `idle`; behind that, or in its place, why it is not
/// judged.
pub fn state(listed: &Listed, watch: &Watch, memory: &Memory) -> String {
    let notes = memory.notes.get(&listed.name);
    let state = match notes.map_or(0, |notes| notes.count) {
        _ if watch.dismissed.contains(&listed.name) => "dismissed".into(),
        0 => match &listed.inactive {
            Some(reason) => return format!("inactive: {reason}"),
            None => "idle".into(),
        },
        count => format!("engaged ({count}/{})", listed.ceiling),
    };
    match &listed.inactive {
        Some(reason) => format!("{state}, inactive: {reason}"),
        None if notes.is_some_and(|notes| notes.back_off.is_failing()) => format!("{state}, judge unavailable"),
        None => state,
    }
}

/// The status bar's segment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Status {
    /// None: there is nothing to show.
    pub text: Option<String>,
    tone: Tone,
}

impl Status {
    /// As the host wants it.
    pub fn into_line(self) -> Option<Line> {
        self.text.map(|text| vec![Span { text, tone: self.tone }])
    }
}

/// `monitors:OFF`; `monitors:<count>` while none is engaged or dismissed; else the engaged ones as `name(k/ceiling)`,
/// then `N dismissed`. Behind it `judge unavailable`, while a judge that failed is left alone.
pub fn line(watch: &Watch, memory: &Memory) -> Status {
    if watch.roster.monitors.is_empty() {
        return Status { text: None, tone: Tone::Normal };
    }
    if watch.off {
        return Status { text: Some("monitors:OFF".into()), tone: Tone::Muted };
    }
    let (dismissed, on): (Vec<&Listed>, Vec<&Listed>) =
        watch.roster.monitors.iter().partition(|listed| watch.dismissed.contains(&listed.name));
    let mut parts: Vec<String> = on
        .iter()
        .filter(|listed| memory.count(&listed.name) > 0)
        .map(|listed| format!("{}({}/{})", listed.name, memory.count(&listed.name), listed.ceiling))
        .collect();
    let mut tone = if parts.is_empty() { Tone::Muted } else { Tone::Warning };
    if !dismissed.is_empty() {
        parts.push(format!("{} dismissed", dismissed.len()));
    }
    if parts.is_empty() {
        let active = on.iter().filter(|listed| listed.inactive.is_none()).count();
        parts.push(format!("monitors:{active}"));
    }
    if memory.judge_is_failing() {
        parts.push("judge unavailable".into());
        tone = Tone::Warning;
    }
    Status { text: Some(parts.join(" ")), tone }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::definition::parse;

    fn watch(names: &[&str]) -> Watch {
        let monitors = names.iter().map(|name| {
            let text = serde_json::json!({
                "name": name, "classify": {"prompt": "{patterns} CLEAN FLAG"}, "patterns": {"path": "p.json"},
            });
            let (monitor, _) = parse("project", "monitors/m.monitor.json", &text.to_string());
            Listed::new(&monitor.unwrap(), "project", "monitors/m.monitor.json", None)
        });
        let mut watch = Watch::default();
        watch.roster.monitors = monitors.collect();
        watch
    }

    fn text(watch: &Watch, memory: &Memory) -> Option<String> {
        line(watch, memory).text
    }

    #[test]
    fn without_monitors_there_is_no_status() {
        assert_eq!(text(&Watch::default(), &Memory::default()), None);
    }

    #[test]
    fn calm_monitors_are_counted_and_paused_ones_are_off() {
        let mut watch = watch(&["a", "b"]);
        assert_eq!(text(&watch, &Memory::default()).unwrap(), "monitors:2");
        watch.roster.monitors[0].inactive = Some("there are no patterns".into());
        assert_eq!(text(&watch, &Memory::default()).unwrap(), "monitors:1", "one that never looks does not count");
        watch.off = true;
        assert_eq!(text(&watch, &Memory::default()).unwrap(), "monitors:OFF");
    }

    #[test]
    fn engaged_ones_are_named_and_dismissed_ones_counted() {
        let mut watch = watch(&["a", "b", "c"]);
        let mut memory = Memory::default();
        memory.notes("a").count = 1;
        memory.notes("b").count = 2;
        assert_eq!(text(&watch, &memory).unwrap(), "a(1/5) b(2/5)");
        watch.dismissed.insert("b".into());
        assert_eq!(text(&watch, &memory).unwrap(), "a(1/5) 1 dismissed", "a dismissed one is never shown as engaged");
        assert_eq!(state(&watch.roster.monitors[0], &watch, &memory), "engaged (1/5)");
        assert_eq!(state(&watch.roster.monitors[1], &watch, &memory), "dismissed");
        assert_eq!(state(&watch.roster.monitors[2], &watch, &memory), "idle");
    }

    #[test]
    fn a_judge_that_fails_is_told() {
        let watch = watch(&["a"]);
        let mut memory = Memory::default();
        memory.notes("a").back_off.failed();
        assert_eq!(text(&watch, &memory).unwrap(), "monitors:1 judge unavailable");
        assert_eq!(state(&watch.roster.monitors[0], &watch, &memory), "idle, judge unavailable");
    }
}
