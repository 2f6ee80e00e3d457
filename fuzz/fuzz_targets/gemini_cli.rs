//! Chat files of Gemini CLI, and what there is to tell of them.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| chaperone_tests::readers::gemini_cli(bytes));
