//! Answers of the stop guard's judge.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| chaperone_tests::readers::stop_verdict(bytes));
