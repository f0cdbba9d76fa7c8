//! The flags that every subcommand takes: how much is said, on how many threads, and
//! where defaults come from.

use std::io;
use std::path::PathBuf;

use anstream::{AutoStream, ColorChoice};
use clap::{ArgAction, Args};
use hambo_base::Error;
use rayon::ThreadPoolBuilder;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt::format::FmtSpan;
use tracing_subscriber::fmt::time::uptime;
use tracing_subscriber::prelude::*;

use hambo_console::line::Line;
use hambo_console::number::at_least_one;

/// More than any machine has; a pool of millions would only be set up for ever.
const MOST_THREADS: usize = 1024;

/// What every subcommand takes.
#[derive(Args)]
#[command(next_help_heading = "Everywhere")]
pub struct GlobalArguments {
    /// No progress: only results and errors.
    #[arg(short, long, global = true)]
    quiet: bool,
    /// Say on stderr what is read, how large it is and how long it takes; -vv says more.
    /// RUST_LOG chooses more finely.
    #[arg(short, long, global = true, action = ArgAction::Count)]
    verbose: u8,
    /// Threads of the work [default: one for each processor].
    #[arg(long, global = true, value_name = "N", value_parser = at_least_one::<usize>)]
    threads: Option<usize>,
    /// The file with defaults for flags [default: hambo.toml here, or in the user's
    /// configuration folder].
    // Read before the flags are known; here for the help and the parser.
    #[arg(long, global = true, value_name = "FILE")]
    config: Option<PathBuf>,
}

impl GlobalArguments {
    /// Sets up the process.
    ///
    /// # Errors
    /// If flags contradict each other, or there are no threads to be had.
    pub fn start(&self) -> Result<(), Error> {
        if self.quiet && self.verbose > 0 {
            let text = "--quiet and --verbose contradict each other\nhelp: give one of them";
            return Err(Error::Usage(text.to_owned()));
        }
        if self.quiet || self.verbose > 0 {
            // Lines of a trace would tear a line that moves.
            Line::hide();
        }
        if let Some(filter) = self.filter() {
            let coloured = AutoStream::choice(&io::stderr()) != ColorChoice::Never;
            let lines = tracing_subscriber::fmt::layer()
                .with_writer(io::stderr)
                .with_ansi(coloured)
                .with_timer(uptime())
                .with_target(self.verbose > 1)
                .with_span_events(FmtSpan::CLOSE);
            let lines = lines.with_filter(filter);
            // It fails only if there is one already, and there is none.
            let _ = tracing_subscriber::registry().with(lines).try_init();
        }
        if let Some(threads) = self.threads {
            if threads > MOST_THREADS {
                let text = format!("--threads {threads}: give 1 to {MOST_THREADS}");
                return Err(Error::Usage(text));
            }
            let pool = ThreadPoolBuilder::new().num_threads(threads);
            pool.build_global().map_err(|problem| {
                Error::Usage(format!(
                    "--threads {threads}: {problem}\nhelp: give a smaller number"
                ))
            })?;
        }
        Ok(())
    }

    /// What is traced, if anything.
    fn filter(&self) -> Option<Targets> {
        use tracing::level_filters::LevelFilter;
        if self.quiet {
            return None;
        }
        let chosen = std::env::var("RUST_LOG").ok();
        // One that is meant for other programs may be in another language.
        if let Some(Ok(filter)) = chosen.map(|text| text.parse::<Targets>()) {
            return Some(filter);
        }
        let level = match self.verbose {
            0 => return None,
            1 => LevelFilter::INFO,
            2 => LevelFilter::DEBUG,
            _ => LevelFilter::TRACE,
        };
        let targets = ["hambo", "hambo_host"];
        Some(Targets::new().with_targets(targets.map(|target| (target, level))))
    }
}
