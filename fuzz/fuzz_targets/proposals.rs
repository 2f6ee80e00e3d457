//! Lists of proposed patterns, and deciding about them.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| chaperone_tests::readers::proposals(bytes));
