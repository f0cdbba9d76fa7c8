//! The `hambo` command.

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use hambo_host::demo::{self, DemoOptions};

/// Know, before a controller drives a robot, how badly it could go.
#[derive(Parser)]
#[command(name = "hambo", version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// The whole story on PointSafety: log, fit, check pi_1.1 and pi_1.6 on
    /// the host and on the device, study and picture.
    ///
    /// Example: hambo demo --firmware hambo-gate --output demo-output
    Demo {
        /// The firmware's ELF file, as `cargo xtask firmware` prints it;
        /// without it nothing runs on the device.
        #[arg(long)]
        firmware: Option<PathBuf>,
        /// Folder for the log, the model, the images and the pictures.
        #[arg(long, default_value = "demo-output")]
        output: PathBuf,
        /// Seed of the log, the training and the check.
        #[arg(long, default_value_t = 0)]
        seed: u64,
    },
}

/// Exit code for bad usage and bad input.
const BAD_INPUT: u8 = 2;

fn main() -> ExitCode {
    let Command::Demo {
        firmware,
        output,
        seed,
    } = Arguments::parse().command;
    let options = DemoOptions {
        output,
        firmware,
        seed,
    };
    let mut out = io::stdout().lock();
    match demo::run(&options, &mut out).and_then(|()| Ok(out.flush()?)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("hambo: {error}");
            ExitCode::from(BAD_INPUT)
        }
    }
}
