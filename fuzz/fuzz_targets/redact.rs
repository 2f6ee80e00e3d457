//! Texts that may hold secrets.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| chaperone_tests::readers::redact(bytes));
