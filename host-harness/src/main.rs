//! The `chaperone` program.

use std::process::ExitCode;

fn main() -> ExitCode {
    chaperone::cli::main()
}
