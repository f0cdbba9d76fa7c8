//! The robot in the loop: the firmware under QEMU checks a controller and drives the pendulum
//! with it, or never moves it.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests"
)]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Duration;

use hambo_base::observer::Unobserved;
use hambo_core::drive::{KEPT, Mode, Stop};
use hambo_core::image::MonitorSettings;
use hambo_core::link::drive::Begin;
use hambo_core::task::{Allocation, Effort};
use hambo_data::{Log, Transition};
use hambo_device::{DeviceDrive, Qemu, drive_on_host};
use hambo_lab::driven_system::DrivenSystem;
use hambo_lab::environment::{Disturbance, DisturbedSystem, Pendulum, rollout, rollout_for};
use hambo_learn::ensemble::EnsembleOptions;
use hambo_learn::fit::{FitOptions, ModelOptions, fit};
use hambo_learn::monitor::settings;
use hambo_task::image::{AlignedBytes, BundleAbout, encode_bundle, encode_image, encode_policy};
use hambo_task::policy::HostPolicy;
use hambo_task::task::TaskFile;

/// The pendulum with its geometry known: only the speed is learned.
const TASK: &str = r#"
name = "pendulum"
horizon = 30
delta = 0.1
threshold = -400

[state]
names = ["c", "s", "omega"]
low = [-1, -1, -8]
high = [1, 1, 8]

[action]
names = ["torque"]
low = [-2]
high = [2]

[known]
c = "c * cos(0.05 * next.omega) - s * sin(0.05 * next.omega)"
s = "s * cos(0.05 * next.omega) + c * sin(0.05 * next.omega)"

[reward]
expr = "-(atan2(s, c)^2 + 0.1 * omega^2 + 0.001 * torque^2)"

[initial]
kind = "data"
"#;

/// The first seed whose start hangs low.
fn seed() -> u64 {
    let hangs = |seed: &u64| {
        let start = DisturbedSystem::new(pendulum(), Disturbance::default(), *seed);
        start.unwrap().measure().state[0] < -0.9
    };
    (0..).find(hangs).unwrap()
}

fn pendulum() -> Box<Pendulum> {
    Box::new(Pendulum::new().unwrap())
}

fn firmware() -> PathBuf {
    let variable = std::env::var_os("HAMBO_FIRMWARE");
    variable
        .expect("HAMBO_FIRMWARE names the firmware: run `cargo xtask test`")
        .into()
}

fn agent(steps: u32) -> HostPolicy {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../hambo-host/crates/lab/agents");
    let task = TaskFile::parse(TASK, "task.toml").unwrap();
    HostPolicy::read(folder.join(format!("pendulum_{steps}.onnx")), &task).unwrap()
}

/// A model of a log of both controllers, and the first states of its episodes.
struct Logged {
    model_part: Vec<u8>,
    monitor: MonitorSettings,
    starts: Vec<f32>,
}

fn logged() -> &'static Logged {
    static LOGGED: OnceLock<Logged> = OnceLock::new();
    LOGGED.get_or_init(|| {
        let task = TaskFile::parse(TASK, "task.toml").unwrap();
        let system = Pendulum::new().unwrap();
        let mut log = Log::new(3, 1);
        let mut starts = Vec::new();
        for (place, steps) in (0..).zip([20_000, 6_000]) {
            let run = rollout(&system, &agent(steps), 40, 0.4, place).unwrap();
            let mut last = None;
            for row in run.log.rows() {
                let episode = 40 * place as u32 + row.episode;
                if last.replace(episode) != Some(episode) {
                    starts.extend(row.state);
                }
                log.push(Transition { episode, ..row }).unwrap();
            }
        }
        let networks = EnsembleOptions {
            hidden: vec![32, 32],
            steps: 2000,
            seed: 1,
            ..EnsembleOptions::default()
        };
        let options = FitOptions::new(ModelOptions::Networks(networks));
        let (model, _) = fit(&task, &log, &options, &mut Unobserved).unwrap();
        Logged {
            monitor: settings(&model.metadata().calibration, 0.01),
            model_part: model.model_part().to_vec(),
            starts,
        }
    })
}

/// The bundle of the good controller with this threshold, perhaps with a fallback.
fn image(threshold: f32, fallback: Option<&HostPolicy>) -> Vec<u8> {
    image_of(threshold, fallback, [40, 2, 2])
}

/// That bundle with these numbers of trajectories, searched trajectories and sweeps.
fn image_of(
    threshold: f32,
    fallback: Option<&HostPolicy>,
    [trajectories, searched, iterations]: [u32; 3],
) -> Vec<u8> {
    let mut task = TaskFile::parse(TASK, "task.toml").unwrap();
    task.threshold = Some(threshold);
    let effort = Effort {
        trajectories,
        searched,
        iterations,
        seed: 0,
        allocation: Allocation::Even,
    };
    let Logged {
        model_part, starts, ..
    } = logged();
    let policy = encode_policy(&agent(20_000)).unwrap();
    let image = encode_image(model_part, &task, effort, starts, &policy).unwrap();
    let fallback = fallback.map(|fallback| encode_policy(fallback).unwrap());
    bundle(&image, fallback.as_deref())
}

fn bundle(image: &[u8], fallback: Option<&[u8]>) -> Vec<u8> {
    let about = BundleAbout {
        period: Some(50_000),
        monitor: Some(logged().monitor),
        ..BundleAbout::default()
    };
    let bundle = encode_bundle(image, &about, fallback).unwrap();
    bundle.as_bytes().to_vec()
}

const BEGIN: Begin = Begin {
    measured: 3,
    seed: 0,
    elsewhere: None,
};

/// What the firmware and the robot did.
fn drive(name: &str, image: &[u8], disturbance: Disturbance) -> (DeviceDrive, DrivenSystem) {
    let folder = std::env::temp_dir().join(format!("hambo-drive-{name}-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let file = folder.join("image.hmb");
    fs::write(&file, image).unwrap();
    let system = DisturbedSystem::new(pendulum(), disturbance, seed()).unwrap();
    let mut robot = DrivenSystem::new(system, 200);
    let qemu = Qemu::new(firmware()).with_timeout(Duration::from_secs(900));
    let driven = qemu.drive(&file, BEGIN, &mut robot).unwrap();
    fs::remove_dir_all(folder).unwrap();
    (driven, robot)
}

/// Whether the host does the same with the same samples, to the last bit.
fn equal(image: &[u8], device: &DeviceDrive) -> bool {
    let samples = device.periods.iter().map(|period| &period.sample);
    let host = drive_on_host(&AlignedBytes::new(image), BEGIN, samples).unwrap();
    host.equals(device)
}

#[test]
fn the_pendulum_is_swung_up_through_the_firmware_with_the_hosts_bits() {
    let image = image(-400.0, None);
    let (device, robot) = drive("good", &image, Disturbance::default());
    assert_eq!(device.result.decision(), "deploy", "{:?}", device.result);
    assert!(device.driven_high);
    let summary = device.summary.unwrap();
    assert_eq!(
        (summary.ticks, summary.mode),
        (200, Mode::Stopped(Stop::Asked))
    );
    assert_eq!(summary.trip, None, "{:?}", summary.counts);
    // An edge in every period: 200 of them leave the line low.
    assert_eq!(device.edges, 200);
    assert!(equal(&image, &device));
    assert_eq!(device.kept.len(), KEPT);
    let value = robot.system.value();
    println!(
        "true return {value:.3}, bound {}, {} instructions a period, {:?}",
        device.result.bound, summary.longest, summary.counts
    );
    // From below the axis to upright.
    let first = &device.periods[0].sample.state;
    let last = &device.periods[199].sample.state;
    assert!(first[0] < 0.0 && last[0] > 0.99, "{first:?} {last:?}");
    // What the same controller earns without any device, to the last bit.
    let system = Pendulum::new().unwrap();
    let run = rollout_for(200, &system, &agent(20_000), 1, 0.0, seed()).unwrap();
    assert_eq!(value.to_bits(), run.returns[0].to_bits());
}

#[test]
fn another_controller_is_checked_while_the_first_one_drives() {
    let folder = std::env::temp_dir().join(format!("hambo-candidate-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let (driving, candidate) = (folder.join("driving.hmb"), folder.join("candidate.hmb"));
    let driven = image(-400.0, None);
    fs::write(&driving, &driven).unwrap();
    fs::write(&candidate, image_of(-1.0, None, [24, 2, 1])).unwrap();
    let qemu = Qemu::new(firmware()).with_timeout(Duration::from_secs(900));
    let alone = qemu.run(&candidate).unwrap().result;
    assert_eq!(alone.decision(), "reject");

    let qemu = qemu.with_candidate(&candidate);
    let robot = |periods| {
        let system = DisturbedSystem::new(pendulum(), Disturbance::default(), seed()).unwrap();
        let mut robot = DrivenSystem::new(system, periods);
        robot.wait = Duration::from_millis(10);
        robot
    };
    let device = qemu.drive(&driving, BEGIN, &mut robot(600)).unwrap();
    let result = device.candidate.expect("no verdict within 600 periods");
    let summary = device.summary.unwrap();
    println!(
        "checked within {} periods; {} bytes of stack, {} instructions a period",
        result.period, summary.stack_high_water, summary.longest
    );
    // The bits of a check without a drive, and a drive as without a candidate.
    assert_eq!(result.verdict, alone.verdict);
    assert_eq!(result.bound.to_bits(), alone.bound.to_bits());
    assert_eq!(result.digest, alone.digest);
    assert!((1..600).contains(&result.period));
    assert_eq!((summary.ticks, device.edges), (600, 600));
    assert!(equal(&driven, &device));

    // With the end of the drive the check ends too, and says nothing.
    let device = qemu.drive(&driving, BEGIN, &mut robot(3)).unwrap();
    assert_eq!((device.candidate, device.edges), (None, 4));
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_rejected_controller_never_moves_it() {
    let image = image(1.0, None);
    let (device, robot) = drive("rejected", &image, Disturbance::default());
    assert_eq!(device.result.decision(), "reject");
    assert!(!device.driven_high && device.periods.is_empty());
    assert!(device.ready.is_none() && device.summary.is_none());
    assert!(robot.rewards.is_empty());
}

#[test]
fn a_weaker_motor_trips_the_monitor_and_the_fallback_acts_in_the_next_period() {
    let fallback = agent(6_000);
    let image = image(-400.0, Some(&fallback));
    let weak = Disturbance {
        gain: 0.7,
        ..Disturbance::default()
    };
    let (device, _) = drive("weak", &image, weak.clone());
    assert_eq!(device.result.decision(), "deploy", "{:?}", device.result);
    assert!(device.ready.unwrap().has_fallback);
    assert!(equal(&image, &device));
    let modes: Vec<Mode> = device.periods.iter().map(|one| one.acted.mode).collect();
    let tripped = modes
        .iter()
        .position(|mode| *mode != Mode::Driving)
        .unwrap();
    println!("tripped in period {tripped}: {:?}", modes[tripped]);
    assert!(matches!(modes[tripped], Mode::Fallback(_)));
    assert!(modes[tripped..].iter().all(|mode| *mode == modes[tripped]));
    assert_eq!(modes.len(), 200);
    // The observation that trips and the fallback's first action are of one period.
    let period = &device.periods[tripped].acted;
    assert!(period.observation.unwrap().trip.is_some());
    let before = &device.periods[tripped - 1].acted;
    assert!(before.observation.is_none_or(|seen| seen.trip.is_none()));
    // The two controllers disagree there, and each period has the action of its own.
    let action = |policy: &HostPolicy, at: usize| {
        let bytes = encode_image(
            &logged().model_part,
            &TaskFile::parse(TASK, "task.toml").unwrap(),
            Effort {
                trajectories: 1,
                searched: 0,
                iterations: 0,
                seed: 0,
                allocation: Allocation::Even,
            },
            &logged().starts,
            &encode_policy(policy).unwrap(),
        );
        let samples = device.periods[at..=at].iter().map(|one| &one.sample);
        let bytes = AlignedBytes::new(&bundle(&bytes.unwrap(), None));
        let host = drive_on_host(&bytes, BEGIN, samples).unwrap();
        host.acted[0].action[0].to_bits()
    };
    let driven = |at: usize| device.periods[at].acted.action[0].to_bits();
    let checked = agent(20_000);
    assert_eq!(driven(tripped - 1), action(&checked, tripped - 1));
    assert_eq!(driven(tripped), action(&fallback, tripped));
    assert_ne!(driven(tripped), action(&checked, tripped));
    // The last transition kept is the one that tripped.
    let state = &device.periods[tripped].sample.state;
    assert_eq!(device.kept.last().unwrap()[4..], state[..]);

    // Without a fallback the outputs go off instead, in the same period.
    let image = self::image(-400.0, None);
    let (device, robot) = drive("stopped", &image, weak);
    assert_eq!(
        (device.periods.len(), robot.rewards.len()),
        (tripped + 1, tripped)
    );
    let mode = device.summary.unwrap().mode;
    assert!(matches!(mode, Mode::Stopped(Stop::Trip(_))), "{mode:?}");
    assert!(equal(&image, &device));
}
