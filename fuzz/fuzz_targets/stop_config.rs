//! The stop guard's configuration.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| chaperone_tests::readers::stop_config(bytes));
