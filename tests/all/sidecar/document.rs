//! The exchange in `docs/sidecar.md` is a real one.

use std::future::ready;
use std::sync::Arc;

use chaperone::project::CONFIG_FOLDER;
use chaperone::serve::{FindWatchers, Watchers};
use chaperone_tests::stage::{self, Pipe, Stage};
use serde_json::Value;

const DOCUMENT: &str = include_str!("../../../docs/sidecar.md");

enum Line {
    Client(Value),
    Sidecar(Value),
}

/// The messages in the blocks of the document, in order.
fn exchange() -> Vec<Line> {
    let section = DOCUMENT.split("\n## ").find(|section| section.starts_with("An exchange\n")).unwrap();
    let blocks: String = section.split("```text\n").skip(1).map(|block| block.split("```").next().unwrap()).collect();
    let mut messages: Vec<String> = Vec::new();
    for line in blocks.lines() {
        match line.starts_with(['→', '←']) {
            true => messages.push(line.into()),
            false => messages.last_mut().unwrap().push_str(line),
        }
    }
    let read = |message: &String| {
        let mut letters = message.chars();
        let arrow = letters.next();
        let value = serde_json::from_str(letters.as_str()).unwrap_or_else(|error| panic!("{error}: {message}"));
        if arrow == Some('→') { Line::Client(value) } else { Line::Sidecar(value) }
    };
    messages.iter().map(read).collect()
}

/// Whether a line is what the document says, as far as it says it.
fn fits(said: &Value, line: &Value) -> bool {
    match (said, line) {
        (Value::Object(said), Value::Object(line)) => {
            said.iter().all(|(name, said)| line.get(name).is_some_and(|line| fits(said, line)))
        }
        (Value::Array(said), Value::Array(line)) => {
            said.len() == line.len() && said.iter().zip(line).all(|(said, line)| fits(said, line))
        }
        (Value::String(said), Value::String(line)) => {
            let mut parts = said.split('…');
            let Some(rest) = line.strip_prefix(parts.next().unwrap_or_default()) else { return false };
            let mut parts: Vec<_> = parts.collect();
            let Some(end) = parts.pop() else { return rest.is_empty() };
            let found = parts.into_iter().try_fold(rest, |rest, part| rest.split_once(part).map(|(_, after)| after));
            found.is_some_and(|rest| rest.ends_with(end))
        }
        (said, line) => said == line,
    }
}

/// The monitors that `chaperone monitors init` adds unasked watch, whatever folder the document names.
fn monitors() -> FindWatchers {
    let stage = Arc::new(Stage::bare());
    for name in ["fragility", "hedge", "work-quality"] {
        for kind in ["monitor", "patterns", "instructions"] {
            let file = format!("{name}.{kind}.json");
            let text = std::fs::read_to_string(format!("{}/{file}", stage::EXAMPLES)).unwrap();
            stage.put(&format!("{CONFIG_FOLDER}/monitors/{file}"), &text);
        }
    }
    Box::new(move |_, models| {
        let mut plugin = stage.plugin("monitors", stage::monitors(), stage.disk());
        plugin.source = "builtin:monitors".into();
        let watchers = Watchers {
            plugins: vec![plugin],
            unloaded: Vec::new(),
            provider: models.unwrap().provider(std::time::Duration::from_secs(60)),
            judge: None,
            memory: None,
            recorder: None,
        };
        Box::pin(ready(Ok(watchers)))
    })
}

#[tokio::test(start_paused = true)]
async fn the_exchange_in_the_documentation_is_a_real_one() {
    let mut pipe = Pipe::new(monitors());
    let mut told = std::collections::VecDeque::new();
    let (mut asked, mut answered) = (0, 0);
    for line in exchange() {
        match line {
            Line::Client(line) => {
                assert!(told.is_empty(), "the document lacks what is said before {line}: {told:#?}");
                asked += 1;
                told.extend(pipe.send(line.to_string()).await.0);
            }
            Line::Sidecar(said) => {
                answered += 1;
                let line = told.pop_front().unwrap_or_default();
                assert!(fits(&said, &line), "the document says\n{said:#}\nand it is\n{line:#}");
            }
        }
    }
    assert!(told.is_empty() && pipe.is_over());
    assert!(asked > 10 && answered > 15);
}
