//! The labelled cases of the bundled monitors, with a judge that flags whatever it is asked about: what rules in code
//! keep away from it, and that nothing is kept away that should be flagged.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;

use crate::support::World;

/// It looks when somebody asks for a look: then there is always one, and the judge alone says how it went.
const ON_DEMAND: &str = "work-quality";

/// How the cases of one monitor came out.
#[derive(Default)]
struct Tally {
    cases: usize,
    clean: usize,
    false_steers: usize,
    not_flagged: Vec<String>,
    languages: BTreeMap<String, usize>,
}

fn tallies() -> BTreeMap<String, Tally> {
    let world = World::new();
    world.write("judge.yaml", "rules: [{ answer: \"FLAG:Something is wrong.\" }]");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/judge-cases/monitors").display().to_string();
    let printed = world.prints(["eval", "monitors", "--cases", &folder, "--script", "judge.yaml", "--format", "json"]);
    let report: Value = serde_json::from_str(&printed).unwrap();
    let mut tallies: BTreeMap<String, Tally> = BTreeMap::new();
    for case in report["results"].as_array().unwrap() {
        let tally = tallies.entry(case["watcher"].as_str().unwrap().into()).or_default();
        let [trial] = &case["trials"].as_array().unwrap()[..] else { panic!("one trial: {case}") };
        assert_eq!(trial["failures"], serde_json::json!([]), "{case}");
        tally.cases += 1;
        *tally.languages.entry(case["language"].as_str().unwrap().into()).or_default() += 1;
        if case["expect"] == "clean" {
            tally.clean += 1;
            tally.false_steers += usize::from(trial["steered"] == true);
        } else if trial["said"] != "flag" {
            tally.not_flagged.push(case["case"].as_str().unwrap().into());
        }
    }
    tallies
}

#[test]
fn rules_in_code_keep_false_steers_rare_even_where_the_judge_flags_everything() {
    let tallies = tallies();
    assert_eq!(tallies.len(), 11);
    for (monitor, tally) in &tallies {
        let Tally { cases, clean, not_flagged, languages, .. } = tally;
        assert!(*cases >= 20, "{monitor} has {cases} cases");
        assert!((0.4..=0.6).contains(&(*clean as f64 / *cases as f64)), "{monitor}: {clean} of {cases} are clean");
        assert!(languages.len() > 1, "{monitor} has cases in one language only");
        assert_eq!(not_flagged, &[] as &[String], "a rule in code keeps {monitor} from seeing these");
    }
    let unasked = || tallies.iter().filter(|(monitor, _)| *monitor != ON_DEMAND).map(|(_, tally)| tally);
    let (steers, clean) =
        (unasked().map(|it| it.false_steers).sum::<usize>(), unasked().map(|it| it.clean).sum::<usize>());
    assert!(clean >= 100, "{clean}");
    assert!((steers as f64) < 0.05 * clean as f64, "{steers} false steers in {clean} cases where nothing is wrong");
}
