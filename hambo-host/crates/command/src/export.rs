//! `hambo export`: a bundle for a device with its budget. It is written only if the controller
//! passes, on the host at the effort of `hambo check` and with the image's own effort, and
//! if it fits the board.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use hambo_base::Error;
use hambo_base::files::write_whole;
use hambo_base::output::{OutputKind, hold_output};
use hambo_check::adversary::{EffortLevel, contest};
use hambo_check::case::Case;
use hambo_check::certify::hold_certifiable;
use hambo_check::in_lanes::check;
use hambo_check::names::reasons;
use hambo_check::number::Number;
use hambo_check::worst_start::find_worst_starts;
use hambo_core::check::Outcome;
use hambo_core::drive::monitor::Monitor;
use hambo_core::floor::Floor;
use hambo_core::gate::Verdict;
use hambo_core::image::{Bundle, Image};
use hambo_core::link::device::DeviceResult;
use hambo_core::rollout::Buffers;
use hambo_device::{DeviceError, Qemu};
use hambo_learn::model_file::ModelFile;
use hambo_learn::monitor::settings;
use hambo_task::image::{Adversaries, AlignedBytes, BundleAbout, encode_bundle, encode_policy};
use hambo_task::policy::HostPolicy;
use hambo_task::task::TaskFile;

use super::board::Board;
use super::case::CaseArguments;
use super::device_effort::DeviceEffort;
use hambo_console::line::Line;
use hambo_console::number::whole;

/// What `hambo export` takes.
#[derive(Args)]
pub struct ExportArguments {
    /// The model file.
    model: PathBuf,
    /// The task file.
    #[arg(long)]
    task: PathBuf,
    /// The policy file (TOML or ONNX).
    #[arg(long)]
    policy: PathBuf,
    #[command(flatten)]
    case: CaseArguments,
    #[command(flatten)]
    effort: DeviceEffort,
    /// Write an image of a controller that does not pass. The device checks it and never
    /// deploys it.
    #[arg(long)]
    force: bool,
    /// The board.
    #[arg(long, default_value = "stm32f405")]
    board: String,
    /// The robot that the bundle is meant for, as its floor calls it.
    #[arg(long, default_value = "robot")]
    robot: String,
    /// A number that grows with every bundle for a robot: its floor may refuse older ones.
    #[arg(long, default_value_t = 0, value_parser = whole::<u32>)]
    counter: u32,
    /// The controller that takes over when the monitor stops this one (TOML or ONNX). The
    /// device checks it too.
    #[arg(long)]
    fallback: Option<PathBuf>,
    /// The probability with which the monitor may ever stop a robot that is as the model says.
    #[arg(long, default_value_t = 0.01)]
    alpha: f32,
    /// The robot's floor (`hambo floor`): a bundle that it refuses is not written.
    #[arg(long)]
    floor: Option<PathBuf>,
    /// The image to write.
    #[arg(short, long)]
    output: PathBuf,
    /// The firmware's ELF file: runs the image once under QEMU, shows what the
    /// device decides and holds its bits against the host's, and measures
    /// instructions and stack.
    #[arg(long)]
    firmware: Option<PathBuf>,
    /// Seconds that QEMU may take.
    #[arg(long, default_value_t = 600, value_parser = whole::<u64>, requires = "firmware")]
    firmware_timeout: u64,
    /// One JSON object instead of the table.
    #[arg(long)]
    json: bool,
}

/// Lanes of the firmware.
const DEVICE_LANES: usize = 4;

/// Hidden layers of an adversary for the device.
const DEVICE_ADVERSARY: [usize; 2] = [64, 64];

/// Checks the controller, writes the image and tells what it takes.
///
/// # Errors
/// If an input is bad, the controller does not pass, or the image does not fit the board;
/// then nothing is written.
pub fn run(arguments: &ExportArguments, out: &mut impl Write) -> Result<(), Error> {
    let board = Board::named(&arguments.board)?;
    // Before the check, which takes its time.
    hold_output(&arguments.output, OutputKind::Image)?;
    if let Some(firmware) = &arguments.firmware {
        Qemu::new(firmware).hold_firmware()?;
    }
    let task = TaskFile::read(&arguments.task)?;
    let model = ModelFile::read(&arguments.model)?;
    let policy = HostPolicy::read(&arguments.policy, &task)?;
    let log = arguments.case.log(&task)?;
    let options = arguments.case.options(log.as_ref(), EffortLevel::Normal)?;
    let mut case = Case::new(&task, &model, &policy, &options)?;
    let mut line = Line::new();
    find_worst_starts(&mut case, &mut line)?;
    let starts = case.initial.len() / task.state_names.len().max(1);
    let trajectories = arguments.effort.device_trajectories;
    hold_certifiable(&task, trajectories, "--device-trajectories", starts)?;
    let (outcome, adversaries) = host_check(&case, options.effort, &mut line)?;
    case.effort = arguments.effort.with_seed(case.effort.seed);
    let passed = passes(&case, &outcome, "on the host").and_then(|()| {
        let bytes = case.image(&adversaries)?;
        let outcome = check(&Image::parse(bytes.as_bytes())?)?;
        passes(&case, &outcome, "with the device's effort")
    });
    match passed {
        Ok(()) => {}
        Err(Error::Usage(_)) if arguments.force => case.task.refused_by_host = true,
        Err(error) => return Err(error),
    }
    let image: AlignedBytes = case.image(&adversaries)?;
    let about = arguments.about(&task, &model)?;
    let fallback = match &arguments.fallback {
        Some(file) => Some(encode_policy(&HostPolicy::read(file, &task)?)?),
        None => None,
    };
    let bundle = encode_bundle(image.as_bytes(), &about, fallback.as_deref())?;
    let bytes = bundle.as_bytes();
    let bundle = Bundle::parse(bytes)?;
    let image = bundle.image();
    if let Some(fallback) = bundle.fallback() {
        let outcome = check(&image.with_policy_of(fallback))?;
        if !arguments.force {
            passes(&case, &outcome, "as the fallback")?;
        }
    }
    if let Some(file) = &arguments.floor {
        admit(file, &bundle)?;
    }
    let rows = Buffers::<DEVICE_LANES>::rows_needed(
        &image.model().dynamics,
        image.task(),
        image.policy(),
    )?;
    let ram = rows * DEVICE_LANES * size_of::<f32>();
    for (what, needed, available, help) in [
        (
            "flash",
            bytes.len(),
            board.image_bytes,
            "train a smaller model: hambo fit --board",
        ),
        (
            "memory",
            ram,
            board.workspace_bytes,
            "shorten the horizon or train a smaller model",
        ),
    ] {
        if needed > available {
            return Err(Error::Usage(format!(
                "the image does not fit {}: it needs {needed} bytes of {what}, {available} are there\nhelp: {help}",
                board.name
            )));
        }
    }
    // The image is good whatever becomes of the run under QEMU.
    write_whole(&arguments.output, bytes)?;
    let measured = match &arguments.firmware {
        Some(firmware) => Some(arguments.run_on_device(firmware, image)?),
        None => None,
    };
    if arguments.json {
        let object = serde_json::json!({
            "board": board.name,
            "flash_bytes": bytes.len(),
            "flash_available": board.image_bytes,
            "ram_bytes": ram,
            "ram_available": board.workspace_bytes,
            "instructions": measured.as_ref().map(|device| device.usage.work.count()),
            "stack_high_water": measured.as_ref().map(|device| device.usage.stack_high_water),
            "device": measured.as_ref().map(|device| serde_json::json!({
                "verdict": device.decision(),
                "bound": Number::from(device.bound),
                "bound_bits": format!("{:08x}", device.bound.to_bits()),
                "digest": format!("{:08x}", device.digest),
                "equals_host": true,
            })),
        });
        writeln!(out, "{object}")?;
        return Ok(());
    }
    writeln!(out, "{:14} {:>12} {:>12}", board.name, "needs", "has")?;
    let mut row =
        |what: &str, needs: String, has: String| writeln!(out, "{what:14} {needs:>12} {has:>12}");
    row(
        "flash, bytes",
        bytes.len().to_string(),
        board.image_bytes.to_string(),
    )?;
    row(
        "memory, bytes",
        ram.to_string(),
        board.workspace_bytes.to_string(),
    )?;
    if let Some(DeviceResult { usage, .. }) = &measured {
        row(
            "stack, bytes",
            usage.stack_high_water.to_string(),
            board.stack_bytes.to_string(),
        )?;
        row(
            "instructions",
            usage.work.count().to_string(),
            String::new(),
        )?;
    }
    if let Some(device) = &measured {
        writeln!(
            out,
            "device: {}, lower bound {:.3} (bits {:08x}, digest {:08x}), equal on the host",
            device.decision(),
            Number::from(device.bound),
            device.bound.to_bits(),
            device.digest
        )?;
    }
    writeln!(out, "saved {}", arguments.output.display())?;
    Ok(())
}

/// Whether the floor in a file takes the bundle.
fn admit(file: &Path, bundle: &Bundle<'_>) -> Result<(), Error> {
    let floor = AlignedBytes::read(file)?;
    let floor = Floor::parse_prefix(floor.as_bytes())?;
    let (model, task) = (bundle.image().model(), bundle.image().task());
    let mut rows = vec![[0.0]; Monitor::rows_needed(model, task)?];
    Ok(floor.admit(bundle, &mut rows)?)
}

impl ExportArguments {
    /// Whom the bundle is for, and how its controller drives.
    fn about(&self, task: &TaskFile, model: &ModelFile) -> Result<BundleAbout, Error> {
        if !(self.alpha > 0.0 && self.alpha < 1.0) {
            let text = format!(
                "--alpha: {} is no share\nhelp: give a number between 0 and 1",
                self.alpha
            );
            return Err(Error::Usage(text));
        }
        Ok(BundleAbout {
            board: self.board.clone(),
            robot: self.robot.clone(),
            counter: self.counter,
            period: task.time_step,
            monitor: Some(settings(&model.metadata().calibration, self.alpha)),
        })
    }

    /// What the device makes of the image that was written, which must be what the host makes
    /// of it.
    fn run_on_device(&self, firmware: &Path, image: &Image<'_>) -> Result<DeviceResult, Error> {
        let mut qemu = Qemu::new(firmware).with_timeout(Duration::from_secs(self.firmware_timeout));
        qemu.floor.clone_from(&self.floor);
        let result = qemu.run(&self.output).map_err(|error| match error {
            DeviceError::Timeout { .. } => Error::Usage(format!(
                "{error}\nhelp: {} is written; allow more time with --firmware-timeout SECONDS",
                self.output.display()
            )),
            error => error.into(),
        })?;
        let (device, host) = (result.result, check(image)?);
        let equal = (device.decision(), device.bound.to_bits(), device.digest)
            == (host.verdict.name(), host.bound.to_bits(), host.digest());
        if !equal {
            return Err(Error::Usage(format!(
                "the device and the host disagree: {}, bound {} and digest {:08x} on the device, \
                 {}, {} and {:08x} on the host\nhelp: build the firmware from the same commit as \
                 hambo",
                device.decision(),
                device.bound,
                device.digest,
                host.verdict.name(),
                host.bound,
                host.digest()
            )));
        }
        Ok(device)
    }
}

/// The whole check on the host, with networks that are small enough for a device.
fn host_check(
    case: &Case,
    level: EffortLevel,
    line: &mut Line,
) -> Result<(Outcome, Adversaries), Error> {
    let mut learning = level.learning(case.effort.seed);
    if let Some(learning) = &mut learning {
        learning.hidden = DEVICE_ADVERSARY.to_vec();
    }
    let contest = contest(case, learning.as_ref(), line);
    line.finish();
    let contest = contest?;
    Ok((contest.outcome, contest.adversaries))
}

/// Whether a check deploys; if not, an error that says why.
fn passes(case: &Case, outcome: &Outcome, place: &str) -> Result<(), Error> {
    if outcome.verdict == Verdict::Deploy {
        return Ok(());
    }
    let mut why = reasons(&case.task, outcome);
    if why.is_empty() {
        why.push("the task states no threshold".to_owned());
    }
    Err(Error::Usage(format!(
        "the controller does not pass {place} ({}): {}\n\
         help: `hambo check` says more; with --force the image is written all the same, and \
         never deploys",
        outcome.verdict.name(),
        why.join("; ")
    )))
}
