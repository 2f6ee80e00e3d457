//! Conditions of monitors, on transcripts that hold the same text.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| chaperone_tests::readers::condition(bytes));
