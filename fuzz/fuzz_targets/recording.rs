//! Recordings, of which no plugin can be loaded.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| chaperone_tests::readers::recording(bytes));
