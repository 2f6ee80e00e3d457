//! Lists of known faults, and adding to them.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| chaperone_tests::readers::patterns(bytes));
