use chaperone_contract::EntryBody;

use super::*;
use crate::record::Recorder;

/// A recording of sessions without plugins, as whoever wrote it left it.
fn recording(sessions: usize, ends: bool) -> String {
    let path = tempfile::NamedTempFile::new().unwrap();
    let mut recorder = Recorder::create(path.path()).unwrap();
    for number in 0..sessions {
        recorder.session(&format!("session {number}"), Vec::new()).unwrap();
        recorder.entry(&Arc::new(Entry { id: "é".into(), timestamp: 0, body: EntryBody::Other("x".into()) })).unwrap();
        if ends || number + 1 < sessions {
            recorder.end().unwrap();
        }
    }
    std::fs::read_to_string(path.path()).unwrap()
}

fn ending(recording: &[u8]) -> Ending {
    replay(recording, |_| Err("there is none".into())).unwrap().ending
}

fn of_the_first_format(recording: &str) -> String {
    recording.replacen("\"format\":2", "\"format\":1", 1)
}

#[test]
fn a_recording_is_complete_if_its_last_session_has_ended() {
    for sessions in [1, 3] {
        assert_eq!(ending(recording(sessions, true).as_bytes()), Ending::Complete);
        assert_eq!(ending(recording(sessions, false).as_bytes()), Ending::CutOff);
    }
    assert_eq!(ending(recording(0, true).as_bytes()), Ending::CutOff, "there was to be one");
}

#[test]
fn wherever_a_recording_is_cut_what_is_there_is_run_and_the_cut_is_seen() {
    let whole = recording(1, true);
    let head = whole.find('\n').unwrap() + 1;
    for cut in head..whole.len() - 1 {
        assert_eq!(ending(&whole.as_bytes()[..cut]), Ending::CutOff, "{}", &whole[..cut].len());
    }
    assert_eq!(ending(whole.trim_end().as_bytes()), Ending::Complete, "only the end of the line is missing");
}

#[test]
fn the_first_format_does_not_tell_whether_it_is_complete_unless_it_was_cut_within_a_line() {
    let old = of_the_first_format(&recording(1, false));
    assert_eq!(ending(old.as_bytes()), Ending::Unknown);
    assert_eq!(ending(&old.as_bytes()[..old.len() - 5]), Ending::CutOff);
}

#[test]
fn what_is_damaged_elsewhere_is_an_error() {
    let damaged = recording(1, true).replacen("{\"entry\"", "{\"entry", 1);
    let error = replay(damaged.as_bytes(), |_| Err("there is none".into())).unwrap_err();
    assert!(matches!(error, ReplayError::Line { line: 3, .. }), "{error}");
    let later = recording(1, true).replacen("\"format\":2", "\"format\":3", 1);
    let error = replay(later.as_bytes(), |_| Err("there is none".into())).unwrap_err();
    assert_eq!(error.to_string(), "the recording has format 3, this program reads 1 and 2");
    for none in ["", "\n", "{\"entry\":{}}\n"] {
        assert!(matches!(replay(none.as_bytes(), |_| Err(String::new())), Err(ReplayError::NoRecording)));
    }
}
