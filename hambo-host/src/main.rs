//! The `hambo` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    hambo_host::command::main()
}
