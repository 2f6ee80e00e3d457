//! Whether an agent says that it has succeeded.

use super::{Words, contains};

/// Claims, in words.
const CLAIMS: &[&str] = &[
    "test|tests|suite|checks|build|lint .. pass|passes|passed|passing|succeeds|succeeded|green|clean",
    "all .. pass|passes|passed|passing|green",
    "is|are|it's|that's|was|been now|all|fully? fixed|resolved|solved|done|complete|completed|finished|implemented|working|verified",
    "works|work now|again|correctly|properly|fine|perfectly",
    "everything .. works|work|passes|pass|done|fine",
    "^ i|i've|have|has|also|successfully? fixed|implemented|completed|resolved|solved|finished|verified|added|updated|done",
    "successfully",
    "ready to|for merge|use|ship|review|deploy|production",
    "all|we're|i'm done|set",
    "no errors|failures|issues remain|remaining|left",
    // German, French, Spanish
    "erfolgreich|behoben|abgeschlossen|umgesetzt|erledigt",
    "tests .. grün|bestanden|erfolgreich|passent|réussissent|pasan",
    "est|sont|a|ont été? corrigé*|terminé*|résolu*|implémenté*",
    "avec succès",
    "con éxito",
    "está|están|he|queda|ha corregido|corregida|arreglado|arreglada|terminado|completado|completada|implementado|listo|lista",
];

/// Claims of scripts without blanks between words.
const CLAIMS_WITHOUT_BLANKS: &[&str] = &[
    "已修复",
    "已完成",
    "完成了",
    "修复了",
    "全部通过",
    "测试通过",
    "成功",
    "完了しました",
    "修正しました",
    "直しました",
    "すべて通",
    "成功しました",
];

/// What takes a claim back, or makes it no claim yet, where it stands before it.
const RESERVATIONS: &[&str] = &[
    "not",
    "no",
    "never",
    "cannot",
    "can't",
    "couldn't",
    "isn't",
    "aren't",
    "wasn't",
    "weren't",
    "doesn't",
    "don't",
    "didn't",
    "won't",
    "hasn't",
    "haven't",
    "without",
    "unable",
    "if",
    "once",
    "until",
    "unless",
    "before",
    "when",
    "whether",
    "nicht",
    "kein",
    "keine",
    "sobald",
    "wenn",
    "pas",
    "ne",
    "si",
    "cuando",
    "partially",
    "only",
    "half",
];

/// How many words before a claim are looked at.
const REACH: usize = 4;

/// Whether a text says that something is done, works or passes.
pub fn claims_success(text: &str) -> bool {
    let words = Words::of(text);
    let is_taken_back = |found| words.before(found).take(REACH).any(|word| RESERVATIONS.contains(&word));
    let holds_none =
        |found: super::Found| !words.inside(found).any(|word| RESERVATIONS.contains(&word) && word != "no");
    CLAIMS.iter().any(|claim| words.find(claim).any(|found| !is_taken_back(found) && holds_none(found)))
        || CLAIMS_WITHOUT_BLANKS.iter().any(|claim| contains(text, claim))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn claims_of_success_are_recognised() {
        for claim in [
            "All 11 tests pass now.",
            "The bug is fixed.",
            "I've implemented the parser and updated the docs.",
            "Fixed the off-by-one in `cart.py`.",
            "The login works again",
            "Done. Everything works.",
            "The migration ran successfully.",
            "Der Fehler ist behoben.",
            "Le bug est corrigé.",
            "El error está corregido.",
            "问题已修复，测试通过。",
            "修正しました。",
        ] {
            assert!(claims_success(claim), "{claim}");
        }
    }

    #[test]
    fn what_is_denied_conditional_or_only_looks_like_a_claim_is_none() {
        for other in [
            "",
            "The bug is not fixed yet.",
            "The tests do not pass.",
            "I could not get the suite to run; this is unverified.",
            "Once the build is fixed, we can go on.",
            "I will look into it.",
            "Two tests fail.",
            "It doesn't work correctly",
        ] {
            assert!(!claims_success(other), "{other}");
        }
    }
}
