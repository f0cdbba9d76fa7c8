//! `hambo predict`: what a model says about the rows of a file, so that
//! anyone can hold it against the data with their own tools.

use std::fmt::Write as _;
use std::io::Write;
use std::path::PathBuf;

use crate::Error;
use crate::formats::log::{ColumnNames, read_logs, with_return_so_far, wrapped};
use crate::formats::task::logged_states;
use crate::foundation::files::write_whole;
use crate::learn::model_file::ModelFile;
use crate::learn::prediction::predict;
use clap::Args;

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
    /// `aleatoric_std.NAME` of every next state, and of `reward` where the
    /// model has learned it.
    #[arg(short, long)]
    output: PathBuf,
}

/// Writes the predictions.
///
/// # Errors
/// If an input is bad; then nothing is written.
pub fn run(arguments: &PredictArguments, out: &mut impl Write) -> Result<(), Error> {
    let file = ModelFile::read(&arguments.model)?;
    let metadata = file.metadata();
    let (states, actions) = (&metadata.state_names, &metadata.action_names);
    let own = logged_states(states, metadata.learned_reward);
    let names = ColumnNames {
        states: own.to_vec(),
        actions: actions.clone(),
    };
    let log = read_logs(&arguments.data, &names)?;
    let log = wrapped(&log, &metadata.wraps);
    let mut predictions = match metadata.learned_reward {
        true => predict(&file.model()?, &with_return_so_far(&log)?),
        false => predict(&file.model()?, &log),
    };
    let wraps = metadata.wraps.iter().cycle();
    for (mean, wrap) in predictions.mean.iter_mut().zip(wraps) {
        *mean = wrap.map_or(*mean, |wrap| wrap.inside(*mean));
    }

    let mut text = log.csv_header(own, actions);
    for prefix in ["mean", "epistemic_std", "aleatoric_std"] {
        // The difference of the return so far is the reward.
        let reward = metadata.learned_reward.then_some("reward");
        for name in own.iter().map(String::as_str).chain(reward) {
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
            let first = place * states.len();
            for number in table.get(first..first + states.len()).unwrap_or_default() {
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
