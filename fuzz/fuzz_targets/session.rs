//! Session files of pi, their branches, and the steps of those.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| chaperone_tests::readers::session(bytes));
