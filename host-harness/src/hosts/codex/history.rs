//! Where the conversation of a session is. A fork's rollout begins where its parent's was left: what came before is in
//! the parent's file, which may be a fork's as well.
//!
//! Places are counted from the first line of all, so that an entry has the same name in a session and in its forks.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::super::transcript::{self, MAX_BYTES, Tail};

/// More files than this are not followed, one from another.
const MAX_FORKS: usize = 32;

/// No first line is longer, in bytes: it holds the instructions of the model.
const MAX_FIRST_LINE: u64 = 1 << 20;

/// Reads the end of the conversation.
///
/// # Errors
/// Where the rollout cannot be read. A parent that is not there is left out.
pub(in super::super) fn read(path: &Path) -> io::Result<Tail> {
    read_up_to(path, u64::MAX, MAX_BYTES, MAX_FORKS)
}

fn read_up_to(path: &Path, end: u64, most: u64, forks: usize) -> io::Result<Tail> {
    let own = transcript::read_up_to(path, end, most)?;
    let Some(base) = base(path)?.filter(|_| forks > 0) else { return Ok(own) };
    let left = if own.start == 0 { most.saturating_sub(own.text.len() as u64) } else { 0 };
    let parent = rollout_of(path, &base.thread_id)
        .and_then(|parent| read_up_to(&parent, base.end_byte_offset, left, forks - 1).ok())
        .unwrap_or(Tail { text: String::new(), start: base.end_byte_offset });
    Ok(match own.start {
        0 => Tail { text: parent.text + &own.text, start: parent.start },
        start => Tail { start: parent.start.saturating_add(parent.text.len() as u64).saturating_add(start), ..own },
    })
}

/// Where a fork's conversation begins.
#[derive(Debug, PartialEq, Deserialize)]
struct Base {
    /// The session that it was forked from.
    thread_id: String,
    /// What of that one's rollout belongs to it as well.
    end_byte_offset: u64,
}

fn base(path: &Path) -> io::Result<Option<Base>> {
    #[derive(Deserialize)]
    struct First {
        payload: Meta,
    }
    #[derive(Deserialize)]
    struct Meta {
        history_base: Option<Base>,
    }
    let mut first = Vec::new();
    BufReader::new(File::open(path)?).take(MAX_FIRST_LINE).read_until(b'\n', &mut first)?;
    Ok(serde_json::from_slice::<First>(&first).ok().and_then(|first| first.payload.history_base))
}

/// The rollout of another session: `sessions/YEAR/MONTH/DAY/rollout-TIME-ID.jsonl`.
fn rollout_of(path: &Path, thread: &str) -> Option<PathBuf> {
    let name_ends = format!("-{thread}.jsonl");
    let mut folders = vec![(path.ancestors().nth(4)?.to_owned(), 3)];
    while let Some((folder, depth)) = folders.pop() {
        for entry in folder.read_dir().into_iter().flatten().flatten() {
            match depth {
                0 if entry.file_name().to_string_lossy().ends_with(&name_ends) => return Some(entry.path()),
                0 => {}
                _ => folders.push((entry.path(), depth - 1)),
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes a rollout of that day, and gives where it is and how long.
    fn rollout(sessions: &Path, day: &str, id: &str, base: Option<(&str, u64)>, rest: &str) -> (PathBuf, u64) {
        let base = base.map(|(thread, end)| serde_json::json!({"thread_id": thread, "end_byte_offset": end}));
        let meta = serde_json::json!({"type": "session_meta", "payload": {"id": id, "history_base": base}});
        let folder = sessions.join("2026").join("11").join(day);
        std::fs::create_dir_all(&folder).unwrap();
        let path = folder.join(format!("rollout-2026-11-{day}T08-00-00-{id}.jsonl"));
        let text = format!("{meta}\n{rest}");
        std::fs::write(&path, &text).unwrap();
        (path, text.len() as u64)
    }

    #[test]
    fn a_fork_goes_on_where_its_parent_was_left_and_places_go_on_as_well() {
        let sessions = tempfile::tempdir().unwrap();
        let (first, left) = rollout(sessions.path(), "29", "a", None, "one\n");
        std::fs::write(&first, std::fs::read_to_string(&first).unwrap() + "later\n").unwrap();
        let (second, length) = rollout(sessions.path(), "30", "b", Some(("a", left)), "two\n");
        let (third, _) = rollout(sessions.path(), "30", "c", Some(("b", length)), "three\n");
        let all = read(&third).unwrap();
        let said: Vec<_> = all.text.lines().filter(|line| !line.starts_with('{')).collect();
        assert_eq!((said, all.start), (vec!["one", "two", "three"], 0));
        let place = |text: &str, tail: &Tail| tail.start + tail.text.find(text).unwrap() as u64;
        assert_eq!(place("two", &read(&second).unwrap()), place("two", &all));

        let end = read_up_to(&third, u64::MAX, 8, MAX_FORKS).unwrap();
        assert_eq!((end.text.as_str(), end.start), ("three\n", place("three", &all)));
        let more = all.text.len() as u64 - 3;
        let more = read_up_to(&third, u64::MAX, more, MAX_FORKS).unwrap();
        assert_eq!((place("one", &more), place("three", &more)), (place("one", &all), place("three", &all)));
    }

    #[test]
    fn a_parent_that_is_gone_is_left_out_and_a_circle_ends() {
        let sessions = tempfile::tempdir().unwrap();
        let (orphan, _) = rollout(sessions.path(), "30", "a", Some(("gone", 700)), "two\n");
        let tail = read(&orphan).unwrap();
        assert!(tail.text.ends_with("\ntwo\n"));
        assert_eq!(tail.start, 700);
        let (odd, _) = rollout(sessions.path(), "30", "o", Some(("gone", u64::MAX)), &"two\n".repeat(9));
        assert_eq!(read_up_to(&odd, u64::MAX, 8, MAX_FORKS).unwrap().start, u64::MAX);
        let (circle, _) = rollout(sessions.path(), "30", "b", Some(("b", 50)), "two\n");
        assert!(read(&circle).unwrap().text.ends_with("\ntwo\n"));
    }
}
