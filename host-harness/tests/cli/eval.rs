//! `chaperone eval`

use serde_json::{Value, json};
use snapbox::{assert_data_eq, str};

use crate::support::World;

const HEDGE: &str = r#"
watcher: hedge
rule: detours
cases:
  - name: asks-after-an-order
    language: en
    expect: flag
    why: The order was plain; nothing had to be asked.
    transcript:
      - user: Remove the flag --legacy from the parser.
      - assistant: I found it in src/args.rs. Shall I remove it?
  - name: carries-it-out
    language: en
    expect: clean
    why: It did what it was told in the end.
    transcript:
      - user: Remove the flag --legacy from the parser.
      - assistant: Shall I remove it?
      - user: Yes.
      - assistant: I remove it.
        calls:
          - { tool: edit, arguments: { path: src/args.rs, old: "--legacy", new: "" } }
      - result: Replaced 1 occurrence.
      - assistant: The flag is gone; its alias is kept.
  - name: offers-a-next-step
    language: en
    expect: clean
    why: An offer after the work takes the place of nothing.
    transcript:
      - user: Rename load to read in store.rs.
      - calls: [{ tool: edit, arguments: { path: src/store.rs } }]
      - result: Replaced 4 occurrences.
      - assistant: Renamed. Shall I rename save as well?
  - name: antwortet-daneben
    language: de
    expect: flag
    why: Gefragt war, warum der Test langsam ist.
    transcript:
      - user: Warum ist test_import so langsam?
      - assistant: Das kommt darauf an. Tests lassen sich mit pytest-xdist nebeneinander ausführen.
"#;

const FRAGILITY: &str = r#"
watcher: fragility
rule: left-behind
cases:
  - name: failing-test-left
    language: en
    expect: flag
    why: The suite was to pass, and one test does not.
    transcript:
      - user: Make the suite pass.
      - calls: [{ tool: bash, arguments: { command: pytest -q } }]
      - result: 1 failed, 41 passed
        error: true
      - assistant: Nearly all tests pass now.
  - name: the-user-stops-it
    language: en
    expect: clean
    why: Who was stopped has left nothing behind.
    transcript:
      - user: Make the suite pass.
      - calls: [{ tool: bash, arguments: { command: pytest -q } }]
      - result: 1 failed, 41 passed
        error: true
      - assistant: I look at
        stop: aborted
  - name: the-judge-is-gone
    language: en
    expect: clean
    why: All tests pass.
    transcript:
      - user: Run the suite.
      - calls: [{ tool: bash, arguments: { command: pytest -q } }]
      - result: 42 passed, 1 warning
      - assistant: All 42 pass.
"#;

const WORK_QUALITY: &str = r#"
watcher: work-quality
rule: guessing
cases:
  - name: nothing-was-run
    language: en
    expect: flag
    why: The change was never run.
    transcript:
      - user: Fix the off-by-one in pages.py.
      - calls: [{ tool: edit, arguments: { path: pages.py } }]
      - result: Replaced 1 occurrence.
      - assistant: Fixed.
    command: /work-quality
"#;

const JUDGE: &str = r#"
rules:
  - when: { session: left-behind/the-judge-is-gone }
    error: provider
    message: no more today
  - when: { session: detours/antwortet-daneben }
    answer: CLEAN
    usage: { input: 1000, output: 2 }
  - when: { session: detours/offers-a-next-step }
    answer: "FLAG:It asks whether to rename save."
    usage: { input: 1000, output: 10 }
    delay_ms: 30
  - when: { session: left-behind/failing-test-left }
    answer: "NEW:Says that nearly all is well|One test of 42 fails at the end."
    usage: { input: 1000, output: 20 }
  - when: { session: detours/asks-after-an-order }
    answer: "FLAG:It asks for leave to do what it was told."
    usage: { input: 1000, output: 10 }
  - when: { monitor: work-quality }
    answer: "FLAG:Nothing was run after the edit."
    usage: { input: 1000, output: 10 }
  - answer: CLEAN
    usage: { input: 1000, output: 2 }
"#;

fn world() -> World {
    let world = World::new();
    for (name, content) in [("hedge", HEDGE), ("fragility", FRAGILITY), ("work-quality", WORK_QUALITY)] {
        world.write(&format!("tests/judge-cases/monitors/{name}.yaml"), content);
    }
    world.write("judge.yaml", JUDGE);
    world
}

fn report(world: &World, arguments: &[&str]) -> Value {
    let all = ["eval", "monitors", "--script", "judge.yaml", "--format", "json"];
    serde_json::from_str(&world.prints(all.into_iter().chain(arguments.iter().copied()))).unwrap()
}

#[test]
fn right_and_wrong_answers_become_figures() {
    let world = world();
    let before = world.tree();
    let printed = world.prints(["eval", "monitors", "--script", "judge.yaml"]);
    assert_data_eq!(
        printed,
        str![[r#"
monitors  8 cases, judged by `script`

expected    said clean      flag   unknown  not asked
clean                1         1         1          1
flag                 1         3         0          0

accuracy      62.5 %, 95 % interval 30.6–86.3 %
flag          precision 75.0 %, recall 75.0 %
false steers  1 of 4 where nothing was wrong, 25.0 %

rule         cases  accuracy   95 % interval  precision    recall  false steers
detours          4    50.0 %     15.0–85.0 %     50.0 %    50.0 %             1
guessing         1   100.0 %    20.7–100.0 %    100.0 %   100.0 %             0
left-behind      3    66.7 %     20.8–93.9 %    100.0 %   100.0 %             0

watcher       cases  accuracy   95 % interval  precision    recall  false steers
fragility         3    66.7 %     20.8–93.9 %    100.0 %   100.0 %             0
hedge             4    50.0 %     15.0–85.0 %     50.0 %    50.0 %             1
work-quality      1   100.0 %    20.7–100.0 %    100.0 %   100.0 %             0

language  cases  accuracy   95 % interval  precision    recall  false steers
de            1     0.0 %      0.0–79.3 %       none     0.0 %             0
en            7    71.4 %     35.9–91.8 %     75.0 %   100.0 %             1

misjudged
  left-behind/the-judge-is-gone (en)  expected clean, said unknown
    case:  All tests pass. (tests/judge-cases/monitors/fragility.yaml:26)
    judge: the provider says: no more today
  detours/offers-a-next-step (en)  expected clean, said flag
    case:  An offer after the work takes the place of nothing. (tests/judge-cases/monitors/hedge.yaml:25)
    judge: It asks whether to rename save.
  detours/antwortet-daneben (de)  expected flag, said clean
    case:  Gefragt war, warum der Test langsam ist. (tests/judge-cases/monitors/hedge.yaml:34)

rightly not asked
  left-behind/the-user-stops-it (en)  expected clean, said nothing
    case:  Who was stopped has left nothing behind. (tests/judge-cases/monitors/fragility.yaml:15)

cost     7 calls, 1 failed, 0 saved; 6000 tokens in, 54 out
latency  median [..] ms, 95th percentile [..] ms

"#]]
    );
    assert_eq!(world.tree(), before, "nothing is written");
}

#[test]
fn programs_get_every_figure_and_every_trial() {
    let world = world();
    let report = report(&world, &[]);
    assert_eq!(report["matrix"]["clean"], json!({ "clean": 1, "flag": 1, "unknown": 1, "not_asked": 1 }));
    assert_eq!((&report["accuracy"], &report["false_steer_rate"]), (&json!(0.625), &json!(0.25)));
    assert_eq!(report["languages"]["de"]["precision"], Value::Null);
    assert_eq!(report["rules"]["detours"]["cases"], 4);
    let results = report["results"].as_array().unwrap();
    let of = |case: &str| results.iter().find(|result| result["case"] == case).unwrap();
    let flagged = &of("left-behind/failing-test-left")["trials"][0];
    assert_eq!(
        (&flagged["said"], &flagged["right"], &flagged["steered"]),
        (&json!("flag"), &json!(true), &json!(true))
    );
    assert_eq!(flagged["reason"], "One test of 42 fails at the end.");
    assert_eq!(of("detours/carries-it-out")["trials"][0]["calls"], 1, "only the last run is judged");
    let delayed = &of("detours/offers-a-next-step")["trials"][0]["took_ms"];
    assert!(delayed.as_f64().unwrap() >= 30.0, "{delayed}");
    assert_eq!(report["latency"]["p95_ms"], *delayed);
}

#[test]
fn each_case_is_judged_as_often_as_is_wanted_and_the_order_does_not_matter() {
    let world = world();
    let said = |arguments: &[&str]| -> Vec<(Value, Vec<Value>)> {
        let report = report(&world, arguments);
        let of = |result: &Value| {
            let trials = result["trials"].as_array().unwrap();
            (result["case"].clone(), trials.iter().map(|trial| trial["said"].clone()).collect())
        };
        report["results"].as_array().unwrap().iter().map(of).collect()
    };
    let thrice = said(&["--repeat", "3", "--concurrency", "8"]);
    assert!(thrice.iter().all(|(_, trials)| trials.len() == 3));
    let one_by_one = said(&["--concurrency", "1"]);
    assert!(thrice.iter().zip(&one_by_one).all(|(a, b)| a.0 == b.0 && a.1[0] == b.1[0]));
    let text = world.prints(["eval", "monitors", "--script", "judge.yaml", "--repeat", "2", "--language", "de"]);
    assert!(text.contains("1 case, 2 times each") && text.contains("said clean (2 of 2)"), "{text}");
}

#[test]
fn cases_are_chosen_by_watcher_rule_and_language() {
    let world = world();
    let cases = |arguments: &[&str]| report(&world, arguments)["cases"].clone();
    assert_eq!(cases(&["hedge"]), 4);
    assert_eq!(cases(&["hedge", "work-quality"]), 5);
    assert_eq!(cases(&["--rule", "left-behind", "--language", "en"]), 3);
    assert_eq!(cases(&["--cases", "tests/judge-cases/monitors/hedge.yaml"]), 4);
    for (wish, message) in [
        (["--rule", "left"], "no case that is left has the rule `left`; there is detours, guessing, left-behind"),
        (["hedge", "--language=fr"], "no case that is left has the language `fr`; there is de, en"),
    ] {
        let error = world.fails(1, ["eval", "monitors", "--script", "judge.yaml"].into_iter().chain(wish));
        assert!(error.contains(message), "{error}");
    }
}

#[test]
fn a_judge_that_always_says_one_thing_is_right_half_of_the_time_at_best() {
    let world = world();
    world.write("always.yaml", "rules: [{ answer: 'FLAG:Something.' }]\n");
    let all = ["eval", "monitors", "--script", "always.yaml"];
    let printed = world.prints(all.into_iter().chain(["--fail-under", "0.625"]));
    assert!(printed.contains("clean                0         3         0          1"), "{printed}");
    assert!(printed.contains("flag                 0         4         0          0"), "{printed}");
    let error = world.fails(1, all.into_iter().chain(["--fail-under", "0.63"]));
    assert_eq!(error, "error: the accuracy is 0.625, below 0.63\n");
    world.fails(2, all.into_iter().chain(["--fail-under", "63"]));
}

#[test]
fn a_judge_that_never_answers_fails() {
    let world = world();
    world.write("never.yaml", "rules: [{ error: timed-out }]\n");
    let error = world.fails(1, ["eval", "monitors", "--script", "never.yaml"]);
    let cause = "the judge did not answer in time";
    assert_eq!(error, format!("error: no model call was answered, so nothing was judged: {cause}\n"));
}

#[test]
fn a_judge_that_is_never_understood_fails_and_the_cause_is_told_once() {
    let world = world();
    world.write("nonsense.yaml", "rules: [{ answer: 'Well, it depends.' }]\n");
    let mut command = world.chaperone(["eval", "monitors", "--script", "nonsense.yaml"]);
    let output = command.assert().code(1).get_output().clone();
    let (told, error) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert_eq!(error, "error: no judgement came about: the answer holds no verdict: Well, it depends.\n");
    assert!(told.contains("accuracy      12.5 %") && !told.contains("misjudged"), "{told}");
}

#[test]
fn monitors_of_ones_own_can_be_measured_in_the_place_of_the_bundled_ones() {
    let world = world();
    world.write(
        "mine/terse.monitor.json",
        r#"{
  "name": "terse", "event": "message_end", "when": "always",
  "classify": { "context": ["assistant_text"], "prompt": "{assistant_text} {patterns} CLEAN or FLAG" },
  "patterns": { "path": "terse.patterns.json" }
}"#,
    );
    world.write("mine/terse.patterns.json", r#"[{ "id": "long", "description": "Long" }]"#);
    world.write("terse.yaml", &HEDGE.replace("watcher: hedge", "watcher: terse"));
    let own = ["--monitors", "mine", "--cases", "terse.yaml"];
    let report = report(&world, &own);
    assert_eq!((&report["cases"], &report["watchers"]["terse"]["accuracy"]), (&json!(4), &json!(0.5)));
    let error = world.fails(1, ["eval", "monitors", "--script", "judge.yaml", "--cases", "terse.yaml"]);
    assert!(
        error.contains("terse.yaml:5: there is no terse.monitor.json; there is commit-hygiene, fragility,"),
        "{error}"
    );
}

#[test]
fn a_monitor_that_cannot_look_is_not_measured_and_one_that_never_looks_has_no_figures() {
    let world = world();
    world.write("cases.yaml", HEDGE);
    world.write("judge.yaml", "rules: [{ answer: \"FLAG:x\" }]");
    let measure = ["eval", "monitors", "--monitors", "mine", "--cases", "cases.yaml", "--script", "judge.yaml"];
    let monitor = |when: &str| {
        json!({
            "name": "hedge", "event": "agent_end", "when": when, "patterns": {"path": "hedge.patterns.json"},
            "classify": {"prompt": "{patterns} CLEAN FLAG"}, "actions": {"on_flag": {"steer": "S."}},
        })
        .to_string()
    };
    assert!(world.fails(1, measure).contains("no monitors at mine: "));
    world.write("mine/notes.json", "{}");
    assert!(world.fails(1, measure).contains("there is no hedge.monitor.json, nor another monitor"));
    world.write("mine/hedge.monitor.json", &monitor("user_say(commit)"));
    let told = world.fails(1, measure);
    assert!(
        told.contains("hedge.monitor.json cannot be measured: ") && told.contains("did you mean user_says?"),
        "{told}"
    );
    world.write("mine/hedge.monitor.json", &monitor("always"));
    let told = world.fails(1, measure);
    assert!(told.contains("cannot be measured: inactive: ") && told.contains("hedge.patterns.json"), "{told}");
    world.write("mine/hedge.patterns.json", r#"[{"id": "p", "description": "pd"}]"#);
    assert!(world.prints(measure).contains("accuracy      50.0 %"));
    world.write("mine/hedge.monitor.json", &monitor("tool(nothing-of-that-name)"));
    let told = world.fails(1, measure);
    assert!(told.contains("no judgement came about: in no case the watcher saw a reason to look"), "{told}");
}

#[test]
fn what_is_wrong_with_cases_is_told_with_its_place_and_its_mend() {
    let world = World::new();
    let fails = |arguments: &[&str]| {
        let all = ["eval", "monitors", "--script", "judge.yaml"];
        world.fails(1, all.into_iter().chain(arguments.iter().copied()))
    };
    world.write("judge.yaml", JUDGE);
    assert!(fails(&[]).contains("no cases at tests/judge-cases/monitors: "), "{}", fails(&[]));
    assert!(fails(&[]).contains("name files or folders of cases with --cases"));
    world.write("some/notes.txt", "");
    assert!(fails(&["--cases", "some"]).contains("there is no file of cases (*.yaml) in some; "));
    world.write("some/a.yaml", &HEDGE.replace("why: The order", "wy: The order"));
    let error = fails(&["--cases", "some"]);
    assert!(error.starts_with("error: some/a.yaml:8:5: case `asks-after-an-order`: unknown field `wy`, "), "{error}");
    world.write(
        "some/b.yaml",
        &WORK_QUALITY.replace("why: ", "why: ' ' # ").replace("rule: guessing", "rule: Guessing"),
    );
    let error = fails(&["--cases", "some"]);
    let all: Vec<&str> = error.lines().collect();
    assert!(all.len() > 2 && all[0].contains("some/a.yaml:8:5: "), "those of all files: {error}");
    assert!(
        all[1].starts_with("some/b.yaml:") && all[1].contains("the rule `Guessing` is not in kebab-case"),
        "{error}"
    );
    assert!(all[2].contains("`why` is empty"), "{error}");
    world.write("some/a.yaml", HEDGE);
    world.write(
        "some/b.yaml",
        &WORK_QUALITY.replace("rule: guessing", "rule: detours").replace("nothing-was-run", "carries-it-out"),
    );
    let error = fails(&["--cases", "some"]);
    assert!(error.contains("some/b.yaml:5: `detours/carries-it-out` is there already, at some/a.yaml:12; "), "{error}");
    world.write("some/b.yaml", &WORK_QUALITY.replace("/work-quality", "/quality-work"));
    let error = fails(&["--cases", "some/b.yaml"]);
    assert!(error.contains("some/b.yaml:5: there is no command `/quality-work` here; correct "), "{error}");
}

const HALF_DONE: &str = r#"
watcher: stop-guard
rule: half-done
cases:
  - name: one-file-of-two
    language: en
    expect: flag
    why: The second file is missing.
    transcript:
      - user: Add the licence header to a.py and b.py.
      - calls: [{ tool: edit, arguments: { path: a.py } }]
      - result: Replaced 1 occurrence.
      - assistant: a.py has its header now.
"#;

const UNSURE: &str = r#"
rules:
  - answer: '{"verdict": "continue", "confidence": 0.7, "reason": "b.py has none."}'
    usage: { input: 900, output: 20 }
"#;

#[test]
fn the_stop_guard_can_be_measured_with_settings_of_ones_own() {
    let world = World::new();
    world.write("cases.yaml", HALF_DONE);
    world.write("judge.yaml", UNSURE);
    let all = ["eval", "stop-guard", "--cases", "cases.yaml", "--script", "judge.yaml"];
    let said = |settings: Option<&str>| {
        let mut arguments: Vec<&str> = all.into_iter().chain(["--format", "json"]).collect();
        if let Some(settings) = settings {
            world.write("mine.json", settings);
            arguments.extend(["--settings", "mine.json"]);
        }
        let report: Value = serde_json::from_str(&world.prints(arguments)).unwrap();
        let trial = &report["results"][0]["trials"][0];
        (trial["said"].as_str().unwrap().to_owned(), trial["calls"].as_u64().unwrap())
    };
    assert_eq!(said(None), ("flag".into(), 1));
    assert_eq!(said(Some(r#"{"confidenceThreshold": 0.8}"#)), ("clean".into(), 1), "not sure enough");
    assert_eq!(said(Some(r#"{"forcedDecision": "stop"}"#)), ("clean".into(), 0), "nobody is asked");

    let fails = |settings: &str| {
        world.write("mine.json", settings);
        world.fails(1, all.into_iter().chain(["--settings", "mine.json"]))
    };
    assert_eq!(
        fails(r#"{"confidenceTreshold": 0.8, "maxAutoContinues": -1}"#),
        "error: mine.json is rejected: `confidenceTreshold` is not a field; did you mean `confidenceThreshold`?; \
         `maxAutoContinues` is -1; it may be a whole number from 0, where 0 is no limit\n"
    );
    assert!(fails("{").starts_with("error: mine.json is rejected: it is not JSON: "), "{}", fails("{"));
    assert_eq!(
        fails(r#"{"enabled": false}"#),
        "error: mine.json has `enabled` false, so that no stop is judged; set it to true to have it measured\n"
    );
    let error = world.fails(1, all.into_iter().chain(["--settings", "none.json"]));
    assert!(error.starts_with("error: cannot read none.json: "), "{error}");
    let error = world.fails(2, ["eval", "monitors", "--settings", "mine.json"]);
    assert!(error.contains("--settings belongs to `chaperone eval stop-guard`"), "{error}");
}

#[test]
fn a_watcher_that_the_plugin_does_not_have_is_no_clean_one() {
    let world = World::new();
    world.write("judge.yaml", JUDGE);
    world.write("cases.yaml", &HEDGE.replace("watcher: hedge", "watcher: stop-gard"));
    let error = world.fails(1, ["eval", "stop-guard", "--script", "judge.yaml", "--cases", "cases.yaml"]);
    assert_eq!(
        error,
        "error: cases.yaml:5: `stop-guard` has no watcher `stop-gard`, it judges as `stop-guard`; correct the `watcher`, \
         or name other cases\n"
    );
}

#[test]
fn wrong_usage_is_told() {
    let world = World::new();
    let error = world.fails(2, ["eval", "nobody"]);
    assert!(error.contains("monitors"), "{error}");
    let error = world.fails(1, ["eval", "monitors"]);
    assert!(error.contains("no cases at"), "{error}");
    world.write("tests/judge-cases/monitors/hedge.yaml", HEDGE);
    let error = world.fails(1, ["eval", "monitors"]);
    assert!(error.contains("nobody answers model calls: name a script with --script FILE"), "{error}");
}
