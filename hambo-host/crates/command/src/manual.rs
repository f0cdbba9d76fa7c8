//! What a shell and `man` want to know of the command: completions and pages.

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args;
use clap_complete::Shell;
use hambo_base::Error;

/// What `hambo completions` takes.
#[derive(Args)]
pub struct CompletionsArguments {
    /// The shell.
    #[arg(value_enum)]
    shell: Shell,
}

/// What `hambo man` takes.
#[derive(Args)]
pub struct ManArguments {
    /// The folder for the pages; it is created.
    #[arg(short, long)]
    output: PathBuf,
}

/// Prints the script that completes this command in a shell.
///
/// # Errors
/// If it cannot be printed.
pub fn completions(
    arguments: &CompletionsArguments,
    mut command: clap::Command,
    out: &mut impl Write,
) -> Result<(), Error> {
    // Into memory first: the generator panics where a pipe breaks.
    let mut script = Vec::new();
    let name = command.get_name().to_owned();
    clap_complete::generate(arguments.shell, &mut command, name, &mut script);
    Ok(out.write_all(&script)?)
}

/// Writes a page for the command and each subcommand.
///
/// # Errors
/// If the folder cannot be written to.
pub fn man(
    arguments: &ManArguments,
    command: clap::Command,
    out: &mut impl Write,
) -> Result<(), Error> {
    let folder = arguments.output.as_path();
    let written = std::fs::create_dir_all(folder)
        .and_then(|()| clap_mangen::generate_to(command, folder))
        .and_then(|()| pages(folder));
    let pages = written.map_err(|problem| {
        Error::Usage(format!(
            "{}: {problem}\nhelp: give a folder that can be written to",
            folder.display()
        ))
    })?;
    writeln!(
        out,
        "saved {pages} pages in {}; read one with man -l {}",
        folder.display(),
        folder.join("hambo.1").display()
    )?;
    Ok(())
}

fn pages(folder: &Path) -> std::io::Result<usize> {
    let is_page = |path: &Path| path.extension().is_some_and(|end| end == "1");
    let entries = std::fs::read_dir(folder)?.flatten();
    Ok(entries.filter(|entry| is_page(&entry.path())).count())
}
