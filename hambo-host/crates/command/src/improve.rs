//! `hambo improve`: a controller from a log alone.

use std::io::Write;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use hambo_base::Error;
use hambo_base::checkpoint::Checkpoint;
use hambo_base::files::write_whole;
use hambo_base::observer::Observer;
use hambo_base::output::{OutputKind, ensure_output};
use hambo_check::adversary::{AdversarialCheck, EffortLevel, check_against_adversaries};
use hambo_check::amounts::{Usual, Wanted};
use hambo_check::assumption::SetOrigin;
use hambo_check::case::{Case, ensure_model_fits, first_states};
use hambo_check::fitness::Standing;
use hambo_check::improve::{ImproveOptions, Improved, improve};
use hambo_check::number::Number;
use hambo_check::reasons::reasons;
use hambo_core::task::Variant;
use hambo_core::task::{Allocation, Effort};
use hambo_data::{Log, read_task_logs};
use hambo_learn::ensemble::EnsembleOptions;
use hambo_learn::fit::{FitOptions, ModelOptions, fit};
use hambo_learn::model_file::ModelFile;
use hambo_task::image::encode_policy;
use hambo_task::plan::CheckPlan;
use hambo_task::policy::for_task;
use hambo_task::policy::{HostPolicy, PolicyError, onnx};
use hambo_task::task::{Initial, TaskFile};

use super::backtest::sentence;
use super::case::MOST_TRAJECTORIES;
use super::fit::BACKTEST_WINDOWS;
use hambo_console::line::Line;
use hambo_console::number::whole;
use hambo_console::terminal::Terminal;

/// What `hambo improve` takes.
#[derive(Args)]
pub struct ImproveArguments {
    /// The task file (TOML).
    task: PathBuf,
    /// The log; several files count as one.
    #[arg(long, required = true, num_args = 1..)]
    data: Vec<PathBuf>,
    /// The controller to write (ONNX).
    #[arg(short, long)]
    output: PathBuf,
    /// A model file of `hambo fit`; without one, five networks of 2 × 64 are
    /// fitted to the log, calibrated and tested on withheld windows as there.
    #[arg(long)]
    model: Option<PathBuf>,
    /// Whom the controller has to stand up to.
    #[arg(long, value_enum, default_value = "ca")]
    variant: Opponent,
    /// Steps of a rollout of the model from a state of the log.
    #[arg(long, default_value_t = 20, value_parser = whole::<u32>)]
    rollout: u32,
    /// Rounds of controller and adversary.
    #[arg(long, default_value_t = 60, value_parser = whole::<usize>)]
    rounds: usize,
    /// Trajectories of the task that a controller is judged by on the way.
    #[arg(long, default_value_t = 200, value_parser = whole::<u32>)]
    trajectories: u32,
    /// How hard the worst case of the final controller is looked for.
    #[arg(long, value_enum, default_value = "normal")]
    effort: EffortLevel,
    /// Seed of everything.
    #[arg(long, default_value_t = 0, value_parser = whole::<u64>)]
    seed: u64,
    /// Go on from the checkpoint that an interrupted run left beside the
    /// output.
    #[arg(long)]
    resume: bool,
    /// One JSON object instead of the text.
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Opponent {
    /// Any push inside the confidence set.
    Ca,
    /// A member in every step.
    Da1,
}

/// Sweeps of the search by which controllers are judged on the way.
const SWEEPS_ON_THE_WAY: u32 = 10;

/// Trajectories that are searched when controllers are judged on the way.
const SEARCHED_ON_THE_WAY: u32 = 8;

/// The final trajectories are none of those by which the controller was
/// chosen, else its bound would be too good.
const FRESH: u64 = 1 << 33;

/// Improves, judges, writes and prints.
///
/// # Errors
/// If an input is bad, or no controller has a finite bound; then nothing is
/// written.
pub fn run(arguments: &ImproveArguments, out: &mut impl Write) -> Result<(), Error> {
    ensure_output(&arguments.output, OutputKind::Network)?;
    arguments.ensure_numbers()?;
    if arguments.resume {
        // Found out before a model is fitted.
        let checkpoint = Checkpoint::new(&arguments.output, "improve");
        checkpoint.read().map(drop)?;
    }
    let task = TaskFile::read(&arguments.task)?;
    let log = read_task_logs(&arguments.data, &task)?;
    let mut terminal = Terminal::new(&arguments.output, "improve", arguments.resume);
    let model = arguments.model(&task, &log, terminal.line())?;
    let learned = arguments.learned(task, &log, &model, &mut terminal);
    terminal.finish();
    let (case, improved) = learned?;
    let checked = arguments.judged(&case, terminal.line());
    terminal.finish();
    let found = Found {
        checked: checked?,
        case,
        improved,
    };
    write_whole(&arguments.output, &found.onnx(arguments.seed)?)?;
    terminal.forget();
    arguments.print(&found, &model, out)
}

/// A controller that was learned, and its last check.
pub(super) struct Found {
    case: Case,
    improved: Improved,
    checked: AdversarialCheck,
}

impl Found {
    /// The bytes of its ONNX file.
    pub(super) fn onnx(&self, seed: u64) -> Result<Vec<u8>, Error> {
        let Self {
            case,
            improved,
            checked,
        } = self;
        let notes = [
            ("task", case.task.name.clone()),
            ("bound", checked.outcome.bound.to_string()),
            ("delta", case.task.delta.to_string()),
            ("horizon", case.task.horizon.to_string()),
            ("round", improved.candidate.round.to_string()),
            ("seed", seed.to_string()),
            ("hambo", env!("CARGO_PKG_VERSION").to_owned()),
        ];
        let notes: Vec<_> = notes
            .iter()
            .map(|(key, value)| (*key, value.as_str()))
            .collect();
        let unwritten = |problem| PolicyError::Onnx {
            origin: "the controller".to_owned(),
            problem: Box::new(problem),
        };
        Ok(onnx::encode(&improved.policy, &notes).map_err(unwritten)?)
    }
}

impl ImproveArguments {
    fn opponent(&self) -> Variant {
        match self.variant {
            Opponent::Ca => Variant::ContinuousAdversary,
            Opponent::Da1 => Variant::DiscreteAdversary1,
        }
    }

    fn model(&self, task: &TaskFile, log: &Log, line: &mut Line) -> Result<ModelFile, Error> {
        if let Some(path) = &self.model {
            let file = ModelFile::read(path)?;
            self.ensure_fits(task, &file, &path.display().to_string())?;
            return Ok(file);
        }
        self.fitted(task, log, line)
    }

    /// Whether a model that is given is one of this task, with what the adversary needs.
    pub(super) fn ensure_fits(
        &self,
        task: &TaskFile,
        file: &ModelFile,
        name: &str,
    ) -> Result<(), Error> {
        ensure_model_fits(task, file)?;
        if self.variant == Opponent::Da1 && file.model()?.dynamics.members() == 0 {
            let text = format!(
                "--variant da1 picks among networks, and {name} holds Gaussian processes\n\
                 help: give --variant ca, or a model of networks"
            );
            return Err(Error::Usage(text));
        }
        Ok(())
    }

    /// The model of the log.
    pub(super) fn fitted(
        &self,
        task: &TaskFile,
        log: &Log,
        observer: &mut dyn Observer,
    ) -> Result<ModelFile, Error> {
        let mut networks = EnsembleOptions::for_board("stm32f405")?;
        networks.seed = self.seed;
        let options = FitOptions {
            backtest_windows: BACKTEST_WINDOWS,
            ..FitOptions::new(ModelOptions::Networks(networks))
        };
        let (file, _) = fit(task, log, &options, observer)?;
        Ok(file)
    }

    /// Before the work, which takes its time.
    pub(super) fn ensure_numbers(&self) -> Result<(), Error> {
        for (given, name) in [
            (self.rollout as usize, "--rollout"),
            (self.rounds, "--rounds"),
            (self.trajectories as usize, "--trajectories"),
        ] {
            if given == 0 {
                return Err(Error::Usage(format!("{name} 0: give at least 1")));
            }
        }
        if self.trajectories > MOST_TRAJECTORIES {
            return Err(Error::Usage(format!(
                "--trajectories {}: give 1 to {MOST_TRAJECTORIES}",
                self.trajectories
            )));
        }
        Ok(())
    }

    /// Learns a controller; the case that is returned asks for its last check.
    fn learned(
        &self,
        task: TaskFile,
        log: &Log,
        model: &ModelFile,
        observer: &mut dyn Observer,
    ) -> Result<(Case, Improved), Error> {
        let asked = task.distribution_free;
        let mut case = self.case(task, log, model)?;
        let options = ImproveOptions {
            variant: self.opponent(),
            horizon: self.rollout,
            rounds: self.rounds,
            seed: self.seed,
            ..ImproveOptions::default()
        };
        let improved = improve(&case, log, &options, observer)?;
        let policy = HostPolicy::Perceptron(improved.policy.clone());
        case.policy_part = encode_policy(&for_task(policy, &case.task))?;
        case.task.distribution_free = asked;
        let chosen = case.demand().effort(Wanted::default(), Usual::HOST);
        case.plan.effort = Effort {
            trajectories: self.trajectories.max(chosen.trajectories),
            iterations: self.effort.sweeps(),
            seed: self.seed.wrapping_add(FRESH),
            ..chosen
        };
        Ok((case, improved))
    }

    /// The last check, on trajectories of its own.
    fn judged(&self, case: &Case, observer: &mut dyn Observer) -> Result<AdversarialCheck, Error> {
        let learning = self.effort.learning(self.seed);
        case.parsed(|case| check_against_adversaries(&case, learning.as_ref(), observer))
    }

    /// Learns a controller and judges it, for a caller that keeps no checkpoints.
    pub(super) fn found(
        &self,
        task: TaskFile,
        log: &Log,
        model: &ModelFile,
        observer: &mut dyn Observer,
    ) -> Result<Found, Error> {
        let (case, improved) = self.learned(task, log, model, observer)?;
        let checked = self.judged(&case, observer)?;
        Ok(Found {
            case,
            improved,
            checked,
        })
    }

    pub(super) fn seed(&self) -> u64 {
        self.seed
    }

    fn case(&self, mut task: TaskFile, log: &Log, model: &ModelFile) -> Result<Case, Error> {
        if let Initial::Worst { .. } = task.initial {
            let text = "a controller is learned from starts that are drawn, and the task has \
                        initial.kind = \"worst\"\n\
                        help: take kind = \"uniform\" with the same low and high, and check what \
                        was learned with \"worst\"";
            return Err(Error::Usage(text.to_owned()));
        }
        // With few searched trajectories a bound for any distribution is far below all
        // controllers alike.
        task.distribution_free = Some(false);
        task.fit_smoothing(
            log.rows()
                .map(|row| (row.state, row.action, row.next_state)),
        );
        Ok(Case {
            model_part: model.model_part().to_vec(),
            plan: CheckPlan::from(Effort {
                trajectories: self.trajectories,
                searched: SEARCHED_ON_THE_WAY,
                iterations: SWEEPS_ON_THE_WAY,
                seed: self.seed,
                allocation: Allocation::Even,
            })
            .with_variants([self.opponent()]),
            initial: match task.initial {
                Initial::Data { .. } => first_states(log),
                _ => Vec::new(),
            },
            policy_part: Vec::new(),
            set: SetOrigin::of(model.metadata()),
            may_grow: false,
            judging_rows: hambo_learn::near_path::JudgingRows::default(),
            near_path: None,
            task,
        })
    }

    /// What was found, for programs.
    pub(super) fn object(&self, found: &Found, model: &ModelFile) -> serde_json::Value {
        let (improved, outcome) = (&found.improved, &found.checked.outcome);
        let verdict = match Standing::of(outcome) {
            Standing::Unfit => Some("abstain"),
            _ => outcome.threshold.map(|_| outcome.verdict.name()),
        };
        serde_json::json!({
            "bound": outcome.bound,
            "neutral": outcome.neutral,
            "round": improved.candidate.round,
            "bound_on_the_way": improved.candidate.bound,
            "threshold": outcome.threshold,
            "verdict": verdict,
            "sound_on_the_way": improved.candidate.standing == Standing::Sound,
            "reasons_on_the_way": improved.candidate.reasons,
            "reasons": reasons(&found.case.task, outcome),
            "backtest": model.metadata().backtest.as_ref(),
            "seed": self.seed,
            "output": self.output,
        })
    }

    fn print(&self, found: &Found, model: &ModelFile, out: &mut impl Write) -> Result<(), Error> {
        if self.json {
            writeln!(out, "{}", self.object(found, model))?;
            return Ok(());
        }
        let (improved, outcome) = (&found.improved, &found.checked.outcome);
        let own = reasons(&found.case.task, outcome);
        let backtest = model.metadata().backtest.as_ref();
        writeln!(
            out,
            "controller of round {}: lower bound {:.3}, mean propagation {:.3}",
            improved.candidate.round,
            Number::from(outcome.bound),
            Number::from(outcome.neutral)
        )?;
        if let Some(found) = backtest {
            writeln!(out, "the model\u{2019}s backtest: {}", sentence(found))?;
        }
        let best = &improved.candidate;
        let all = match best.standing {
            Standing::Sound => None,
            Standing::BreaksConstraint => Some("no controller keeps every constraint"),
            Standing::Unfit => Some("no controller can be relied on"),
        };
        if let Some(all) = all {
            writeln!(out, "{all}; of this one: {}", best.reasons.join("; "))?;
        }
        for reason in own
            .iter()
            .filter(|own| all.is_none() || !best.reasons.contains(own))
        {
            writeln!(out, "{reason}")?;
        }
        writeln!(out, "saved {}", self.output.display())?;
        Ok(())
    }
}
