//! One line of an answer.

use super::Stated;

/// Words that take back a `CLEAN` before them.
const RESERVATIONS: [&str; 5] = ["but", "except", "however", "unless", "up"];

/// What a line states: at its beginning, and behind one of its sentences, such as `It lied. FLAG:lied`. Both are there
/// only where it begins with `CLEAN`.
///
/// `following` are the lines behind it: the description of a fault may begin on the next one.
pub fn read(line: &str, following: &[&str]) -> impl Iterator<Item = Stated> {
    let beginning = at_beginning(line, following);
    let is_settled = beginning.as_ref().is_some_and(|stated| *stated != Stated::Clean);
    let behind = if is_settled { None } else { behind_sentence(line, following) };
    beginning.into_iter().chain(behind)
}

fn at_beginning(line: &str, following: &[&str]) -> Option<Stated> {
    let line = Decorated::new(line);
    if let Some(rest) = line.after_keyword("CLEAN") {
        return is_clean(&line, rest).then_some(Stated::Clean);
    }
    if let Some(rest) = line.after_keyword("FLAG") {
        let description = or_next_line(line.description(rest)?, following);
        return Some(Stated::Flag(unbracketed(description).into()));
    }
    let rest = line.after_keyword("NEW")?;
    let text = or_next_line(line.description(rest)?, following);
    let (pattern, description) = text.split_once('|').unwrap_or((text, text));
    Some(Stated::New(unbracketed(pattern).into(), unbracketed(description).into()))
}

/// The first verdict behind the end of a sentence. Only capitals count there, and `CLEAN` only as the last word.
fn behind_sentence(line: &str, following: &[&str]) -> Option<Stated> {
    line.match_indices(['.', '!', '?', ':']).find_map(|(at, mark)| {
        let rest = &line[at + mark.len()..];
        if !rest.starts_with(char::is_whitespace) {
            return None;
        }
        let rest = rest.trim_start();
        let words = Decorated::new(rest).text;
        match words {
            _ if words.starts_with("CLEAN") => {
                let is_last = !words["CLEAN".len()..].contains(char::is_alphanumeric);
                at_beginning(rest, following).filter(|_| is_last)
            }
            _ if words.starts_with("FLAG") || words.starts_with("NEW") => at_beginning(rest, following),
            _ => None,
        }
    })
}

/// A line without what stands before its first word: list markers, quotation marks, emphasis.
struct Decorated<'l> {
    text: &'l str,
    /// What closes the marks that stand directly before the first word.
    closing: String,
}

impl<'l> Decorated<'l> {
    fn new(line: &'l str) -> Self {
        let is_mark = |c: char| !c.is_alphanumeric();
        let mut text = line.trim_start_matches(is_mark);
        let unnumbered = text.trim_start_matches(|c: char| c.is_ascii_digit());
        if unnumbered.len() < text.len() && unnumbered.starts_with(['.', ')']) {
            text = unnumbered.trim_start_matches(is_mark);
        }
        let decoration = &line[..line.len() - text.len()];
        let opening = decoration.rsplit(char::is_whitespace).next().unwrap_or_default();
        Self { text, closing: opening.chars().rev().map(closing).collect() }
    }

    /// What follows a keyword that the text begins with, in whatever case, as a word of its own.
    fn after_keyword(&self, keyword: &str) -> Option<&'l str> {
        let (head, rest) = self.text.split_at_checked(keyword.len())?;
        let goes_on = rest.starts_with(char::is_alphanumeric)
            || rest.strip_prefix('_').is_some_and(|rest| rest.starts_with(char::is_alphanumeric));
        (head.eq_ignore_ascii_case(keyword) && !goes_on).then_some(rest)
    }

    /// A text without the marks that close the decoration, if it begins with them.
    fn closed(&self, text: &'l str) -> Option<&'l str> {
        if self.closing.is_empty() { None } else { text.strip_prefix(self.closing.as_str()) }
    }

    /// What follows `FLAG` or `NEW`: nothing; or behind a colon, a dash, or closing marks, a description.
    fn description(&self, rest: &'l str) -> Option<&'l str> {
        let closed = self.closed(rest);
        let rest = closed.unwrap_or(rest);
        let marked = rest.trim_start();
        let separator = ['：', '–', '—', ':'].into_iter().find_map(|mark| marked.strip_prefix(mark));
        let dash = || marked.strip_prefix('-').filter(|after| marked.len() < rest.len() || after.starts_with(' '));
        let spaced = || (closed.is_some() && marked.len() < rest.len()).then_some(marked);
        let nothing = || marked.is_empty().then_some(marked);
        let text = separator.or_else(dash).or_else(spaced).or_else(nothing)?;
        let text = match closed {
            Some(_) => text,
            None => self.closed(text).or_else(|| text.trim_end().strip_suffix(self.closing.as_str())).unwrap_or(text),
        };
        Some(text.trim())
    }
}

/// Whether `CLEAN` and what follows it state that nothing is wrong. In small letters it needs a mark behind it, since
/// `Clean code is rare` is prose; a question mark, or a word that goes on or takes it back, takes its meaning away.
fn is_clean(line: &Decorated, rest: &str) -> bool {
    let rest = line.closed(rest).unwrap_or(rest);
    let remark = rest.trim_start();
    if rest.starts_with('-') || remark.starts_with('?') {
        return false;
    }
    let first_word: String =
        remark.chars().skip_while(|c| !c.is_alphanumeric()).take_while(|c| c.is_alphanumeric()).collect();
    let is_taken_back = RESERVATIONS.iter().any(|word| first_word.eq_ignore_ascii_case(word));
    let is_marked = !remark.starts_with(char::is_alphanumeric);
    !is_taken_back && (is_marked || line.text.starts_with("CLEAN"))
}

fn or_next_line<'l>(description: &'l str, following: &[&'l str]) -> &'l str {
    let begins_with_verdict = |line: &str| {
        let line = Decorated::new(line);
        ["CLEAN", "FLAG", "NEW"].iter().any(|keyword| line.after_keyword(keyword).is_some())
    };
    match following.first() {
        Some(next) if description.is_empty() && !begins_with_verdict(next) => next,
        _ => description,
    }
}

/// A text without the pointed brackets of the form that the judge was given, `FLAG:<description>`.
fn unbracketed(text: &str) -> &str {
    let text = text.trim();
    let inside = text.strip_prefix('<').and_then(|text| text.strip_suffix('>'));
    inside.filter(|inside| !inside.contains(['<', '>'])).unwrap_or(text)
}

fn closing(mark: char) -> char {
    match mark {
        '(' => ')',
        '[' => ']',
        '<' => '>',
        '“' => '”',
        '‘' => '’',
        '«' => '»',
        mark => mark,
    }
}
