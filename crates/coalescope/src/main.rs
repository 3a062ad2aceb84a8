//! The `coalescope` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    coalescope::main()
}
