//! Leaving out of a text what looks like a secret.
//!
//! It errs on the side of leaving out too much: a trace is for people who wonder about a verdict, not for programs.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::{Captures, Regex};

/// What stands in the place of a secret.
pub const REDACTED: &str = "[redacted]";

/// One kind of secret.
struct Rule {
    /// Finds it; what the group `keep` matches stays.
    pattern: &'static str,
    /// Whether the value, in the group `value`, is a secret at all; patterns that name one exactly do not ask.
    doubts: bool,
}

const fn certain(pattern: &'static str) -> Rule {
    Rule { pattern, doubts: false }
}

/// In this order: what has a shape of its own first, then what is named as a secret.
const RULES: &[Rule] = &[
    // Private keys, whole, and as far as they go where their end was cut off.
    certain(r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----[\s\S]*?-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----"),
    certain(r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----(?:\s|\\n|[A-Za-z0-9+/=]{16,})*"),
    // Keys and tokens by the form that their vendors gave them.
    certain(r"\bsk-[A-Za-z0-9_-]{16,}"),
    certain(r"\b[spr]k_(?:live|test)_[A-Za-z0-9]{16,}"),
    certain(r"\bwhsec_[A-Za-z0-9+/=]{16,}"),
    certain(r"\bgh[pousr]_[A-Za-z0-9]{20,}"),
    certain(r"\bgithub_pat_[A-Za-z0-9_]{20,}"),
    certain(r"\bglpat-[A-Za-z0-9_-]{16,}"),
    certain(r"\bxox[a-z]-[A-Za-z0-9-]{10,}"),
    certain(r"\bxapp-[A-Za-z0-9-]{10,}"),
    certain(r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b"),
    certain(r"\bAIza[A-Za-z0-9_-]{30,}"),
    certain(r"\bya29\.[A-Za-z0-9_-]{16,}"),
    certain(r"\bnpm_[A-Za-z0-9]{30,}"),
    certain(r"\bpypi-[A-Za-z0-9_-]{16,}"),
    certain(r"\bhf_[A-Za-z0-9]{20,}"),
    certain(r"\bdop_v1_[a-f0-9]{32,}"),
    certain(r"\bSG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}"),
    // JSON Web Tokens.
    certain(r"\beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?"),
    // Headers that carry a credential, to the end of their line or text.
    certain(r#"(?i)(?P<keep>\b(?:proxy-)?authorization["']?\s*[:=]\s*["']?)[^"'\r\n]+"#),
    certain(r#"(?i)(?P<keep>\b(?:set-)?cookie["']?\s*:\s*["']?)[^"'\r\n]+"#),
    certain(r#"(?i)(?P<keep>\bx-(?:api-key|auth-token|access-token)["']?\s*[:=]\s*["']?)[^"'\s]+"#),
    certain(r"(?i)(?P<keep>\bbearer\s+)[A-Za-z0-9._~+/=-]{16,}"),
    // A password in an address.
    certain(r"(?P<keep>\b[a-z][a-z0-9+.-]*://[^\s/:@]*:)[^\s/@]+(?P<after>@)"),
    // What is called a secret, in code, configuration or JSON.
    Rule {
        pattern: r#"(?ix)
            (?P<keep>
                [a-z0-9_.-]* (?:api_?-?key | secret | passwd | password | passphrase | token | access_?-?key
                    | private_?-?key | credentials?) [a-z0-9_]*
                \\?["']? \s* (?: := | => | [:=] ) \s* \\?["']?
            )
            (?P<value> [^\s"'\\,;<>)]{6,} )"#,
        doubts: true,
    },
];

static COMPILED: LazyLock<Vec<(Regex, bool)>> = LazyLock::new(|| {
    let compile = |rule: &Rule| (Regex::new(rule.pattern).expect("each pattern is tested"), rule.doubts);
    RULES.iter().map(compile).collect()
});

/// The text without what looks like a secret: private keys, keys and tokens of known forms, credentials in headers and
/// addresses, and values of what is called a password, key, token or secret.
pub fn redact(text: &str) -> Cow<'_, str> {
    let mut text = Cow::Borrowed(text);
    for (pattern, doubts) in COMPILED.iter() {
        let replaced = pattern.replace_all(&text, |found: &Captures<'_>| replacement(found, *doubts));
        if let Cow::Owned(replaced) = replaced {
            text = Cow::Owned(replaced);
        }
    }
    text
}

fn replacement(found: &Captures<'_>, doubts: bool) -> String {
    let group = |name| found.name(name).map_or("", |group| group.as_str());
    if doubts && !is_secret(group("value")) {
        return found[0].to_owned();
    }
    format!("{}{REDACTED}{}", group("keep"), group("after"))
}

/// Whether a value that is called a secret may be one, rather than a number, a word of the language, or where it is
/// taken from.
fn is_secret(value: &str) -> bool {
    const WORDS: [&str; 8] = ["string", "String", "undefined", "optional", "required", "number", "boolean", "process"];
    let is_number = value.chars().all(|c| c.is_ascii_digit() || matches!(c, '.' | '_'));
    let is_taken_from_elsewhere = value.starts_with(['$', '{', '[', '(', '&', '*', '<', '%'])
        || value.contains(['(', '['])
        || value.starts_with("process.env")
        || value.starts_with("os.environ")
        || value.contains("[redacted");
    !is_number && !is_taken_from_elsewhere && !WORDS.contains(&value)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Put together here, so that no scanner of sources takes a sample for a secret.
    fn sample(parts: &[&str]) -> String {
        parts.concat()
    }

    #[test]
    fn keys_and_tokens_of_known_forms_are_left_out() {
        let a = "abcdefghijABCDEFGHIJ0123456789abcdefghij";
        let samples = [
            sample(&["sk-", "ant-api03-", a]),
            sample(&["sk-", "proj-", a]),
            sample(&["sk_", "live_", a]),
            sample(&["ghp", "_", a]),
            sample(&["github", "_pat_", a]),
            sample(&["glpat", "-", a]),
            sample(&["xoxb", "-1234-", a]),
            sample(&["AKIA", "IOSFODNN7EXAMPLE"]),
            sample(&["AIza", a]),
            sample(&["npm", "_", a]),
            sample(&["pypi", "-", a]),
            sample(&["hf", "_", a]),
            sample(&["SG", ".", a, ".", a]),
            sample(&["eyJ", a, ".eyJ", a, ".", a]),
        ];
        for secret in samples {
            let text = format!("It ran `curl -u {secret}` and stopped.");
            assert_eq!(redact(&text), "It ran `curl -u [redacted]` and stopped.", "{secret}");
        }
    }

    #[test]
    fn a_private_key_is_left_out_whole_and_also_where_its_end_is_missing() {
        let body = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7\nVJTUt9Us8cKjMzEfYyjiWA4R4";
        for kind in ["", "RSA ", "OPENSSH ", "EC "] {
            let (begin, end) =
                (format!("-----BEGIN {kind}PRIVATE KEY-----"), format!("-----END {kind}PRIVATE KEY-----"));
            assert_eq!(redact(&format!("cat key\n{begin}\n{body}\n{end}\ndone")), "cat key\n[redacted]\ndone");
            let cut = redact(&format!("{begin}\n{body}\nand so on")).into_owned();
            assert!(cut.starts_with("[redacted]") && cut.ends_with("and so on") && !cut.contains("MIIE"), "{cut}");
        }
        let escaped = sample(&[
            "\"key\": \"-----BEGIN PRIVATE KEY-----\\nMIIEvQIBADANBgkqhkiG9w0BAQEF\\n-----END PRIVATE KEY-----\\n\"",
        ]);
        assert!(!redact(&escaped).contains("MIIE"));
    }

    #[test]
    fn credentials_of_headers_and_addresses_are_left_out_and_their_names_stay() {
        for (text, expected) in [
            ("Authorization: Bearer abc.def", "Authorization: [redacted]"),
            ("authorization: Basic dXNlcjpwYXNz\nHost: x", "authorization: [redacted]\nHost: x"),
            ("-H 'Authorization: token 1234' https://x", "-H 'Authorization: [redacted]' https://x"),
            (r#"{"Authorization": "Bearer abc"}"#, r#"{"Authorization": "[redacted]"}"#),
            ("Cookie: a=b; c=d", "Cookie: [redacted]"),
            ("x-api-key: 12ab", "x-api-key: [redacted]"),
            ("with bearer abcdefghijklmnopq!", "with bearer [redacted]!"),
            ("git clone https://me:pw1@host/x", "git clone https://me:[redacted]@host/x"),
            ("postgres://app:s3cret@db:5432/x", "postgres://app:[redacted]@db:5432/x"),
        ] {
            assert_eq!(redact(text), expected);
        }
    }

    #[test]
    fn what_is_called_a_secret_is_left_out() {
        for (text, expected) in [
            ("OPENAI_API_KEY=abcdef123456", "OPENAI_API_KEY=[redacted]"),
            ("export DB_PASSWORD='hunter2hunter2'", "export DB_PASSWORD='[redacted]'"),
            (r#""client_secret": "abcdefgh","#, r#""client_secret": "[redacted]","#),
            (r#"{\"apiKey\":\"abcdefgh\"}"#, r#"{\"apiKey\":\"[redacted]\"}"#),
            ("password: correcthorse", "password: [redacted]"),
            ("auth.token => abc-def-ghi", "auth.token => [redacted]"),
        ] {
            assert_eq!(redact(text), expected);
        }
    }

    #[test]
    fn what_is_none_stays_as_it_is() {
        for text in [
            "The token bucket allows 10 requests.",
            "max_tokens: 1500000",
            "password = process.env.DB_PASSWORD",
            "token = getToken()",
            "const secret: string = read()",
            "API_KEY=$OPENAI_API_KEY",
            "It left a test failing: test_keyboard (see https://host:8080/x).",
            "tokens in: 4,100, tokens out: 20",
            "the author: someone",
            "-----BEGIN CERTIFICATE-----\nMIIE\n-----END CERTIFICATE-----",
        ] {
            assert_eq!(redact(text), text);
        }
    }

    proptest! {
        #[test]
        fn no_text_breaks_it_and_twice_is_once(text in "[ -~\n]{0,200}") {
            let once = redact(&text).into_owned();
            let twice = redact(&once).into_owned();
            prop_assert_eq!(&twice, &once);
        }
    }
}
