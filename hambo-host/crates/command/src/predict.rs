//! `hambo predict`: what a model says about the rows of a file, so that
//! anyone can hold it against the data with their own tools.

use std::fmt::Write as _;
use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use hambo_base::Error;
use hambo_base::files::write_whole;
use hambo_base::output::{OutputKind, ensure_output};
use hambo_data::{ColumnNames, Log, read_logs, with_memory, with_return_so_far, wrapped};
use hambo_learn::model_file::ModelFile;
use hambo_learn::prediction::{Predictions, predict};

/// What `hambo predict` takes.
#[derive(Args)]
pub struct PredictArguments {
    /// The model file of `hambo fit`.
    model: PathBuf,
    /// The log, with the model's states and actions: CSV, NPZ, HDF5 or Parquet;
    /// several files count as one, and no episode runs across.
    #[arg(long, required = true, num_args = 1..)]
    data: Vec<PathBuf>,
    /// The table to write (CSV): the log's columns, then `mean.NAME`,
    /// `epistemic_std.NAME` (one standard deviation, before tau and beta) and
    /// `aleatoric_std.NAME` of every next state that the model predicts, and of
    /// `reward` where it has learned that.
    #[arg(short, long)]
    output: PathBuf,
}

/// Writes the predictions.
///
/// # Errors
/// If an input is bad; then nothing is written.
pub fn run(arguments: &PredictArguments, out: &mut impl Write) -> Result<(), Error> {
    ensure_output(&arguments.output, OutputKind::Text)?;
    let file = ModelFile::read(&arguments.model)?;
    let metadata = file.metadata();
    let (states, actions) = (&metadata.state_names, &metadata.action_names);
    let view = &metadata.view;
    let computed = view.memory.len() + usize::from(metadata.learned_reward);
    let own = states.get(..states.len() - computed).unwrap_or(states);
    let names = ColumnNames {
        states: own.to_vec(),
        actions: actions.clone(),
    };
    let log = read_logs(&arguments.data, &names)?;
    let log = wrapped(&log, &view.wraps);
    let predictions = predicted(&file, &log)?;

    let mut text = log.csv_header(own, actions);
    for prefix in ["mean", "epistemic_std", "aleatoric_std"] {
        for place in &view.moved {
            // The difference of the return so far is the reward.
            let name = own.get(*place).map_or("reward", String::as_str);
            let _ = write!(text, ",{prefix}.{name}");
        }
    }
    text.push('\n');
    let tables = [
        &predictions.mean,
        &predictions.epistemic_std,
        &predictions.aleatoric_std,
    ];
    for (place, row) in log.csv_rows().enumerate() {
        text.push_str(&row);
        for table in tables {
            let first = place * view.moved.len();
            for number in table
                .get(first..first + view.moved.len())
                .unwrap_or_default()
            {
                let _ = write!(text, ",{number}");
            }
        }
        text.push('\n');
    }
    write_whole(&arguments.output, text.as_bytes())?;
    writeln!(
        out,
        "saved {} rows in {}",
        log.len(),
        arguments.output.display()
    )?;
    Ok(())
}

/// What a model says of every row of a log whose states are inside their intervals.
///
/// # Errors
/// If the model's own states cannot be computed along it.
pub(crate) fn predicted(file: &ModelFile, log: &Log) -> Result<Predictions, Error> {
    let metadata = file.metadata();
    let view = &metadata.view;
    let mut whole = log.clone();
    if !view.memory.is_empty() {
        whole = with_memory(&whole, view).map_err(Error::Usage)?;
    }
    if metadata.learned_reward {
        whole = with_return_so_far(&whole)?;
    }
    let mut predictions = predict(&file.model()?, &whole, view);
    let moved = view.moved.iter().cycle();
    for (mean, place) in predictions.mean.iter_mut().zip(moved) {
        let wrap = view.wraps.get(*place).copied().flatten();
        *mean = wrap.map_or(*mean, |wrap| wrap.inside(*mean));
    }
    Ok(predictions)
}
