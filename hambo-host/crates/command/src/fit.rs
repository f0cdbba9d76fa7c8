//! `hambo fit`: from a log to a calibrated model file.

use std::io::Write;
use std::path::PathBuf;
use std::str::FromStr;

use clap::{Args, ValueEnum};
use hambo_base::Error;
use hambo_base::output::{OutputKind, ensure_output};
use hambo_core::model::Kernel;
use hambo_core::numeric::network::Activation;
use hambo_data::{Log, read_task_logs, wrap_line};
use hambo_learn::calibration::CalibrationMode;
use hambo_learn::delta::decimal;
use hambo_learn::ensemble::{Bandwidth, EnsembleOptions, Inference};
use hambo_learn::fit::{FitOptions, GaussianProcessOptions, Keep, ModelOptions, fit};
use hambo_learn::gaussian_process::{
    NORM_FACTOR, NormBound, SearchOptions, SetWidth, VarianceGroups, kinks_at_limits,
};
use hambo_task::task::TaskFile;

use super::board::Board;
use super::table;
use hambo_console::number::{at_least_one, not_negative, whole};
use hambo_console::terminal::Terminal;

/// Windows of withheld rows that are replayed after the calibration.
pub(super) const BACKTEST_WINDOWS: usize = 200;

/// What `hambo fit` takes.
#[derive(Args)]
pub struct FitArguments {
    /// The task file (TOML): names of states and actions.
    task: PathBuf,
    /// The log: CSV or Parquet with the task's names, NPZ or HDF5 in the
    /// task's order; several files count as one, and no episode runs across.
    #[arg(long, required = true, num_args = 1..)]
    data: Vec<PathBuf>,
    /// The kind of model.
    #[arg(long, value_enum, default_value = "bnn")]
    model: ModelKind,
    /// The model file to write.
    #[arg(short, long)]
    output: PathBuf,
    /// A size that fits this board: stm32f405. Without one, the number of rows
    /// chooses, up to the paper's size.
    #[arg(long)]
    board: Option<String>,
    /// Seed of the split and the training.
    #[arg(long, default_value_t = 0, value_parser = whole::<u64>)]
    seed: u64,
    /// Go on from the checkpoint that an interrupted run left beside the
    /// output.
    #[arg(long)]
    resume: bool,
    /// One JSON object instead of the tables.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    split: SplitArguments,
    #[command(flatten)]
    networks: NetworkArguments,
    #[command(flatten)]
    processes: ProcessArguments,
}

/// Share of the rows that calibration gets, unless told otherwise.
const WITHHELD: f64 = 0.2;
/// Share of the other rows that decides when networks stop training.
const VALIDATION: f64 = 0.1;

#[derive(Args)]
#[command(next_help_heading = "Split and calibration")]
struct SplitArguments {
    /// Share of the rows, in whole episodes, that calibration gets.
    #[arg(long, default_value_t = WITHHELD)]
    withhold: f64,
    /// Share of the other rows that decides when networks stop training and
    /// chooses the scales of noise and set; 0 trains to the last step.
    #[arg(long, default_value_t = VALIDATION)]
    validation: f64,
    /// Whether calibration may only widen the set, or may narrow it as in the
    /// paper.
    #[arg(long, value_enum, default_value = "widen")]
    calibration: CalibrationArgument,
    /// Half the width of the set in scaled standard deviations, or `theory`
    /// for that of a Gaussian process with a norm (gp). Without one it holds
    /// every network; for gp it is the least with which withheld rows agree,
    /// or theory's if --norm is given.
    #[arg(long, allow_hyphen_values = true)]
    beta: Option<BetaArgument>,
}

#[derive(Args, Default)]
#[command(next_help_heading = "Networks (bnn, ensemble)")]
struct NetworkArguments {
    /// Number of networks.
    #[arg(long, value_parser = whole::<usize>)]
    members: Option<usize>,
    /// Widths of the hidden layers, like 64,64.
    #[arg(long, value_delimiter = ',', allow_hyphen_values = true,
        value_parser = whole::<usize>)]
    hidden: Option<Vec<usize>>,
    /// Activation of the hidden layers.
    #[arg(long, value_enum)]
    activation: Option<ActivationName>,
    /// Updates, unless the validation rows end them.
    #[arg(long, value_parser = whole::<usize>)]
    steps: Option<usize>,
    /// Rows per update.
    #[arg(long, value_parser = whole::<usize>)]
    batch: Option<usize>,
    /// Learning rate of the first update.
    #[arg(long)]
    learning_rate: Option<f32>,
    /// Weight of the prior against the likelihood.
    #[arg(long)]
    prior_weight: Option<f32>,
    /// Size of the random function that is added to each network, in standard
    /// deviations of what is learnt: networks disagree by about as much where
    /// the log does not decide. 0 adds none.
    #[arg(long)]
    random_prior: Option<f32>,
    /// Largest noise of the trained networks, in standard deviations of what
    /// is learnt: after long training it can grow without reason far from the
    /// log.
    #[arg(long)]
    noise_cap: Option<f32>,
    /// Bandwidth of the SVGD kernel, or `median` (bnn).
    #[arg(long)]
    bandwidth: Option<BandwidthArgument>,
}

#[derive(Args, Default)]
#[command(next_help_heading = "Gaussian processes (gp)")]
struct ProcessArguments {
    /// The kernel.
    #[arg(long, value_enum)]
    kernel: Option<KernelName>,
    /// Descents from different hyperparameters.
    #[arg(long, value_parser = at_least_one::<usize>)]
    starts: Option<usize>,
    /// The number of points that are kept, chosen by what they tell.
    #[arg(long, value_parser = whole::<usize>)]
    points: Option<usize>,
    /// The number of groups in which the standard deviation takes the points together,
    /// which only makes it larger: a check takes time by the square of this and
    /// not of --points. Without it, beyond 384 points and without --board, as
    /// few as leave the mean standard deviation within a fifth; as many as
    /// points take none together.
    #[arg(long, value_parser = at_least_one::<usize>)]
    groups: Option<usize>,
    /// Bounds on the RKHS norm of each state, in standardised units; without
    /// them, an estimate.
    #[arg(long, value_delimiter = ',', allow_hyphen_values = true,
        value_parser = not_negative)]
    norm: Option<Vec<f64>>,
    /// The bound may fail with this probability in all, instead of the task's
    /// delta; half of it is the set's, the other half the sampling's.
    #[arg(long)]
    delta: Option<f64>,
}

/// The kind of model.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum ModelKind {
    /// A Gaussian process for each state.
    Gp,
    /// A Bayesian network by SVGD.
    Bnn,
    /// A deep ensemble.
    Ensemble,
}

#[derive(Clone, Copy, ValueEnum)]
enum CalibrationArgument {
    Widen,
    Paper,
}

#[derive(Clone, Copy, ValueEnum)]
enum ActivationName {
    Relu,
    Tanh,
    Silu,
}

#[derive(Clone, Copy, ValueEnum)]
enum KernelName {
    Rbf,
    Matern32,
    Matern52,
    Linear,
}

#[derive(Clone, Copy)]
enum BetaArgument {
    Number(f32),
    Theory,
}

impl FromStr for BetaArgument {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match (text, text.parse()) {
            ("theory", _) => Ok(Self::Theory),
            (_, Ok(number)) if number > 0.0 && f32::is_finite(number) => Ok(Self::Number(number)),
            _ => Err("give a positive number or `theory`".to_owned()),
        }
    }
}

#[derive(Clone, Copy)]
struct BandwidthArgument(Bandwidth);

impl FromStr for BandwidthArgument {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match (text, text.parse()) {
            ("median", _) => Ok(Self(Bandwidth::Median)),
            (_, Ok(number)) => Ok(Self(Bandwidth::Fixed(number))),
            _ => Err("give a number or `median`".to_owned()),
        }
    }
}

/// Trains, calibrates and writes the file.
///
/// # Errors
/// If an input is bad; then nothing is overwritten.
pub fn run(arguments: &FitArguments, out: &mut impl Write) -> Result<(), Error> {
    let task = TaskFile::read(&arguments.task)?;
    // What contradicts itself, before the log is read.
    arguments.options(&task, 0)?;
    ensure_output(&arguments.output, OutputKind::Model)?;
    let log = read_task_logs(&arguments.data, &task)?;
    let options = arguments.options(&task, log.len())?;
    if let Some(line) = arguments
        .size_line(&options, log.len())
        .filter(|_| !arguments.json)
    {
        writeln!(out, "{line}")?;
        out.flush()?;
    }
    let warnings = warnings(&task, &log, &options);
    let mut terminal = Terminal::new(&arguments.output, "fit", arguments.resume);
    let fitted = fit(&task, &log, &options, &mut terminal);
    terminal.finish();
    let (file, _) = fitted?;
    file.write(&arguments.output)?;
    // What is left of it would only be in the way.
    terminal.forget();
    if arguments.json {
        return table::json(&file, None, Some(&warnings), out);
    }
    for warning in &warnings {
        writeln!(out, "warning: {warning}")?;
    }
    table::data(file.metadata(), out)?;
    table::training(&file, out)?;
    table::calibration(file.metadata(), out)?;
    table::backtest(file.metadata(), out)?;
    table::tested(&file, out)?;
    writeln!(out, "\nsaved {}", arguments.output.display())?;
    Ok(())
}

/// What `hambo fit` takes for a kind of model where nothing but the seed is given.
pub(super) fn plain_options(
    (model, seed): (ModelKind, u64),
    task: &TaskFile,
    rows: usize,
) -> Result<FitOptions, Error> {
    let plain = FitArguments {
        task: PathBuf::new(),
        data: Vec::new(),
        model,
        output: PathBuf::new(),
        board: None,
        seed,
        resume: false,
        json: false,
        split: SplitArguments {
            withhold: WITHHELD,
            validation: VALIDATION,
            calibration: CalibrationArgument::Widen,
            beta: None,
        },
        networks: NetworkArguments::default(),
        processes: ProcessArguments::default(),
    };
    plain.options(task, rows)
}

/// Points of a Gaussian process that a check still takes in its stride.
const MOST_POINTS: usize = 300;

/// What the log says against the task, and does not stop the work.
pub(super) fn warnings(task: &TaskFile, log: &Log, options: &FitOptions) -> Vec<String> {
    let hints = log.wrap_hints(task.logged_states(), &task.wraps);
    let line = wrap_line(&task.state_names, &task.wraps, &hints);
    let hints = hints.iter().map(|hint| {
        format!(
            "{}; the model learns the jumps\nhelp: if it is an angle, write into [state] of the task and fit again: {line}",
            hint.seen()
        )
    });
    let mut warnings: Vec<String> = hints.collect();
    if matches!(options.model, ModelOptions::GaussianProcess(_)) {
        warnings.extend(kinks_at_limits(task, log));
    }
    warnings
}

impl FitArguments {
    /// Which sizes the number of rows chose, if it did.
    fn size_line(&self, options: &FitOptions, rows: usize) -> Option<String> {
        let own = self.board.is_none();
        match &options.model {
            ModelOptions::Networks(networks) if own && self.networks.hidden.is_none() => {
                let widths: Vec<String> = networks.hidden.iter().map(usize::to_string).collect();
                Some(format!(
                    "size: hidden layers of {} units, by the {rows} rows; --hidden changes it \
                     (the paper's are 256,256,256,256)",
                    widths.join(", ")
                ))
            }
            ModelOptions::GaussianProcess(GaussianProcessOptions {
                keep: Keep::Points(points),
                ..
            }) if own && self.processes.points.is_none() => Some(format!(
                "size: {points} points of {rows} rows; --points changes it, and a check takes \
                 the longer the more there are"
            )),
            _ => None,
        }
    }

    /// As the library takes them, for a log of so many rows.
    pub(super) fn options(&self, task: &TaskFile, rows: usize) -> Result<FitOptions, Error> {
        let networks = &self.networks;
        let processes = &self.processes;
        let is_process = self.model == ModelKind::Gp;
        let for_others = [
            ("--members", networks.members.is_some(), !is_process),
            ("--hidden", networks.hidden.is_some(), !is_process),
            ("--activation", networks.activation.is_some(), !is_process),
            ("--steps", networks.steps.is_some(), !is_process),
            ("--batch", networks.batch.is_some(), !is_process),
            (
                "--learning-rate",
                networks.learning_rate.is_some(),
                !is_process,
            ),
            (
                "--prior-weight",
                networks.prior_weight.is_some(),
                !is_process,
            ),
            (
                "--random-prior",
                networks.random_prior.is_some(),
                !is_process,
            ),
            ("--noise-cap", networks.noise_cap.is_some(), !is_process),
            (
                "--bandwidth",
                networks.bandwidth.is_some(),
                self.model == ModelKind::Bnn,
            ),
            ("--resume", self.resume, !is_process),
            ("--kernel", processes.kernel.is_some(), is_process),
            ("--starts", processes.starts.is_some(), is_process),
            ("--points", processes.points.is_some(), is_process),
            ("--groups", processes.groups.is_some(), is_process),
            ("--norm", processes.norm.is_some(), is_process),
        ];
        if let Some((name, ..)) = for_others
            .into_iter()
            .find(|(_, given, fits)| *given && !fits)
        {
            return Err(Error::Usage(format!(
                "{name} does not belong to this --model; see hambo fit --help"
            )));
        }
        for (name, share) in [
            ("--withhold", self.split.withhold),
            ("--validation", self.split.validation),
        ] {
            if !(0.0..1.0).contains(&share) {
                return Err(Error::Usage(format!(
                    "{name} {share}: give a share from 0 to below 1"
                )));
            }
        }
        if matches!(self.split.beta, Some(BetaArgument::Theory)) && !is_process {
            let text =
                "--beta theory: theory knows Gaussian processes only; give a number, or none";
            return Err(Error::Usage(text.to_owned()));
        }
        if networks.members == Some(1) && self.split.beta.is_none() {
            let text = "--members 1: the set around one network has no width\n\
                        help: give at least 2, or a width with --beta";
            return Err(Error::Usage(text.to_owned()));
        }
        let model = if is_process {
            ModelOptions::GaussianProcess(self.process_options(task, rows)?)
        } else {
            ModelOptions::Networks(self.network_options(rows)?)
        };
        Ok(FitOptions {
            withheld_share: self.split.withhold,
            validation_share: self.split.validation,
            calibration: match self.split.calibration {
                CalibrationArgument::Widen => CalibrationMode::Widen,
                CalibrationArgument::Paper => CalibrationMode::Paper,
            },
            beta: match self.split.beta {
                Some(BetaArgument::Number(beta)) => Some(beta),
                Some(BetaArgument::Theory) | None => None,
            },
            backtest_windows: BACKTEST_WINDOWS,
            ..FitOptions::new(model)
        })
    }

    fn network_options(&self, rows: usize) -> Result<EnsembleOptions, Error> {
        let preset = match &self.board {
            Some(board) => EnsembleOptions::for_board(board)?,
            None => EnsembleOptions::for_rows(rows),
        };
        let given = &self.networks;
        let bandwidth = match (given.bandwidth, preset.inference) {
            (Some(BandwidthArgument(bandwidth)), _) => bandwidth,
            (None, Inference::Svgd(bandwidth)) => bandwidth,
            (None, Inference::Ensemble) => Bandwidth::Median,
        };
        Ok(EnsembleOptions {
            inference: match self.model {
                ModelKind::Ensemble => Inference::Ensemble,
                _ => Inference::Svgd(bandwidth),
            },
            members: given.members.unwrap_or(preset.members),
            hidden: given.hidden.clone().unwrap_or(preset.hidden),
            activation: match given.activation {
                Some(ActivationName::Relu) => Activation::Relu,
                Some(ActivationName::Tanh) => Activation::Tanh,
                Some(ActivationName::Silu) => Activation::Silu,
                None => preset.activation,
            },
            steps: given.steps.unwrap_or(preset.steps),
            batch: given.batch.unwrap_or(preset.batch),
            learning_rate: given.learning_rate.unwrap_or(preset.learning_rate),
            prior_weight: given.prior_weight.unwrap_or(preset.prior_weight),
            random_prior: given.random_prior.unwrap_or(preset.random_prior),
            noise_cap: given.noise_cap.unwrap_or(preset.noise_cap),
            seed: self.seed,
            ..preset
        })
    }

    fn process_options(
        &self,
        task: &TaskFile,
        rows: usize,
    ) -> Result<GaussianProcessOptions, Error> {
        let given = &self.processes;
        // Before the search, which takes minutes.
        if let Some(delta) = given.delta.filter(|delta| !(*delta > 0.0 && *delta < 1.0)) {
            let text = format!("--delta {delta}: give a probability between 0 and 1");
            return Err(Error::Usage(text));
        }
        let states = task.state_names.len();
        if let Some(norms) = given.norm.as_ref().filter(|norms| norms.len() != states) {
            return Err(Error::Usage(format!(
                "--norm has {} of {states} bounds\nhelp: give one for each of {}",
                norms.len(),
                task.state_names.join(", ")
            )));
        }
        if given.points == Some(0) {
            return Err(Error::Usage("--points 0: give at least 1".to_owned()));
        }
        let keep = match (given.points, &self.board) {
            (Some(points), Some(board)) => {
                let room = Board::named(board)?.room_for_points();
                let most = room.most_points(states + task.action_names.len(), states);
                if points > most {
                    return Err(Error::Usage(format!(
                        "--points {points} does not fit --board {board}, which has room for {most}\n\
                         help: give at most {most}, or leave --points out to fill the board"
                    )));
                }
                Keep::Points(points)
            }
            (Some(points), None) => Keep::Points(points),
            (None, Some(board)) => Keep::Room(Board::named(board)?.room_for_points()),
            (None, None) if rows > MOST_POINTS => Keep::Points(MOST_POINTS),
            (None, None) => Keep::All,
        };
        let default = GaussianProcessOptions::default();
        Ok(GaussianProcessOptions {
            search: SearchOptions {
                kernel: match given.kernel {
                    None | Some(KernelName::Rbf) => Kernel::Rbf,
                    Some(KernelName::Matern32) => Kernel::Matern32,
                    Some(KernelName::Matern52) => Kernel::Matern52,
                    Some(KernelName::Linear) => Kernel::Linear,
                },
                starts: given.starts.unwrap_or(default.search.starts),
                seed: self.seed,
                ..default.search
            },
            keep,
            groups: match (given.groups, &self.board) {
                (Some(count), _) => VarianceGroups::Count(count),
                (None, Some(_)) => VarianceGroups::Alone,
                (None, None) => VarianceGroups::ByGrowth,
            },
            norm: match &given.norm {
                Some(norms) => NormBound::Given(norms.clone()),
                None => NormBound::Estimated {
                    factor: NORM_FACTOR,
                },
            },
            width: match (&given.norm, self.split.beta) {
                (Some(_), _) | (_, Some(BetaArgument::Theory)) => SetWidth::Theory,
                _ => SetWidth::Calibrated,
            },
            delta: given.delta.unwrap_or_else(|| decimal(task.delta)),
            ..default
        })
    }
}
