//! `hambo floor`: what a robot asks of every bundle, whatever the bundle says of itself.

use std::io::Write;
use std::path::PathBuf;

use clap::Args;

use super::board::Board;
use super::device_effort::DeviceEffort;
use super::key::signing_key;
use hambo_base::Error;
use hambo_base::files::write_whole;
use hambo_base::output::{OutputKind, ensure_output};
use hambo_base::refused::shortfall_text;
use hambo_check::case::{ensure_model_fits, first_states};
use hambo_check::demand::Demand;
use hambo_check::floor::{FloorOptions, blindest, robot_floor};
use hambo_console::number::whole;
use hambo_core::image::Role;
use hambo_core::task::Method;
use hambo_data::read_task_logs;
use hambo_learn::model_file::ModelFile;
use hambo_learn::monitor::settings;
use hambo_task::signing::sign;
use hambo_task::task::{Initial, TaskFile};

/// What `hambo floor` takes.
#[derive(Args)]
pub struct FloorArguments {
    /// The task file (TOML): its threshold, delta, horizon, reward, limits, starts and
    /// constraints are what every bundle must ask at least.
    task: PathBuf,
    /// A model file of `hambo fit` for this task.
    #[arg(long)]
    model: PathBuf,
    /// A log of this very robot: 256 of its transitions are kept, and a model whose set
    /// does not hold them is refused.
    #[arg(long, required = true, num_args = 1..)]
    data: Vec<PathBuf>,
    /// The robot's name.
    #[arg(long, default_value = "robot")]
    robot: String,
    /// The board.
    #[arg(long, default_value = "stm32f405")]
    board: String,
    /// The least counter of a bundle: older ones are refused.
    #[arg(long, default_value_t = 0, value_parser = whole::<u32>)]
    counter: u32,
    /// The least width of the adversary's set in epistemic standard deviations; by default
    /// that of the model's own set, in the state in which it is narrowest.
    #[arg(long)]
    beta: Option<f32>,
    #[command(flatten)]
    effort: DeviceEffort,
    /// A bundle must bring a fallback controller.
    #[arg(long)]
    require_fallback: bool,
    /// How many times as wide as this model's the noise of a bundle's model may be.
    #[arg(long, default_value_t = 2.0)]
    noise_factor: f32,
    /// The least alpha of a bundle's monitor: a smaller one waits for more surprises.
    #[arg(long, default_value_t = 0.001)]
    alpha: f32,
    /// The key that signs the floor (NAME.key of `hambo key new --floor`).
    #[arg(long, value_name = "KEY")]
    sign: Option<PathBuf>,
    /// The floor to write.
    #[arg(short, long)]
    output: PathBuf,
}

/// Writes the floor and says what it asks.
///
/// # Errors
/// If an input is bad.
pub fn run(arguments: &FloorArguments, out: &mut impl Write) -> Result<(), Error> {
    let board = Board::named(&arguments.board)?;
    ensure_output(&arguments.output, OutputKind::Image)?;
    if let Some(beta) = arguments.beta
        && !(beta >= 0.0 && beta.is_finite())
    {
        return Err(Error::Usage(format!(
            "--beta: {beta} is no width\nhelp: give a number of at least 0"
        )));
    }
    let factor = arguments.noise_factor;
    if !(factor > 0.0 && factor.is_finite()) {
        return Err(Error::Usage(format!(
            "--noise-factor: {factor} is no factor\nhelp: give a number above 0"
        )));
    }
    if !(arguments.alpha > 0.0 && arguments.alpha < 1.0) {
        return Err(Error::Usage(format!(
            "--alpha: {} is no share\nhelp: give a number between 0 and 1",
            arguments.alpha
        )));
    }
    let key = signing_key(arguments.sign.as_deref(), Role::Floor)?;
    let task = TaskFile::read(&arguments.task)?;
    let model = ModelFile::read(&arguments.model)?;
    ensure_model_fits(&task, &model)?;
    let log = read_task_logs(&arguments.data, &task)?;
    let listed = match task.initial {
        Initial::Data { .. } => first_states(&log),
        _ => Vec::new(),
    };
    let demand = Demand::of(&task, &Method::default(), &listed);
    let own = settings(&model.metadata().calibration, arguments.alpha);
    let options = FloorOptions {
        noise_factor: factor,
        // Nothing drives without a period, so that nothing is to be watched.
        monitor: task.time_step.map(|_| blindest(own, arguments.alpha)),
        board: board.name.into(),
        robot: arguments.robot.clone(),
        counter: arguments.counter,
        beta: arguments.beta,
        effort: arguments.effort.of(demand, 0),
        fallback: arguments.require_fallback,
    };
    let mut floor = robot_floor(&task, model.model_part(), &log, &options)?;
    if let Some(key) = &key {
        floor.bytes = sign(&floor.bytes, key)?;
    }
    write_whole(&arguments.output, floor.bytes.as_bytes())?;
    writeln!(out, "robot {} on {}", options.robot, options.board)?;
    let threshold = task.threshold.unwrap_or(f32::NAN);
    writeln!(
        out,
        "a bundle must ask for a return of at least {threshold} over {} steps, no more and no \
         fewer, delta at most {}",
        task.horizon, task.delta
    )?;
    writeln!(
        out,
        "with the reward, limits, starts and {} constraints of {}",
        task.constraints.len(),
        arguments.task.display()
    )?;
    writeln!(
        out,
        "its set must be at least {} sigma_e wide in every state (--beta)",
        floor.beta
    )?;
    writeln!(
        out,
        "its model must hold {} transitions of this robot: a share of 0.9 by the lower 95 % limit",
        floor.transitions
    )?;
    writeln!(
        out,
        "at nine of ten of them its noise must be at most {} times this model's (--noise-factor)",
        options.noise_factor
    )?;
    if let Some(monitor) = options.monitor {
        writeln!(
            out,
            "its monitor may take {:.2} standard deviations for noise and {:.1} % of the \
             transitions for usual surprises, with alpha at least {} (--alpha)",
            monitor.noise_width,
            100.0 * monitor.surprise_rate,
            monitor.alpha
        )?;
    }
    if let Some(shortfall) = &floor.shortfall {
        writeln!(
            out,
            "note: a bundle of {} would be refused: {}",
            arguments.model.display(),
            shortfall_text(shortfall)
        )?;
    }
    if let Some(sign) = &arguments.sign {
        writeln!(out, "signed with {}", sign.display())?;
    }
    writeln!(out, "saved {}", arguments.output.display())?;
    Ok(())
}
