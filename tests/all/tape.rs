//! A recording in memory.

use std::io::Write;
use std::sync::{Arc, Mutex};

/// Can be read while somebody else still holds the writer.
#[derive(Clone, Default)]
pub struct Tape(Arc<Mutex<Vec<u8>>>);

impl Tape {
    /// What was written so far.
    pub fn content(&self) -> Vec<u8> {
        self.0.lock().unwrap().clone()
    }
}

impl Write for Tape {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
