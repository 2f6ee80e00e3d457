//! Settings of hosts: putting hooks in, and taking them out.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| chaperone_tests::readers::settings(bytes));
