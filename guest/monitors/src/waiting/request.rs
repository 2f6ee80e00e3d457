//! What the user asked for: a look, a plan, or a change.

use crate::phrases::{Found, Words};

/// How many characters of the beginning of a message are looked at.
const BEGINNING: usize = 6000;

/// Verbs that order a change.
const CHANGES: &[&str] = &[
    "fix",
    "repair",
    "add",
    "implement",
    "refactor",
    "rename",
    "remove",
    "delete",
    "write",
    "create",
    "build",
    "make",
    "update",
    "port",
    "migrate",
    "replace",
    "move",
    "extract",
    "convert",
    "install",
    "commit",
    "push",
    "merge",
    "apply",
    "edit",
    "modify",
    "correct",
    "clean",
    "solve",
    "resolve",
    "improve",
    "bump",
    "upgrade",
    "generate",
    "change",
    "proceed",
    "execute",
    "rewrite",
    "restore",
    "revert",
    "deploy",
    "release",
    "finish",
    "continue",
    "optimize",
    "optimise",
    "simplify",
    "split",
    "introduce",
    "use",
    "set",
    "put",
    "drop",
    "wire",
    "patch",
    "behebe",
    "ändere",
    "füge",
    "erstelle",
    "implementiere",
    "schreibe",
    "lösche",
    "ersetze",
    "repariere",
    "korrigiere",
    "corrige",
    "ajoute",
    "modifie",
    "supprime",
    "remplace",
    "implémente",
    "crée",
    "arregla",
    "añade",
    "agrega",
    "modifica",
    "elimina",
    "reemplaza",
    "crea",
];

/// Before a verb, these make it a noun.
const DETERMINERS: &[&str] = &[
    "the",
    "a",
    "an",
    "this",
    "that",
    "these",
    "those",
    "my",
    "your",
    "our",
    "his",
    "her",
    "its",
    "their",
    "last",
    "recent",
    "proposed",
    "suggested",
    "each",
    "every",
    "of",
    "for",
    "which",
    "latest",
    "new",
    "in",
    "by",
];

/// In the same sentence before a verb, these take the order away.
const NEGATIONS: &[&str] = &[
    "don't", "not", "never", "no", "without", "nothing", "avoid", "before", "dont", "until", "nichts", "nicht", "ohne",
    "ne", "pas", "sans", "rien", "no", "sin", "nada",
];

/// Before `to`, these make what follows an order.
const WISHES: &[&str] =
    &["want", "need", "like", "you", "have", "us", "me", "please", "ask", "asked", "going", "try", "continue", "sure"];

/// Nothing is to be changed.
const RESTRICTIONS: &[&str] = &[
    "don't|not|never|dont need|have? to? fix|change|edit|modify|touch|alter|write|implement|repair|commit|make|do anything|any|code|files|it|them|yet|changes|things !else|other",
    "without|no|not fixing|changing|editing|modifying|touching|altering|writing|implementing|making anything|any|code|files|it|them|changes|things !else|other",
    "no|without|zero code|file? changes|edits|modifications",
    "read|review|report|analysis|investigation|audit|diagnosis only",
    "only|just|merely|simply report|review|look|list|tell|explain|analyse|analyze|describe|summarize|summarise|investigate|check|inspect|diagnose|audit|answer|show|read|want|say",
    "nichts|nicht .. ändern|ändere|anfassen|reparieren",
    "ohne .. ändern|änderungen",
    "nur|lediglich ansehen|anschauen|berichten|prüfen|erklären|bericht",
    "sans .. modifier|changer|toucher",
    "ne modifie|change|touche|corrige|modifiez|changez rien|pas",
    "sin .. modificar|cambiar|tocar",
    "no modifiques|cambies|toques|arregles nada",
];

const RESTRICTIONS_WITHOUT_BLANKS: &[&str] = &[
    "不要修改",
    "不要改",
    "别改",
    "不要动",
    "只看",
    "仅审查",
    "只需要报告",
    "只报告",
    "只读",
    "修正しないで",
    "変更しないで",
    "直さないで",
    "報告だけ",
    "レビューだけ",
];

/// How a request for a look begins.
const LOOKS: &[&str] = &[
    "review",
    "audit",
    "explain",
    "summarise",
    "summarize",
    "describe",
    "analyse",
    "analyze",
    "investigate",
    "inspect",
    "diagnose",
    "report",
    "list",
    "assess",
    "evaluate",
    "tell",
    "compare",
    "what",
    "what's",
    "why",
    "how",
    "where",
    "which",
    "who",
    "when",
    "is",
    "are",
    "does",
    "do",
    "did",
    "was",
    "were",
    "has",
    "have",
    "show",
    "erkläre",
    "prüfe",
    "warum",
    "was",
    "wie",
    "wo",
    "welche",
    "explique",
    "pourquoi",
    "comment",
    "explica",
    "revisa",
    "por",
    "qué",
];

/// Before it, these say nothing.
const COURTESIES: &[&str] = &[
    "please", "can", "could", "would", "will", "you", "hi", "hello", "hey", "first", "ok", "okay", "now", "so", "and",
    "then", "just", "only", "bitte", "kannst", "du", "peux", "tu", "puedes", "thanks", "i'd", "like", "to", "me",
];

/// A plan is asked for.
const PLANS: &[&str] = &[
    "plan|proposal|design|outline|planning only|mode|first",
    "only|just a|the? plan|planning|propose|outline|design|sketch|proposal",
    "make|write|create|draft|give|propose|prepare|outline|develop|produce|suggest|show|present|need|want me|us|up? a|an|the|your? .. plan|proposal|design|approach|roadmap",
    "come up with a|an .. plan|proposal|design|approach",
    "^ plan|design|propose|outline",
    "how would|should you|we|i .. approach|implement|do|design|solve|build",
    "before|until .. implement|implementing|coding|code|change|changing|touch|touching|start|starting",
    "erstelle|mach|schreibe .. plan|entwurf|konzept",
    "fais|propose|écris|rédige .. plan",
    "haz|propón|escribe .. plan",
];

const PLANS_WITHOUT_BLANKS: &[&str] =
    &["先给出方案", "制定计划", "写一个计划", "先规划", "只要方案", "計画を立て", "計画だけ", "まず計画", "方針だけ"];

/// Whether a message asks to be told something, and for nothing to be changed.
pub fn is_review(message: &str) -> bool {
    let message = beginning(message);
    let words = Words::of(message);
    let begins_with_look =
        words.first().find(|word| !COURTESIES.contains(word)).is_some_and(|word| LOOKS.contains(&word));
    let is_restricted = words.match_any(RESTRICTIONS) || holds(message, RESTRICTIONS_WITHOUT_BLANKS);
    (is_restricted || begins_with_look) && orders(&words).next().is_none()
}

/// Whether a message asks for a plan, and for nothing to be changed yet.
pub fn is_plan(message: &str) -> bool {
    let message = beginning(message);
    let words = Words::of(message);
    let planned: Vec<Found> = PLANS.iter().flat_map(|pattern| words.find(pattern)).collect();
    let is_asked = !planned.is_empty() || holds(message, PLANS_WITHOUT_BLANKS);
    is_asked && orders(&words).all(|order| planned.iter().any(|plan| plan.holds(order)))
}

/// The verbs that order a change.
fn orders(words: &Words) -> impl Iterator<Item = Found> {
    words.each().filter(|(_, word)| CHANGES.contains(word)).map(|(found, _)| found).filter(|&found| {
        let before: Vec<&str> = words.before(found).collect();
        let is_noun = before.first().is_some_and(|word| DETERMINERS.contains(word));
        let is_negated = before.iter().take(8).enumerate().any(|(at, word)| {
            // "If not, delete it" is an order.
            NEGATIONS.contains(word) && before.get(at + 1) != Some(&"if")
        }) || words.after(found).is_some_and(|word| matches!(word, "no" | "nothing"));
        let is_infinitive = before.first() == Some(&"to") && !before.get(1).is_none_or(|word| WISHES.contains(word));
        !(is_noun || is_negated || is_infinitive)
    })
}

fn holds(message: &str, phrases: &[&str]) -> bool {
    phrases.iter().any(|phrase| message.contains(phrase))
}

fn beginning(message: &str) -> &str {
    message.char_indices().nth(BEGINNING).map_or(message, |(end, _)| &message[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_look_is_asked_for_where_nothing_is_to_be_changed() {
        for message in [
            "Review the last commit.",
            "Please run the tests and report what fails. Don't fix anything.",
            "Can you explain how the cache works?",
            "Why does test_release fail?",
            "Look at the parser, but make no changes.",
            "Just tell me what is wrong with the build.",
            "List the places where the price could be rounded wrongly",
            "Read-only, please: where do we open the file?",
            "Prüfe den Parser. Bitte nichts ändern.",
            "Explique pourquoi le test échoue, sans rien modifier.",
            "检查一下这个模块，不要修改代码。",
            "このコードをレビューしてください。変更しないでください。",
        ] {
            assert!(is_review(message), "{message}");
        }
    }

    #[test]
    fn who_orders_a_change_wants_more_than_a_look() {
        for message in [
            "",
            "Fix the parser. Don't change anything else.",
            "Review the code and fix what you find.",
            "Run the tests and make them pass",
            "I want you to rename the function",
            "Explain the bug, then repair it.",
            "Is `legacy_hash` still used anywhere? If not, delete it and its tests.",
            "continue",
            "The suite fails.",
        ] {
            assert!(!is_review(message), "{message}");
        }
    }

    #[test]
    fn a_plan_is_asked_for_where_it_is_not_to_be_carried_out_yet() {
        for message in [
            "Make a plan for moving the orders to Postgres. Don't implement anything yet.",
            "Plan the migration first, no code.",
            "How would you approach the caching problem?",
            "Give me a proposal before you change anything.",
            "Erstelle einen Plan für den Umbau.",
            "先给出方案，不要写代码",
        ] {
            assert!(is_plan(message), "{message}");
        }
        for message in
            ["", "Make a plan and implement it.", "Implement the plan.", "Fix the design.", "Write the parser"]
        {
            assert!(!is_plan(message), "{message}");
        }
    }
}
