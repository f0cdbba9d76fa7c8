//! `hambo report`: one page about a finished check.

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args;
use hambo_base::Error;
use hambo_base::files::write_whole;
use hambo_base::output::{OutputKind, ensure_output};
use hambo_check::saved_run::SavedRun;
use hambo_report::page;

/// What `hambo report` takes.
#[derive(Args)]
pub struct ReportArguments {
    /// The run, as `hambo check --save` wrote it.
    run: PathBuf,
    /// The page.
    #[arg(short, long, default_value = "report.html")]
    output: PathBuf,
}

/// Writes the page about a run.
///
/// # Errors
/// If the run cannot be read or the page not be written.
pub fn run(arguments: &ReportArguments, out: &mut impl Write) -> Result<(), Error> {
    ensure_output(&arguments.output, OutputKind::Page)?;
    let run = SavedRun::read(&arguments.run)?;
    let size = write(&run, &arguments.output)?;
    let page = arguments.output.display();
    writeln!(out, "saved {page} ({} KiB)", size.div_ceil(1024))?;
    Ok(())
}

/// Writes the page; returns its size.
///
/// # Errors
/// If it cannot be written.
pub fn write(run: &SavedRun, path: &Path) -> Result<usize, Error> {
    let text = page(run);
    write_whole(path, text.as_bytes())?;
    Ok(text.len())
}
