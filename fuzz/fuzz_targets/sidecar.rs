//! What a client sends to `chaperone serve`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| chaperone_tests::readers::sidecar(bytes));
