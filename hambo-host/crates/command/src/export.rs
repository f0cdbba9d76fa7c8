//! `hambo export`: a bundle for a device with its budget. It is written only if the controller
//! passes, on the host at the effort of `hambo check` and with the image's own effort, and
//! if it fits the board.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use hambo_base::Error;
use hambo_base::files::write_whole;
use hambo_base::output::{OutputKind, ensure_output};
use hambo_check::adversary::EffortLevel;
use hambo_check::bundle::{
    BundleOptions, build_bundle, ensure_admissible, ensure_admitted, workspace_bytes,
};
use hambo_check::case::Case;
use hambo_check::number::Number;
use hambo_check::parallel::{LANES, Watch, check};
use hambo_core::image::{Bundle, Image, Role};
use hambo_core::link::device::DeviceResult;
use hambo_device::{DeviceError, Qemu};
use hambo_learn::model_file::ModelFile;
use hambo_learn::monitor::settings;
use hambo_task::image::{AlignedBytes, BundleAbout, encode_policy};
use hambo_task::policy::HostPolicy;
use hambo_task::signing::sign;
use hambo_task::task::TaskFile;

use super::board::Board;
use super::case::CaseArguments;
use super::device_effort::DeviceEffort;
use super::key::{digits, signing_key};
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
    /// The key that signs the bundle (NAME.key of `hambo key new`).
    #[arg(long, value_name = "KEY")]
    sign: Option<PathBuf>,
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

/// Checks the controller, writes the image and tells what it takes.
///
/// # Errors
/// If an input is bad, the controller does not pass, or the image does not fit the board;
/// then nothing is written.
pub fn run(arguments: &ExportArguments, out: &mut impl Write) -> Result<(), Error> {
    let board = Board::named(&arguments.board)?;
    // Before the check, which takes its time.
    ensure_output(&arguments.output, OutputKind::Image)?;
    if let Some(firmware) = &arguments.firmware {
        Qemu::new(firmware).ensure_firmware()?;
    }
    let key = signing_key(arguments.sign.as_deref(), Role::Controllers)?;
    let task = TaskFile::read(&arguments.task)?;
    let model = ModelFile::read(&arguments.model)?;
    let policy = HostPolicy::read(&arguments.policy, &task)?;
    let log = arguments.case.log(&task)?;
    let options = arguments.case.options(log.as_ref(), EffortLevel::Normal)?;
    let mut case = Case::new(&task, &model, &policy, &options)?;
    let fallback = match &arguments.fallback {
        Some(file) => Some(encode_policy(&HostPolicy::read(file, &task)?)?),
        None => None,
    };
    let bundle = BundleOptions {
        about: arguments.about(&task, &model)?,
        effort: options.effort,
        device: arguments.effort.of(case.demand(), case.plan.effort.seed),
        fallback,
        force: arguments.force,
    };
    let floor = arguments.floor.as_deref().map(AlignedBytes::read);
    let floor = floor.transpose()?;
    if let Some(floor) = &floor {
        // What no check changes is refused before it.
        ensure_admissible(&case, &bundle, floor)?;
    }
    let mut line = Line::begin();
    let bytes = build_bundle(&mut case, &bundle, &mut line);
    line.finish();
    let mut bytes = bytes?;
    if let Some(key) = &key {
        bytes = sign(&bytes, key)?;
    }
    let bytes = bytes.as_bytes();
    let bundle = Bundle::parse(bytes)?;
    if let Some(floor) = &floor {
        ensure_admitted(floor, &bundle)?;
    }
    let image = bundle.image();
    let ram = workspace_bytes(image)?;
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
            "signed_with": key.as_ref().map(|key| digits(key.public().as_bytes())),
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
    if let Some(sign) = &arguments.sign {
        writeln!(out, "signed with {}", sign.display())?;
    }
    writeln!(out, "saved {}", arguments.output.display())?;
    Ok(())
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
                "{error}\nhelp: {} is written",
                self.output.display()
            )),
            error => error.into(),
        })?;
        let (device, host) = (result.result, check::<LANES>(image, Watch::NONE)?.outcome);
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
