//! `hambo model info`: what a model file holds.

use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use hambo_base::Error;
use hambo_learn::gaussian_process::Smoothness;
use hambo_learn::model_file::{ModelFile, TrainingSummary};

use super::table;
use hambo_console::number::{at_least_one, not_negative};

/// What `hambo model info` takes.
#[derive(Args)]
pub struct ModelInfoArguments {
    /// The model file.
    file: PathBuf,
    /// Lipschitz constant of the reward in state and action; with the two
    /// others, C_n of the theorem is shown (gp).
    #[arg(long, requires_all = ["policy_lipschitz", "horizon"], value_parser = not_negative)]
    reward_lipschitz: Option<f64>,
    /// Lipschitz constant of the policy.
    #[arg(long, requires = "reward_lipschitz", value_parser = not_negative)]
    policy_lipschitz: Option<f64>,
    /// Steps of a trajectory.
    #[arg(long, requires = "reward_lipschitz", value_parser = at_least_one::<usize>)]
    horizon: Option<usize>,
    /// One JSON object instead of the tables.
    #[arg(long)]
    json: bool,
}

/// Prints a model file.
///
/// # Errors
/// If it cannot be read.
pub fn run(arguments: &ModelInfoArguments, out: &mut impl Write) -> Result<(), Error> {
    let file = ModelFile::read(&arguments.file)?;
    let smoothness = arguments
        .reward_lipschitz
        .zip(arguments.policy_lipschitz)
        .zip(arguments.horizon)
        .map(|((reward, policy), horizon)| Smoothness {
            reward,
            policy,
            horizon,
        });
    if smoothness.is_some()
        && !matches!(
            file.metadata().training,
            TrainingSummary::GaussianProcess(_)
        )
    {
        let text = format!(
            "--reward-lipschitz: C_n is of the theorem on Gaussian processes, and {} holds networks\n\
             help: leave the constants out, or fit with --model gp",
            arguments.file.display()
        );
        return Err(Error::Usage(text));
    }
    if arguments.json {
        return table::json(&file, smoothness.as_ref(), None, out);
    }
    let metadata = file.metadata();
    writeln!(
        out,
        "{}: trained by hambo {} with seed {}",
        arguments.file.display(),
        metadata.hambo_version,
        metadata.seed
    )?;
    table::data(metadata, out)?;
    table::training(&file, out)?;
    table::theory(metadata, smoothness.as_ref(), out)?;
    table::calibration(metadata, out)?;
    table::backtest(metadata, out)?;
    table::tested(&file, out)?;
    table::curves(metadata, out)
}
