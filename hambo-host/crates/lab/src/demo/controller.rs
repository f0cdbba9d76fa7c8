//! One controller, checked on the host and on the device.

use std::io::{self, Write};
use std::path::Path;

use hambo_core::check::Outcome;
use hambo_core::image::Image;

use super::experiment::{Experiment, policy};
use crate::environment::TruePath;
use hambo_base::Error;
use hambo_base::error::Explained;
use hambo_base::files::write_whole;
use hambo_check::findings::Findings;
use hambo_check::parallel::{Checked, LANES, Watch, check};
use hambo_device::{DeviceReport, Qemu};
use hambo_task::image::{BundleAbout, encode_bundle};

/// What is known of one controller.
#[derive(Debug)]
pub(super) struct CheckedController {
    pub y: f32,
    pub truth: TruePath,
    pub outcome: Outcome,
    /// What the adversary chose on the first trajectory.
    pub findings: Vec<Findings>,
    pub device: Option<DeviceReport>,
}

impl CheckedController {
    /// Checks pi_y. The bundle goes to `folder`, if there is one, from where the device runs.
    pub fn check(
        experiment: &Experiment,
        y: f32,
        qemu: Option<&Qemu>,
        folder: Option<&Path>,
    ) -> Result<Self, Error> {
        let bytes = experiment.image(y)?;
        let file = folder.map(|folder| folder.join(format!("pi_{y}.hmb")));
        if let Some(file) = &file {
            let bundle = encode_bundle(bytes.as_bytes(), &BundleAbout::default(), None)?;
            write_whole(file, bundle.as_bytes())?;
        }
        let watch = Watch {
            keep: 1,
            ..Watch::NONE
        };
        let Checked {
            outcome, findings, ..
        } = check::<LANES>(&Image::parse(bytes.as_bytes())?, watch)?;
        let device = qemu.zip(file).map(|(qemu, file)| qemu.run(&file));
        let device = device.transpose()?;
        if let Some(DeviceReport { result, .. }) = &device {
            let (host, device) = (outcome.bound.to_bits(), result.bound.to_bits());
            let same = host == device
                && result.digest == outcome.digest()
                && result.verdict == Ok(outcome.verdict);
            if !same {
                return Err(Parity {
                    policy: format!("pi_{y}"),
                    host,
                    device,
                }
                .into());
            }
        }
        Ok(Self {
            y,
            truth: experiment.system.walk(&policy(y)?),
            outcome,
            findings,
            device,
        })
    }
}

/// Host and device disagree: the worst that can happen.
#[derive(Debug, thiserror::Error)]
#[error(
    "{policy}: host and device disagree: {host:08x} and {device:08x}; do not trust either and report this"
)]
struct Parity {
    policy: String,
    /// Bits of the bound on each side.
    host: u32,
    device: u32,
}

impl Explained for Parity {}

/// The closing table.
pub(super) fn print_table(
    controllers: &[CheckedController],
    threshold: Option<f32>,
    out: &mut impl Write,
) -> io::Result<()> {
    let threshold = threshold.unwrap_or(f32::NAN);
    writeln!(
        out,
        "\nreturns, and the lower bound that decides (threshold {threshold})\n"
    )?;
    writeln!(
        out,
        "controller     truth   neutral  CA bound, host     CA bound, device    bits   verdict"
    )?;
    for controller in controllers {
        let Outcome {
            bound,
            neutral,
            verdict,
            ..
        } = &controller.outcome;
        let device = match &controller.device {
            Some(DeviceReport { result, .. }) => {
                format!(
                    "{:>8.3} {:08x}  equal",
                    result.bound,
                    result.bound.to_bits()
                )
            }
            None => format!("{:>8}                ", "not run"),
        };
        writeln!(
            out,
            "pi_{:<6} {:>10.3} {:>9.3}  {:>8.3} {:08x}  {device}  {}",
            controller.y,
            controller.truth.value,
            neutral,
            bound,
            bound.to_bits(),
            verdict.name()
        )?;
    }
    for (controller, report) in controllers
        .iter()
        .filter_map(|controller| Some((controller, controller.device.as_ref()?)))
    {
        let usage = report.result.usage;
        writeln!(
            out,
            "  device, pi_{}: {:.1} million {}, {} bytes of stack, {} of workspace, {} of flash; outputs {}",
            controller.y,
            usage.work.count() as f64 / 1e6,
            usage.work.unit(),
            usage.stack_high_water,
            usage.workspace_bytes,
            report.flash_bytes,
            if report.result.output_enabled {
                "enabled"
            } else {
                "disabled"
            }
        )?;
    }
    Ok(())
}
