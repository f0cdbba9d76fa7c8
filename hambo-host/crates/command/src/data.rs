//! `hambo data`: look at logs and convert them.

use std::io::Write;
use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use hambo_base::Error;
use hambo_base::output::{OutputKind, ensure_output};
use hambo_data::{FileEnds, Format, OutputOptions, Summary, read_table};
use hambo_task::task::TaskFile;

/// What `hambo data` does.
#[derive(Subcommand)]
pub enum DataCommand {
    /// Rows, episodes, columns, and what is odd about a log.
    ///
    /// Example: hambo data info hopper.hdf5
    Info(InfoArguments),
    /// Write a log in another format: CSV, NPZ, HDF5 or Parquet, by the end
    /// of OUT's name.
    ///
    /// Example: hambo data convert run1.csv run2.csv log.hdf5 --task task.toml
    Convert(ConvertArguments),
}

/// What `hambo data info` takes.
#[derive(Args)]
pub struct InfoArguments {
    /// Logs: CSV, NPZ, HDF5 (D4RL or Minari) or Parquet; several count as one,
    /// and no episode runs across files.
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// The task that names the states and actions; without it, by the file's
    /// own names, or s0, s1, …, a0, a1, …
    #[arg(long)]
    task: Option<PathBuf>,
    /// One JSON object instead of the table.
    #[arg(long)]
    json: bool,
}

/// What `hambo data convert` takes.
#[derive(Args)]
pub struct ConvertArguments {
    /// The logs, and last the file to write: .csv, .npz, .hdf5 or .parquet.
    #[arg(required = true, num_args = 2.., value_names = ["IN", "OUT"])]
    files: Vec<PathBuf>,
    /// The task that names the states and actions.
    #[arg(long)]
    task: Option<PathBuf>,
    /// How an HDF5 file is laid out.
    #[arg(long, value_enum, default_value_t = Layout::D4rl)]
    layout: Layout,
    /// Smaller and slower: deflate in NPZ, gzip and shuffle in HDF5, zstd in
    /// Parquet.
    #[arg(long)]
    compress: bool,
    /// A file in which nothing says where episodes end is one episode.
    #[arg(long)]
    episode_per_file: bool,
}

/// Layouts of HDF5.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Layout {
    /// One array per part, as D4RL.
    D4rl,
    /// One group per episode, as Minari.
    Minari,
}

/// Runs the subcommand.
///
/// # Errors
/// If a file is unfit; then nothing is written.
pub fn run(command: &DataCommand, out: &mut impl Write) -> Result<(), Error> {
    match command {
        DataCommand::Info(arguments) => info(arguments, out),
        DataCommand::Convert(arguments) => convert(arguments, out),
    }
}

fn info(arguments: &InfoArguments, out: &mut impl Write) -> Result<(), Error> {
    let task = arguments.task.as_ref().map(TaskFile::read).transpose()?;
    let names = task.as_ref().map(TaskFile::names);
    let table = read_table(&arguments.files, names.as_ref())?;
    let wraps = task.map(|task| task.wraps).unwrap_or_default();
    let summary = Summary::new(&table, &wraps);
    if arguments.json {
        let text = serde_json::to_string(&summary).map_err(std::io::Error::from)?;
        writeln!(out, "{text}")?;
    } else {
        write!(out, "{}", summary.text())?;
    }
    Ok(())
}

fn convert(arguments: &ConvertArguments, out: &mut impl Write) -> Result<(), Error> {
    let Some((output, inputs)) = arguments.files.split_last() else {
        return Err(Error::Usage("give a log and the file to write".to_owned()));
    };
    let Some(format) = Format::of_name(output) else {
        let text = format!(
            "{}: the end of the name says no format\nhelp: end it in .csv, .npz, .hdf5 or .parquet",
            output.display()
        );
        return Err(Error::Usage(text));
    };
    let minari = arguments.layout == Layout::Minari;
    if minari && format != Format::Hdf5 {
        let text = "--layout minari is for HDF5: end the file's name in .hdf5";
        return Err(Error::Usage(text.to_owned()));
    }
    ensure_output(output, OutputKind::Log)?;
    let task = arguments.task.as_ref().map(TaskFile::read).transpose()?;
    let names = task.as_ref().map(TaskFile::names);
    let options = OutputOptions {
        format,
        minari,
        compress: arguments.compress,
    };
    let ends = if arguments.episode_per_file {
        FileEnds::OfEpisodes
    } else {
        FileEnds::Marked
    };
    let rows = hambo_data::convert(inputs, names.as_ref(), output, options, ends)?;
    writeln!(out, "saved {rows} rows in {}", output.display())?;
    Ok(())
}
