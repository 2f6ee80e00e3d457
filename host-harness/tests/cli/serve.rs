//! `chaperone serve`: the program at the other end of real pipes.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use chaperone::contract::Event;
use chaperone::session::{self, Leaf, Step, TimedStep};
use serde_json::{Value, json};

use crate::support::{World, session, session_names, sessions};

/// How long anything may take before the test is given up.
const PATIENCE: Duration = Duration::from_secs(120);

/// Effects that the sidecar carries out by itself, or answers.
const OWN: [&str; 9] = ["complete", "cancel", "refresh", "write", "patch", "set", "arm", "disarm", "ask"];

/// A sidecar, and the client's ends of its pipes.
struct Sidecar {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<Value>,
    next_id: u64,
}

impl Sidecar {
    fn start<'a>(world: &World, arguments: impl IntoIterator<Item = &'a str>) -> Self {
        Self::of(command(world, arguments))
    }

    fn of(mut command: Command) -> Self {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let stdin = child.stdin.take();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        Self { child, stdin, lines: read(stdout), next_id: 1 }
    }

    /// Started, and told what its client can do.
    fn with<'a>(world: &World, arguments: impl IntoIterator<Item = &'a str>, capabilities: Value) -> Self {
        let mut sidecar = Self::start(world, arguments);
        let client = json!({"name": "test", "version": "1"});
        let initialize = json!({"protocol_version": 1, "client": client, "capabilities": capabilities});
        assert_eq!(sidecar.ask("initialize", initialize).0["server"]["name"], "chaperone");
        sidecar
    }

    fn send(&mut self, line: &Value) {
        writeln!(self.stdin.as_mut().unwrap(), "{line}").unwrap();
    }

    fn next(&self) -> Value {
        self.lines.recv_timeout(PATIENCE).expect("the sidecar says something")
    }

    /// Lines up to one that fits, which comes last.
    fn until(&self, fits: impl Fn(&Value) -> bool) -> Vec<Value> {
        let mut lines = Vec::new();
        while lines.last().is_none_or(|line| !fits(line)) {
            lines.push(self.next());
        }
        lines
    }

    /// Sends a request that has to be answered well. Its result, and what came before.
    fn ask(&mut self, method: &str, params: Value) -> (Value, Vec<Value>) {
        let (mut answer, lines) = self.request(method, params);
        assert!(answer.get("result").is_some(), "{method}: {answer}");
        (answer["result"].take(), lines)
    }

    fn request(&mut self, method: &str, params: Value) -> (Value, Vec<Value>) {
        let id = self.next_id;
        self.next_id += 1;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        let mut lines = self.until(|line| line["id"] == id && line.get("method").is_none());
        (lines.pop().unwrap(), lines)
    }

    fn open(&mut self, name: &str, cwd: &Path, reason: &str) -> (Value, Vec<Value>) {
        self.ask("session/open", json!({"session": name, "cwd": cwd, "mode": "interactive", "reason": reason}))
    }

    /// Waits for the end of the process.
    fn ended(self) -> ExitStatus {
        let Self { child, stdin, .. } = self;
        drop(stdin);
        wait(child)
    }
}

fn command<'a>(world: &World, arguments: impl IntoIterator<Item = &'a str>) -> Command {
    let like = world.chaperone(["serve"]);
    let mut command = Command::new(like.get_program());
    command.args(["serve"]).args(arguments).current_dir(world.project()).env_clear().stderr(Stdio::null());
    command.envs(like.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command
}

fn read(stdout: impl BufRead + Send + 'static) -> Receiver<Value> {
    let (sender, lines) = channel();
    std::thread::spawn(move || {
        for line in stdout.lines().map_while(Result::ok) {
            let value = serde_json::from_str(&line).unwrap_or_else(|error| panic!("not JSON: {error}: {line}"));
            if sender.send(value).is_err() {
                return;
            }
        }
    });
    lines
}

fn wait(mut child: Child) -> ExitStatus {
    let (sender, status) = channel();
    std::thread::spawn(move || sender.send(child.wait().unwrap()));
    status.recv_timeout(PATIENCE).expect("the sidecar ends")
}

/// A client that lends models without saying which.
fn lending() -> Value {
    json!({"models": []})
}

// Sessions

/// A bundled session on its way over the pipe.
struct Played {
    name: String,
    /// The session's own; findings are named after it.
    id: String,
    world: World,
    steps: std::vec::IntoIter<TimedStep>,
    /// Entries from before the session was opened.
    early: Option<Vec<Value>>,
    model: Value,
    effects: Vec<Value>,
}

impl Played {
    fn new(name: String) -> Self {
        let recorded = session::read(Path::new(&session(&name)[0])).unwrap();
        let steps = session::steps(&recorded.branch(&Leaf::Newest).unwrap());
        let (early, model, effects) = (Some(Vec::new()), Value::Null, Vec::new());
        Self { name, id: recorded.id, world: World::with_monitors(), steps: steps.into_iter(), early, model, effects }
    }

    fn tell(&mut self, sidecar: &mut Sidecar, step: &TimedStep) {
        let circumstances = json!({"now": step.at, "idle": step.idle, "model": self.model});
        let lines = match &step.step {
            Step::Event(Event::SessionStart { .. }) => {
                let cwd = self.world.project();
                let open = json!({"session": self.id, "cwd": cwd, "mode": "interactive", "reason": "new",
                    "entries": self.early.take(), "circumstances": circumstances});
                sidecar.ask("session/open", open).1
            }
            Step::Event(Event::SessionEnd) => sidecar.ask("session/close", json!({"session": self.id})).1,
            Step::Append(entry) if self.early.is_some() => return self.early.as_mut().unwrap().push(json!(entry)),
            Step::Append(entry) => sidecar.ask("session/append", json!({"session": self.id, "entries": [entry]})).1,
            Step::Model(model) => return self.model = json!(model),
            Step::Event(event) => {
                let happened = json!({"session": self.id, "event": event, "circumstances": circumstances});
                let mut lines = sidecar.ask("session/event", happened).1;
                lines.extend(sidecar.ask("session/quiet", json!({"session": self.id})).1);
                lines
            }
        };
        for line in lines.into_iter().filter(|line| line["method"] == "session/effect") {
            assert_eq!(line["params"]["session"], self.id);
            self.effects.push(line["params"]["effect"].clone());
        }
    }
}

/// Effects as text, one a line. A finding's id has the time in it, which does not stand still here while a judge thinks.
fn timeless(effects: &[Value]) -> String {
    let mut text: String = effects.iter().map(|effect| format!("{effect}\n")).collect();
    let id =
        |effect: &Value| effect["found"]["id"].as_str().or(effect["decided"]["finding"].as_str()).map(str::to_owned);
    for id in effects.iter().filter_map(id) {
        text = text.replace(&id, "ID");
    }
    text
}

#[test]
fn sessions_over_one_pipe_have_the_effects_that_each_has_in_a_run_of_its_own() {
    let home = World::new();
    let script = sessions().join("demo.script.yaml").display().to_string();
    let mut sidecar = Sidecar::with(&home, ["--script", &script], json!({}));
    let mut all: Vec<_> = session_names().into_iter().map(Played::new).collect();
    assert_eq!(all.len(), 9);
    let mut some_went_on = true;
    while some_went_on {
        some_went_on = false;
        for played in &mut all {
            if let Some(step) = played.steps.next() {
                some_went_on = true;
                played.tell(&mut sidecar, &step);
            }
        }
    }
    let mut steers = 0;
    for Played { name, effects, .. } in all {
        let alone = World::with_monitors();
        let output = alone.prints(["run", &session(&name)[0], "--script", &script, "--format", "json"]);
        let run = output.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["effect"].take());
        let is_told = |effect: &Value| {
            let name = effect.as_str().or_else(|| effect.as_object()?.keys().next().map(String::as_str));
            name.is_some_and(|name| !OWN.contains(&name))
        };
        let run: Vec<_> = run.filter(is_told).collect();
        assert_eq!(timeless(&effects), timeless(&run), "{name}");
        steers += effects.iter().filter(|effect| !effect["inject"].is_null()).count();
    }
    assert!(steers > 3, "{steers}");
    assert!(sidecar.ended().success());
}

#[test]
fn a_judge_is_shown_the_state_of_the_repository_as_it_is_now() {
    let world = World::new();
    let git = Command::new("git").args(["init", "--quiet"]).current_dir(world.project()).status().unwrap();
    assert!(git.success());
    let judge = "rules:\n  - when: { prompt_contains: \"?? left-behind.txt\" }\n    answer: FLAG:It is left behind\n  - answer: CLEAN\n";
    world.write("judge.yaml", judge);
    let monitor = json!({
        "name": "commits", "event": "agent_end",
        "classify": {"context": ["git_status"], "prompt": "{patterns}"},
        "patterns": {"path": "commits.patterns.json"},
        "actions": {"on_flag": {"steer": "Add it."}},
    });
    world.write_of_user("monitors/commits.monitor.json", &monitor.to_string());
    world.write_of_user("monitors/commits.patterns.json", r#"[{"id": "p", "description": "pd"}]"#);
    let mut sidecar = Sidecar::with(&world, ["--script", "judge.yaml"], json!({}));
    sidecar.open("s", &world.project(), "new");
    world.write("left-behind.txt", "");
    let user = json!({"id": "u", "timestamp": 0, "body": {"user": [{"text": "Commit it."}]}});
    let answer = json!({"id": "a", "timestamp": 0, "body": {"assistant": {
        "content": [{"text": "Committed."}], "stop_reason": "stop", "usage": null, "model": null, "error": null}}});
    sidecar.ask("session/append", json!({"session": "s", "entries": [user, answer]}));
    let (_, lines) = sidecar.ask("session/event", json!({"session": "s", "event": "agent_end"}));
    assert!(lines.iter().all(|line| line["params"]["effect"]["refresh"].is_null()), "that is the sidecar's to do");
    let (_, lines) = sidecar.ask("session/quiet", json!({"session": "s"}));
    let steers: Vec<_> =
        lines.iter().filter_map(|line| line["params"]["effect"]["inject"]["content"].as_str()).collect();
    let [steer] = steers[..] else { panic!("{lines:?}") };
    assert!(steer.starts_with("[commits] It is left behind. Add it."), "{steer}");
}

#[test]
fn lines_that_are_sent_all_at_once_are_served_before_the_end() {
    let world = World::with_monitors();
    let [_, script] = session("clean-fix");
    let client = json!({"name": "test", "version": "1"});
    let lines = [
        json!({"id": 1, "method": "initialize", "params": {"protocol_version": 1, "client": client, "capabilities": {}}}),
        json!({"id": 2, "method": "session/open", "params": {"session": "s", "cwd": ".", "mode": "rpc", "reason": "new"}}),
        json!({"id": 3, "method": "session/command", "params": {"session": "s", "name": "monitors", "arguments": ""}}),
    ];
    let input: String =
        lines.iter().map(|line| line.to_string().replacen('{', r#"{"jsonrpc":"2.0","#, 1) + "\n").collect();
    let cwd = format!("{:?}", world.project().display().to_string());
    let input = input.replace(r#""cwd":".""#, &format!("\"cwd\":{cwd}"));
    let output = world.chaperone(["serve", "--script", &script]).write_stdin(input).assert().success();
    let output = String::from_utf8(output.get_output().stdout.clone()).unwrap();
    let answers: Vec<Value> = output.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let answered: Vec<_> =
        answers.iter().filter(|line| line.get("result").is_some()).map(|line| line["id"].clone()).collect();
    assert_eq!(answered, [1, 2, 3], "{output}");
    assert!(output.contains("monitors: ON"), "{output}");
}

#[test]
fn a_project_with_faults_is_refused_with_their_places_and_others_are_served() {
    let world = World::with_monitors();
    let mut sidecar = Sidecar::with(&world, [], lending());
    world.write("chaperone.toml", "[llm]\nprovider = \"nobody\"\n");
    let open = json!({"session": "s", "cwd": world.project(), "mode": "rpc", "reason": "new"});
    let (refused, _) = sidecar.request("session/open", open.clone());
    assert_eq!(refused["error"]["code"], -32000);
    let message = refused["error"]["message"].as_str().unwrap();
    assert!(message.contains("chaperone.toml:2") && message.contains("there is no provider `nobody`"), "{message}");

    let text = "[[plugin]]\nname = \"lost\"\ncomponent = \"lost.wasm\"\n[[plugin]]\nname = \"monitors\"\ncomponent = \"builtin:monitors\"\n";
    world.write("chaperone.toml", text);
    let (opened, _) = sidecar.ask("session/open", open);
    let plugins = opened["plugins"].as_array().unwrap();
    let find = |name: &str| plugins.iter().find(|plugin| plugin["name"] == name).unwrap();
    assert!(find("lost")["error"].as_str().unwrap().contains("lost.wasm"));
    assert_eq!(
        (&find("monitors")["error"], &find("monitors")["description"]["name"]),
        (&json!(null), &json!("monitors"))
    );
    let nowhere = json!({"session": "t", "cwd": world.project().join("none"), "mode": "rpc", "reason": "new"});
    assert_eq!(sidecar.request("session/open", nowhere).0["error"]["code"], -32000);
}

#[test]
fn a_command_that_comes_or_goes_is_told() {
    let world = World::with_monitors();
    let mut sidecar = Sidecar::with(&world, [], lending());
    let (opened, _) = sidecar.open("s", &world.project(), "new");
    let names = |plugins: &Value| {
        let commands = plugins[0]["description"]["commands"].as_array().unwrap().clone();
        commands.iter().map(|command| command["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(names(&opened["plugins"]), ["monitors", "work-quality"]);
    std::fs::remove_file(world.project().join(".pi/monitors/work-quality.monitor.json")).unwrap();
    let input = json!({"session": "s", "event": {"input": {"content": [{"text": "Go."}]}}});
    let (_, lines) = sidecar.ask("session/event", input.clone());
    let told: Vec<_> = lines.iter().filter(|line| line["method"] == "session/plugins").collect();
    assert_eq!(told.len(), 1);
    assert_eq!(names(&told[0]["params"]["plugins"]), ["monitors"]);
    let (_, lines) = sidecar.ask("session/event", input);
    assert!(lines.iter().all(|line| line["method"] != "session/plugins"), "nothing has changed since");
}

#[test]
fn where_nobody_answers_model_calls_the_client_hears_how_to_mend_it() {
    let world = World::with_monitors();
    let mut sidecar = Sidecar::with(&world, [], json!({}));
    let open = json!({"session": "s", "cwd": world.project(), "mode": "rpc", "reason": "new"});
    let (refused, _) = sidecar.request("session/open", open.clone());
    let told = "nobody answers model calls: name a script with --script FILE";
    assert!(refused["error"]["message"].as_str().unwrap().starts_with(told), "{refused}");
    world.write("chaperone.toml", "[llm]\nprovider = \"host\"\n");
    let (refused, _) = sidecar.request("session/open", open);
    assert!(refused["error"]["message"].as_str().unwrap().contains("lends no models"), "{refused}");
}

#[test]
fn wrong_arguments_are_told_before_anybody_depends_on_it() {
    let world = World::new();
    let [_, script] = session("clean-fix");
    assert!(world.fails(1, ["serve", "--script", "none.yaml"]).contains("none.yaml"));
    assert!(world.fails(2, ["serve", "--script", &script, "--provider", "openai"]).contains("provider `script`"));
    assert!(world.fails(2, ["serve", "--max-line-bytes", "many"]).contains("many"));
}

#[test]
fn a_line_that_is_too_long_is_told_and_the_next_one_is_served() {
    let world = World::new();
    let mut sidecar = Sidecar::with(&world, ["--max-line-bytes", "1000"], json!({}));
    sidecar.send(&json!({"jsonrpc": "2.0", "id": "x".repeat(1000), "method": "shutdown"}));
    let told = sidecar.next();
    assert_eq!((&told["id"], &told["error"]["code"]), (&json!(null), &json!(-32600)));
    assert_eq!(told["error"]["message"], "the line is longer than 1000 bytes");
    sidecar.ask("shutdown", json!({}));
}

#[test]
fn what_was_recorded_comes_out_the_same_again() {
    let world = World::with_monitors();
    let [_, script] = session("clean-fix");
    let mut sidecar = Sidecar::with(&world, ["--script", &script, "--record", "recordings"], json!({}));
    for _ in 0..2 {
        sidecar.open("a/b", &world.project(), "resume");
        sidecar.ask("session/event", json!({"session": "a/b", "event": {"input": {"content": [{"text": "Go."}]}}}));
        sidecar.ask("session/command", json!({"session": "a/b", "name": "work-quality"}));
        sidecar.ask("session/quiet", json!({"session": "a/b"}));
        sidecar.ask("session/close", json!({"session": "a/b"}));
    }
    assert!(sidecar.ended().success());
    for number in 1..3 {
        let again = world.chaperone(["replay", &format!("recordings/a_b.{number}.jsonl")]).assert().success();
        let [told, noted] =
            [&again.get_output().stdout, &again.get_output().stderr].map(|it| String::from_utf8_lossy(it));
        assert!(told.ends_with(" hooks, no difference\n") && noted.is_empty(), "{told}{noted}");
    }
}

#[test]
fn the_recording_of_a_sidecar_that_is_killed_has_all_that_was_answered_and_says_that_it_breaks_off() {
    let world = World::with_monitors();
    let mut sidecar = Sidecar::with(&world, ["--record", "recordings"], lending());
    asking(&mut sidecar, &world);
    sidecar.child.kill().unwrap();
    assert!(!sidecar.ended().success());

    let recording = world.read("recordings/s.1.jsonl");
    let last: Value = serde_json::from_str(recording.lines().last().unwrap()).unwrap();
    assert_eq!(last["hook"]["event"]["command"]["name"], "work-quality");
    let again = world.chaperone(["replay", "recordings/s.1.jsonl"]).assert().success();
    let [told, noted] = [&again.get_output().stdout, &again.get_output().stderr].map(|it| String::from_utf8_lossy(it));
    assert!(told.ends_with(" hooks, no difference\n"), "{told}");
    let note = "note: the recording ends without its end: the process that wrote it was killed, or failed\n";
    assert_eq!(noted, note);
}

// Opening

/// A configuration that needs no component, which is told, and none that nobody has compiled.
const NOTHING_TO_LOAD: &str = "[[plugin]]\nname = \"lost\"\ncomponent = \"lost.wasm\"\n";

/// A sidecar whose user has compiled nothing yet.
fn uncompiled(world: &World, home: &World) -> Sidecar {
    let mut command = command(world, ["--record", "recordings"]);
    command.env("XDG_CACHE_HOME", home.project().join("cache"));
    let mut sidecar = Sidecar::of(command);
    let client = json!({"name": "test", "version": "1"});
    let initialize = json!({"protocol_version": 1, "client": client, "capabilities": lending()});
    sidecar.ask("initialize", initialize);
    sidecar
}

fn opening(world: &World) -> Value {
    let open = json!({"session": "slow", "cwd": world.project(), "mode": "rpc", "reason": "new"});
    json!({"jsonrpc": "2.0", "id": "slow", "method": "session/open", "params": open})
}

#[test]
fn while_a_component_is_compiled_other_sessions_are_served() {
    let (world, other, home) = (World::with_monitors(), World::new(), World::new());
    other.write("chaperone.toml", NOTHING_TO_LOAD);
    let mut sidecar = uncompiled(&world, &home);
    sidecar.send(&opening(&world));
    let (_, mut before) = sidecar.open("quick", &other.project(), "new");
    for _ in 0..20 {
        before.extend(sidecar.ask("session/event", json!({"session": "quick", "event": "agent_end"})).1);
    }
    assert!(before.iter().all(|line| line["id"] != "slow"), "{before:?}");
    let lines = sidecar.until(|line| line["id"] == "slow");
    assert_eq!(lines.last().unwrap()["result"]["plugins"][0]["error"], json!(null));
}

#[test]
fn a_session_that_is_given_up_while_a_component_is_compiled_leaves_no_recording() {
    let (world, home) = (World::with_monitors(), World::new());
    let mut sidecar = uncompiled(&world, &home);
    sidecar.send(&opening(&world));
    sidecar.send(&json!({"jsonrpc": "2.0", "method": "$/cancel_request", "params": {"id": "slow"}}));
    assert_eq!(sidecar.next()["error"]["code"], -32800);
    // By then, the component of the first one is there as well.
    sidecar.send(&opening(&world));
    let lines = sidecar.until(|line| line["id"] == "slow");
    assert_ne!(lines.last().unwrap()["result"], json!(null));
    sidecar.ask("shutdown", json!({}));
    let recordings = std::fs::read_dir(world.project().join("recordings")).unwrap();
    let names: Vec<_> = recordings.map(|file| file.unwrap().file_name()).collect();
    assert_eq!(names, ["slow.1.jsonl"]);
}

#[test]
fn a_client_that_exits_does_not_wait_for_a_component_to_be_compiled() {
    let (world, home) = (World::with_monitors(), World::new());
    let mut sidecar = uncompiled(&world, &home);
    sidecar.send(&opening(&world));
    sidecar.send(&json!({"jsonrpc": "2.0", "method": "exit"}));
    assert!(sidecar.ended().success());
    assert_eq!(compiled(&home), 0, "it would have been there");
    let mut sidecar = uncompiled(&world, &home);
    sidecar.send(&opening(&world));
    sidecar.until(|line| line["id"] == "slow");
    assert_eq!(compiled(&home), 2);
}

/// How many components the user has compiled.
fn compiled(home: &World) -> usize {
    let Ok(engines) = std::fs::read_dir(home.project().join("cache/chaperone/components")) else { return 0 };
    let files = engines.flat_map(|engine| std::fs::read_dir(engine.unwrap().path()).unwrap());
    files.filter(|file| file.as_ref().unwrap().path().extension().is_some_and(|it| it == "cwasm")).count()
}

// The end

/// Begins a session with a model call under way.
fn asking(sidecar: &mut Sidecar, world: &World) {
    sidecar.open("s", &world.project(), "new");
    let entry = json!({"id": "a", "timestamp": 0, "body": {"user": [{"text": "Go."}]}});
    sidecar.ask("session/append", json!({"session": "s", "entries": [entry]}));
    sidecar.ask("session/command", json!({"session": "s", "name": "work-quality"}));
    let asked = sidecar.until(|line| line["method"] == "llm/complete");
    assert_eq!(asked.last().unwrap()["params"]["request"]["label"], "work-quality");
}

fn status(lines: &[Value]) -> Option<&str> {
    let effects = lines.iter().map(|line| &line["params"]["effect"]["set_status"]["text"][0]["text"]);
    effects.filter_map(Value::as_str).next_back()
}

#[test]
fn a_sidecar_that_is_killed_has_lost_nothing_when_the_next_one_goes_on() {
    let world = World::with_monitors();
    let mut sidecar = Sidecar::with(&world, [], lending());
    asking(&mut sidecar, &world);
    let (_, lines) = sidecar.ask("session/command", json!({"session": "s", "name": "monitors", "arguments": "off"}));
    let off = status(&lines).unwrap().to_owned();
    // It is not asked, and cannot say a word.
    sidecar.child.kill().unwrap();
    assert!(!sidecar.ended().success());

    let mut sidecar = Sidecar::with(&world, [], lending());
    let (_, lines) = sidecar.open("s", &world.project(), "reload");
    assert_eq!(status(&lines), Some(off.as_str()), "they are still off");
    let told = lines.iter().filter_map(|line| line["params"]["effect"]["notify"]["text"].as_str());
    assert_eq!(told.filter(|text| text.contains("work-quality")).count(), 1, "its judge is given up: {lines:?}");
    let (_, lines) = sidecar.ask("session/command", json!({"session": "s", "name": "monitors", "arguments": "on"}));
    assert_ne!(status(&lines), Some(off.as_str()));
    // The call of the new sidecar has an id of its own.
    sidecar.ask("session/command", json!({"session": "s", "name": "work-quality"}));
    let asked = sidecar.until(|line| line["method"] == "llm/complete").pop().unwrap();
    let completion = json!({"text": "CLEAN", "stop_reason": "stop", "usage": null,
        "model": {"provider": "p", "model": "m"}, "parts": []});
    sidecar.send(&json!({"jsonrpc": "2.0", "id": asked["id"], "result": completion}));
    let judged = sidecar.until(|line| !line["params"]["effect"]["judged"].is_null()).pop().unwrap();
    assert_eq!(judged["params"]["effect"]["judged"]["verdict"], "clean");
}

#[test]
fn the_end_of_stdin_ends_it_also_with_a_model_call_under_way() {
    let world = World::with_monitors();
    let mut sidecar = Sidecar::with(&world, [], lending());
    asking(&mut sidecar, &world);
    assert!(sidecar.ended().success());
}

#[test]
fn exit_ends_it_while_its_pipes_stay_open() {
    let world = World::with_monitors();
    let mut sidecar = Sidecar::with(&world, [], lending());
    asking(&mut sidecar, &world);
    sidecar.ask("shutdown", json!({}));
    sidecar.send(&json!({"jsonrpc": "2.0", "method": "exit"}));
    let _still_open = sidecar.stdin.take();
    assert!(sidecar.ended().success());
}

/// The pipes of a sidecar that is in the middle of a model call, and somebody else's to close.
#[cfg(unix)]
fn in_other_hands(world: &World) -> (Child, std::io::PipeWriter, BufReader<std::io::PipeReader>) {
    let (stdin, mut to_sidecar) = std::io::pipe().unwrap();
    let (from_sidecar, stdout) = std::io::pipe().unwrap();
    let child = command(world, []).stdin(stdin).stdout(stdout).spawn().unwrap();
    let client = json!({"name": "test", "version": "1"});
    for (id, (method, params)) in [
        ("initialize", json!({"protocol_version": 1, "client": client, "capabilities": lending()})),
        ("session/open", json!({"session": "s", "cwd": world.project(), "mode": "rpc", "reason": "new"})),
        ("session/command", json!({"session": "s", "name": "work-quality"})),
    ]
    .into_iter()
    .enumerate()
    {
        writeln!(to_sidecar, "{}", json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})).unwrap();
    }
    let mut reader = BufReader::new(from_sidecar);
    let mut line = String::new();
    while !line.contains("llm/complete") {
        line.clear();
        assert!(reader.read_line(&mut line).unwrap() > 0, "the sidecar asks a model");
    }
    (child, to_sidecar, reader)
}

#[cfg(unix)]
#[test]
fn a_client_that_is_killed_leaves_no_sidecar_behind() {
    let world = World::with_monitors();
    let (sidecar, to_sidecar, from_sidecar) = in_other_hands(&world);
    let mut client =
        Command::new("sleep").arg("600").stdin(from_sidecar.into_inner()).stdout(to_sidecar).spawn().unwrap();
    client.kill().unwrap();
    client.wait().unwrap();
    assert!(wait(sidecar).success());
}

#[cfg(unix)]
#[test]
fn a_client_that_reads_no_more_ends_it_although_stdin_is_open() {
    let world = World::with_monitors();
    let (sidecar, mut to_sidecar, from_sidecar) = in_other_hands(&world);
    drop(from_sidecar);
    writeln!(to_sidecar, "nonsense").unwrap();
    assert!(wait(sidecar).success());
}

// Elsewhere it may have to write something to know.
#[cfg(target_os = "linux")]
#[test]
fn a_client_that_reads_no_more_ends_it_although_nobody_says_anything() {
    let world = World::with_monitors();
    let (sidecar, _to_sidecar, from_sidecar) = in_other_hands(&world);
    drop(from_sidecar);
    assert!(wait(sidecar).success());
}
