//! `hambo device drive`: a built-in system plays the robot of the firmware under QEMU.

use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use hambo_core::drive::{Mode, Stop};
use hambo_core::gate::Verdict;
use hambo_core::image::Bundle;
use hambo_core::link::drive::{Begin, CandidateResult, DriveSummary, Ready};

use crate::exit_code::{ABSTAIN, REJECT};
use crate::monitor::reason;
use hambo_base::Error;
use hambo_base::output::{OutputKind, ensure_output};
use hambo_check::number::Number;
use hambo_console::number::{at_least_one, whole};
use hambo_data::{Format, Log, OutputOptions, Transition, write_table};
use hambo_device::{DeviceDrive, HostDrive, Qemu, drive_on_host};
use hambo_lab::driven_system::DrivenSystem;
use hambo_lab::environment::{Disturbance, DisturbedSystem, EnvironmentRun, named};
use hambo_task::image::AlignedBytes;

/// What `hambo device drive` takes.
#[derive(Args)]
pub struct DriveArguments {
    /// The device image of `hambo export`.
    image: PathBuf,
    /// The system that plays the robot; see `hambo env list`.
    #[arg(long)]
    env: String,
    /// The firmware's ELF file, as `cargo xtask firmware` prints it.
    #[arg(long)]
    firmware: PathBuf,
    /// The robot's floor (`hambo floor`). Without one the emulated robot takes the bundle at
    /// its word.
    #[arg(long)]
    floor: Option<PathBuf>,
    /// Another device image: the device checks it while the first one's controller drives, and
    /// says what came of it. It drives nothing. The robot then takes its time: a period lasts as
    /// long as on a board.
    #[arg(long)]
    candidate: Option<PathBuf>,
    /// Periods, instead of the horizon of the system's task.
    #[arg(long, value_parser = at_least_one::<u32>)]
    steps: Option<u32>,
    /// Seed of the start, of lost measurements and of a controller's own chance.
    #[arg(long, default_value_t = 0, value_parser = whole::<u64>)]
    seed: u64,
    /// The robot's mass, as a multiple of the logged one.
    #[arg(long, default_value_t = 1.0)]
    mass: f64,
    /// What reaches its actuators, as a multiple of what is commanded.
    #[arg(long, default_value_t = 1.0)]
    gain: f32,
    /// Numbers that its sensors add to the measured states, in their order, like 0,0,0.1.
    #[arg(long, value_delimiter = ',')]
    offset: Vec<f32>,
    /// Periods by which its actuators get a command late.
    #[arg(long, default_value_t = 0, value_parser = whole::<usize>)]
    delay: usize,
    /// The probability with which a measurement is lost.
    #[arg(long, default_value_t = 0.0)]
    drop: f32,
    /// Seconds that QEMU may take for check and drive.
    #[arg(long, default_value_t = 900, value_parser = whole::<u64>)]
    firmware_timeout: u64,
    /// The log to write, as the sensors had it: .csv, .npz, .hdf5 or .parquet.
    #[arg(short, long)]
    output: Option<PathBuf>,
    /// A second log: the last transitions that the device itself kept.
    #[arg(long)]
    kept: Option<PathBuf>,
    /// One JSON object instead of the text.
    #[arg(long)]
    json: bool,
}

/// Drives and prints what came of it; returns the exit code.
///
/// # Errors
/// If an input is bad, the device fails, or its actions are not the host's.
pub fn run(arguments: &DriveArguments, out: &mut impl Write) -> Result<u8, Error> {
    for file in [&arguments.output, &arguments.kept].into_iter().flatten() {
        ensure_output(file, OutputKind::Log)?;
    }
    let environment = named(&arguments.env)?;
    let task = environment.task().clone();
    let disturbance = Disturbance {
        mass: arguments.mass,
        gain: arguments.gain,
        offset: arguments.offset.clone(),
        delay: arguments.delay,
        drop: arguments.drop,
    };
    let system = DisturbedSystem::new(environment, disturbance.clone(), arguments.seed)?;
    let mut robot = DrivenSystem::new(system, arguments.steps.unwrap_or(task.horizon));
    if arguments.candidate.is_some() {
        let image = AlignedBytes::read(&arguments.image)?;
        let period = Bundle::parse_prefix(image.as_bytes())?.period();
        robot.wait = Duration::from_micros(u64::from(period.unwrap_or(0)));
    }
    let begin = Begin {
        measured: u16::try_from(task.logged_states().len()).unwrap_or(u16::MAX),
        seed: arguments.seed,
        elsewhere: None,
    };
    let mut qemu = Qemu::new(&arguments.firmware)
        .with_timeout(Duration::from_secs(arguments.firmware_timeout));
    qemu.floor.clone_from(&arguments.floor);
    qemu.candidate.clone_from(&arguments.candidate);
    let device = qemu.drive(&arguments.image, begin, &mut robot)?;
    let image = AlignedBytes::read(&arguments.image)?;
    let host = match device.summary {
        Some(_) => {
            let samples = device.periods.iter().map(|period| &period.sample);
            Some(drive_on_host(&image, begin, samples)?)
        }
        None => None,
    };
    if let Some(host) = &host
        && !host.equals(&device)
    {
        return Err(disagree(host, &device));
    }
    if arguments.json {
        let object = json(arguments, &disturbance, &device, &robot);
        writeln!(out, "{object}")?;
    } else {
        print(arguments, &device, &robot, &task.state_names, out)?;
    }
    if let Some(ready) = device.ready {
        let own = driven(&device, &robot.rewards, (begin, ready))?;
        write(arguments, arguments.output.as_ref(), own, &robot, out)?;
        let kept = kept(&device, (begin, ready))?;
        write(arguments, arguments.kept.as_ref(), kept, &robot, out)?;
    }
    Ok(exit_code(&device))
}

/// Writes a log, if there is a file for it.
fn write(
    arguments: &DriveArguments,
    path: Option<&PathBuf>,
    log: Log,
    robot: &DrivenSystem,
    out: &mut impl Write,
) -> Result<(), Error> {
    if let Some(path) = path {
        let run = EnvironmentRun {
            returns: vec![robot.system.value()],
            terminated: vec![robot.system.has_ended()],
            log,
        };
        let options = OutputOptions {
            format: Format::of_name(path).unwrap_or(Format::Csv),
            minari: false,
            compress: false,
        };
        write_table(path, &run.table(robot.system.system()), options)?;
        if !arguments.json {
            let (rows, path) = (run.log.len(), path.display());
            writeln!(out, "saved {rows} transitions in {path}")?;
        }
    }
    Ok(())
}

fn exit_code(device: &DeviceDrive) -> u8 {
    match (device.result.verdict, device.summary) {
        (Ok(Verdict::Abstain), _) => ABSTAIN,
        (_, None) => REJECT,
        (_, Some(DriveSummary { mode, trip, .. })) => {
            let asked = matches!(mode, Mode::Driving | Mode::Stopped(Stop::Asked));
            if asked && trip.is_none() { 0 } else { ABSTAIN }
        }
    }
}

fn disagree(host: &HostDrive, device: &DeviceDrive) -> Error {
    let first = host
        .acted
        .iter()
        .zip(&device.periods)
        .find(|(own, period)| {
            let bits = |numbers: &[f32]| numbers.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
            own.mode != period.acted.mode || bits(&own.action) != bits(&period.acted.action)
        });
    let place = first.map_or("after the last period".to_owned(), |(own, _)| {
        format!("in period {}", own.tick)
    });
    Error::Usage(format!(
        "the device and the host drive differently, first {place}\n\
         help: build the firmware from the same commit as hambo"
    ))
}

/// The transitions with both states of their own period, as the sensors had them.
fn driven(
    device: &DeviceDrive,
    rewards: &[f64],
    (begin, ready): (Begin, Ready),
) -> Result<Log, Error> {
    let mut log = Log::new(usize::from(begin.measured), usize::from(ready.actions));
    for (pair, reward) in device.periods.windows(2).zip(rewards) {
        let [before, after] = pair else { continue };
        if before.sample.is_fresh && after.sample.is_fresh {
            log.push(Transition {
                state: &before.sample.state,
                action: &before.acted.action,
                next_state: &after.sample.state,
                reward: *reward as f32,
                episode: 0,
            })?;
        }
    }
    Ok(log)
}

/// The device's own last transitions, of the measured states; it knows no reward.
fn kept(device: &DeviceDrive, (begin, ready): (Begin, Ready)) -> Result<Log, Error> {
    let (states, actions) = (usize::from(ready.states), usize::from(ready.actions));
    let measured = usize::from(begin.measured);
    let mut log = Log::new(measured, actions);
    for numbers in &device.kept {
        let Some((state, rest)) = numbers.split_at_checked(states) else {
            continue;
        };
        let Some((action, next_state)) = rest.split_at_checked(actions) else {
            continue;
        };
        log.push(Transition {
            state: state.get(..measured).unwrap_or_default(),
            action,
            next_state: next_state.get(..measured).unwrap_or_default(),
            reward: 0.0,
            episode: 0,
        })?;
    }
    Ok(log)
}

/// The periods in which another one drives than before, from the second on.
fn changes(device: &DeviceDrive) -> impl Iterator<Item = (u32, Mode)> {
    device.periods.windows(2).filter_map(|pair| match pair {
        [before, after] if before.acted.mode != after.acted.mode => {
            Some((after.acted.tick, after.acted.mode))
        }
        _ => None,
    })
}

fn mode_text(mode: Mode, names: &[String]) -> String {
    match mode {
        Mode::Driving => "the checked controller drives".to_owned(),
        Mode::Fallback(trip) => format!("the fallback drives: {}", reason(trip, names)),
        Mode::Stopped(Stop::Asked) => "stopped, as asked".to_owned(),
        Mode::Stopped(Stop::Trip(trip)) => format!("stopped: {}", reason(trip, names)),
        Mode::Stopped(Stop::NotFinite) => "stopped: a number was not finite".to_owned(),
        Mode::Stopped(Stop::Sensor) => "stopped: the sensor failed".to_owned(),
        Mode::Stopped(Stop::PowerOff(trip)) => format!(
            "stopped where the robot may be switched off: {}",
            reason(trip, names)
        ),
        Mode::Stopped(Stop::Actuator) => "stopped: the actuator failed".to_owned(),
        Mode::Stopped(Stop::Memory) => {
            "stopped: what the drive remembers or has read has changed in memory".to_owned()
        }
        Mode::Stopped(Stop::Flash) => {
            "stopped: the bundle in flash is not the one that was checked".to_owned()
        }
    }
}

fn print(
    arguments: &DriveArguments,
    device: &DeviceDrive,
    robot: &DrivenSystem,
    names: &[String],
    out: &mut impl Write,
) -> Result<(), Error> {
    let result = &device.result;
    writeln!(
        out,
        "device: {}, lower bound {:.3}",
        result.decision(),
        Number::from(result.bound)
    )?;
    let Some(summary) = device.summary else {
        for reason in &result.reasons {
            writeln!(out, "because {reason:?}")?;
        }
        writeln!(
            out,
            "nothing moved: no measurement was answered, and the output pin stayed low"
        )?;
        return Ok(());
    };
    writeln!(
        out,
        "{}: {} periods, true return {:.3}",
        arguments.env,
        robot.rewards.len(),
        Number(robot.system.value())
    )?;
    let counts = summary.counts;
    writeln!(
        out,
        "monitor: {} transitions, {} surprises ({} late), {} outside the data",
        counts.steps, counts.surprises, counts.stale, counts.outside
    )?;
    for (tick, mode) in changes(device) {
        writeln!(out, "period {tick}: {}", mode_text(mode, names))?;
    }
    writeln!(
        out,
        "at the end: {}; outputs off",
        mode_text(summary.mode, names)
    )?;
    writeln!(
        out,
        "actions: equal to the host's to the last bit in all {} periods (digest {:08x})",
        summary.ticks, summary.digest
    )?;
    writeln!(
        out,
        "the longest period took {} instructions",
        summary.longest
    )?;
    if arguments.candidate.is_some() {
        writeln!(out, "{}", candidate_text(device.candidate))?;
    }
    Ok(())
}

fn candidate_text(candidate: Option<CandidateResult>) -> String {
    let Some(result) = candidate else {
        return "candidate: the drive ended before its check did".to_owned();
    };
    let (verdict, periods) = (result.decision(), result.period);
    match result.verdict {
        Err(why) => format!("candidate: {verdict}, {why:?}"),
        _ => format!(
            "candidate: {verdict}, lower bound {:.3}, checked within {periods} periods of the \
             drive; it drives nothing before the next start",
            Number::from(result.bound)
        ),
    }
}

fn json(
    arguments: &DriveArguments,
    disturbance: &Disturbance,
    device: &DeviceDrive,
    robot: &DrivenSystem,
) -> serde_json::Value {
    let result = &device.result;
    let summary = device.summary;
    let changes: Vec<_> = changes(device)
        .map(|(period, mode)| serde_json::json!({ "period": period, "mode": mode }))
        .collect();
    serde_json::json!({
        "image": arguments.image,
        "environment": arguments.env,
        "seed": arguments.seed,
        "disturbance": disturbance,
        "verdict": result.decision(),
        "bound": Number::from(result.bound),
        "bound_bits": format!("{:08x}", result.bound.to_bits()),
        "output_driven_high": device.driven_high,
        "periods": robot.rewards.len(),
        "return": summary.map(|_| Number(robot.system.value())),
        "monitor": summary.map(|summary| summary.counts),
        "trip": summary.and_then(|summary| summary.trip),
        "changes": changes,
        "mode": summary.map(|summary| summary.mode),
        "has_fallback": device.ready.map(|ready| ready.has_fallback),
        "digest": summary.map(|summary| format!("{:08x}", summary.digest)),
        "equals_host": summary.map(|_| true),
        "kept": device.kept.len(),
        "instructions": summary.map(|summary| summary.longest),
        "stack_high_water": summary.map(|summary| summary.stack_high_water),
        "candidate": device.candidate.map(|result| serde_json::json!({
            "verdict": result.decision(),
            "bound": Number::from(result.bound),
            "bound_bits": format!("{:08x}", result.bound.to_bits()),
            "digest": format!("{:08x}", result.digest),
            "periods": result.period,
        })),
    })
}
