//! The firmware under QEMU: the same bits as the host, closed for every bad
//! image, open for the good one.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests"
)]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use hambo_base::observer::Unobserved;
use hambo_check::parallel::{LANES, Watch, check};
use hambo_core::check::Outcome;
use hambo_core::gate::Reason;
use hambo_core::gate::Verdict;
use hambo_core::image::MonitorSettings;
use hambo_core::image::{Image, ImageError, Part, Problem};
use hambo_core::link::device::{Refusal, WatchedDrive};
use hambo_core::task::Variant;
use hambo_core::task::{Allocation, Effort};
use hambo_data::{Log, with_memory};
use hambo_device::{DeviceError, DeviceReport, Qemu};
use hambo_lab::demo::Experiment;
use hambo_learn::ensemble::EnsembleOptions;
use hambo_learn::fit::{FitOptions, ModelOptions, fit};
use hambo_learn::gaussian_process::VarianceGroups;
use hambo_task::image::{
    Adversaries, AlignedBytes, BundleAbout, encode_bundle, encode_image, encode_policy,
};
use hambo_task::policy::HostPolicy;
use hambo_task::task::TaskFile;
use hambo_tests::fixture::{self, Draw};
use hambo_tests::recording::{Recorded, recording, watched};
use hambo_tests::{angle, gaussian_process, pid, policy};
use rayon::prelude::*;

fn firmware() -> PathBuf {
    let variable = std::env::var_os("HAMBO_FIRMWARE");
    variable
        .expect("HAMBO_FIRMWARE names the firmware: run `cargo xtask test`")
        .into()
}

fn bundle(image: &[u8]) -> AlignedBytes {
    encode_bundle(image, &BundleAbout::default(), None).unwrap()
}

/// A folder that goes away with the test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("hambo-device-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    /// Runs an image in a bundle.
    fn run(&self, name: &str, image: &[u8]) -> DeviceReport {
        self.run_bytes(name, bundle(image).as_bytes())
    }

    fn run_bytes(&self, name: &str, bytes: &[u8]) -> DeviceReport {
        let file = self.0.join(name);
        fs::write(&file, bytes).unwrap();
        Qemu::new(firmware()).run(Path::new(&file)).unwrap()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Whether the pin's register was ever written high.
fn driven_high(report: &DeviceReport) -> bool {
    assert!(
        !report.gpio_writes.is_empty(),
        "the pin must at least have been driven low"
    );
    report
        .gpio_writes
        .iter()
        .any(|write| write.enables_outputs())
}

/// Holds the device against the host on every estimate, and its pin against
/// its verdict.
fn agree(folder: &Folder, name: &str, bytes: &[u8], host: &Outcome) -> &'static str {
    let report = folder.run(name, bytes);
    let device = &report.result;
    assert_eq!(device.bound.to_bits(), host.bound.to_bits(), "{name}");
    assert_eq!(device.neutral.to_bits(), host.neutral.to_bits(), "{name}");
    assert_eq!(device.digest, host.digest(), "{name}");
    assert_eq!(device.decision(), host.verdict.name(), "{name}");
    assert_eq!(device.reasons, host.reasons, "{name}");
    let deploy = device.verdict == Ok(Verdict::Deploy);
    assert_eq!(driven_high(&report), deploy);
    assert_eq!(device.output_enabled, deploy);
    device.decision()
}

/// Of all variants but mean propagation, which is always estimated, three in turn.
fn three_variants(seed: u64) -> impl Iterator<Item = Variant> {
    let others = fixture::VARIANTS
        .into_iter()
        .filter(|one| *one != Variant::Mean);
    let first = 3 * seed as usize % (fixture::VARIANTS.len() - 1);
    others.cycle().skip(first).take(3)
}

/// Random images of each kind of model; `HAMBO_PARITY_IMAGES=1100 cargo xtask test` runs more.
fn images() -> u64 {
    let wanted = std::env::var("HAMBO_PARITY_IMAGES").ok();
    wanted.map_or(150, |wanted| {
        wanted.parse().expect("HAMBO_PARITY_IMAGES is a number")
    })
}

/// Three variants beside mean propagation in every image; every kind of policy and head in
/// turn.
#[test]
fn host_and_device_agree_bit_for_bit_on_ensembles() {
    let folder = Folder::new("parity");
    let verdicts: Vec<&str> = (0..images())
        .into_par_iter()
        .map(|seed| {
            let policy = |_: &mut Draw, [states, actions]: [usize; 2]| {
                Ok(policy::random(seed, states, actions))
            };
            let bytes = fixture::image_with(seed, policy, |_, method| {
                method.variants.clear();
                method.variants.extend(three_variants(seed));
            })
            .unwrap();
            let host = check::<LANES>(&Image::parse(bytes.as_bytes()).unwrap(), Watch::NONE)
                .unwrap()
                .outcome;
            assert!(host.estimates.len() > 3);
            agree(&folder, &format!("{seed}.hmb"), bytes.as_bytes(), &host)
        })
        .collect();
    for verdict in ["deploy", "reject"] {
        assert!(verdicts.contains(&verdict), "no {verdict} among the cases");
    }
}

/// A controller on a model of its log: the bound lies below the truth, the controller is deployed,
/// and the device says the same to the last bit.
fn deployed_with_equal_bits(name: &str, task: &TaskFile, log: &Log, policy: &str, truth: f64) {
    let options = EnsembleOptions {
        seed: 1,
        ..EnsembleOptions::demo()
    };
    let options = FitOptions::new(ModelOptions::Networks(options));
    let (model, _) = fit(task, log, &options, &mut Unobserved).unwrap();
    let effort = Effort {
        trajectories: 64,
        searched: 4,
        iterations: 20,
        seed: 0,
        allocation: Allocation::Even,
    };
    let policy = HostPolicy::parse(policy, "policy.toml", task).unwrap();
    let policy = encode_policy(&policy).unwrap();
    let bytes = encode_image(model.model_part(), task, effort, &[], &policy).unwrap();
    let bytes = AlignedBytes::new(&bytes);
    let host = check::<LANES>(&Image::parse(bytes.as_bytes()).unwrap(), Watch::NONE)
        .unwrap()
        .outcome;
    // This is the controller meant: another one returns something else.
    let near = (f64::from(host.neutral) - truth).abs() < 0.1 * truth.abs();
    assert!(near, "{} {truth}", host.neutral);
    assert!(f64::from(host.bound) < truth, "{} {truth}", host.bound);
    let folder = Folder::new(name);
    let verdict = agree(&folder, &format!("{name}.hmb"), bytes.as_bytes(), &host);
    assert_eq!(verdict, "deploy", "{} {truth}", host.bound);
}

/// An integral and a filtered derivative, which the log does not have.
#[test]
fn a_controller_with_memory_agrees_bit_for_bit() {
    let task = pid::task().unwrap();
    let log = with_memory(&pid::log(60).unwrap(), &task.model_view()).unwrap();
    deployed_with_equal_bits("pid", &task, &log, pid::POLICY, pid::truth(20_000));
}

/// Sine, cosine and speed, where the task's state is an angle.
#[test]
fn a_controller_that_sees_functions_of_the_state_agrees_bit_for_bit() {
    let (task, log) = (angle::task().unwrap(), angle::log(60).unwrap());
    deployed_with_equal_bits("angle", &task, &log, angle::POLICY, angle::truth(20_000));
}

/// Host and device compute the same bits for images with Gaussian processes.
#[test]
fn host_and_device_agree_bit_for_bit_on_gaussian_processes() {
    let folder = Folder::new("parity-gp");
    let (verdicts, cases): (Vec<_>, Vec<_>) = (0..images())
        .into_par_iter()
        .map(|seed| {
            let policy = |_: &mut Draw, [states, actions]: [usize; 2]| {
                Ok(policy::random(seed, states, actions))
            };
            // In every third image the variance takes points together.
            let groups = match seed % 3 {
                2 => VarianceGroups::Count(1 + seed as usize % 9),
                _ => VarianceGroups::Alone,
            };
            let bytes = gaussian_process::image_with_groups(seed, groups, policy).unwrap();
            let image = Image::parse(bytes.as_bytes()).unwrap();
            let host = check::<LANES>(&image, Watch::NONE).unwrap().outcome;
            let verdict = agree(&folder, &format!("{seed}.hmb"), bytes.as_bytes(), &host);
            let kernels = gaussian_process::kernels(&image).to_vec();
            (verdict, (kernels, gaussian_process::has_groups(&image)))
        })
        .unzip();
    let (kernels, grouped): (Vec<_>, Vec<_>) = cases.into_iter().unzip();
    let grouped = grouped.into_iter().filter(|grouped| *grouped).count();
    assert!(grouped as u64 >= images() / 6, "{grouped} with groups");
    // Every kernel in enough outputs.
    let kernels: Vec<_> = kernels.into_iter().flatten().collect();
    for kernel in gaussian_process::KERNELS {
        let count = kernels.iter().filter(|k| **k == kernel).count();
        assert!(count as u64 >= images() / 11, "{kernel:?}: {count}");
    }
    for verdict in ["deploy", "reject"] {
        assert!(verdicts.contains(&verdict), "no {verdict} among the cases");
    }
}

#[test]
fn the_gate_from_both_sides() {
    let folder = Folder::new("gate");
    let experiment = Experiment::new(0).unwrap();
    // The demo's images with a fourth of its trajectories: `cargo xtask demo` runs all.
    let run = |y: f32| {
        let mut case = experiment.case(y).unwrap();
        case.plan.effort.trajectories = 100;
        case.plan.effort.searched = 2;
        let image = case.image(&Adversaries::default()).unwrap();
        folder.run(&format!("pi_{y}.hmb"), image.as_bytes())
    };
    let (danger, safe) = rayon::join(|| run(1.1), || run(1.6));
    assert_eq!(danger.result.verdict, Ok(Verdict::Reject));
    assert_eq!(danger.result.reasons, [Reason::ReturnBelowThreshold]);
    assert!(!danger.result.output_enabled && !driven_high(&danger) && danger.exit_success);
    assert_eq!(safe.result.verdict, Ok(Verdict::Deploy));
    assert!(safe.result.output_enabled && driven_high(&safe) && safe.exit_success);
    assert!(safe.result.usage.stack_high_water < 60 * 1024);
}

#[test]
fn corrupted_images_never_deploy() {
    let folder = Folder::new("corrupted");
    // An image that deploys as it is.
    let seed = (0..100).find(|seed| {
        let bytes = fixture::image(*seed).unwrap();
        let outcome = check::<LANES>(&Image::parse(bytes.as_bytes()).unwrap(), Watch::NONE)
            .unwrap()
            .outcome;
        outcome.verdict.name() == "deploy"
    });
    let good = bundle(fixture::image(seed.unwrap()).unwrap().as_bytes());
    let good = good.as_bytes();
    let report = folder.run_bytes("good.hmb", good);
    assert_eq!(report.result.verdict, Ok(Verdict::Deploy));

    let draw = &mut Draw::new(99);
    let mut flips: Vec<(usize, u8)> = (0..200)
        .map(|_| (draw.below(good.len()), 1 << draw.below(8)))
        .collect();
    // Every byte of the first header's fixed fields, too.
    flips.extend((0..20).map(|position| (position, 0x40)));
    flips.into_par_iter().for_each(|(position, flip)| {
        let mut bytes = good.to_vec();
        bytes[position] ^= flip;
        let report = folder.run_bytes(&format!("{position}-{flip}.hmb"), &bytes);
        let verdict = report.result.verdict;
        assert!(
            matches!(verdict, Err(Refusal::Image(_))),
            "byte {position} ^ {flip:02x}: {verdict:?}"
        );
        assert!(!report.exit_success && !driven_high(&report));
    });
}

#[test]
fn an_empty_flash_and_a_huge_model_are_refused() {
    let folder = Folder::new("refused");
    let erased = folder.run_bytes("erased.hmb", &[0xFF; 1024]);
    let error = ImageError {
        part: Part::Bundle,
        problem: Problem::Magic,
    };
    let refused = Err(Refusal::Image(error));
    assert_eq!(erased.result.verdict, refused);
    assert!(!driven_high(&erased));

    // A horizon that the workspace cannot hold: typed, not a fault.
    let bytes = fixture::long_image(50_000).unwrap();
    let long = folder.run("long.hmb", bytes.as_bytes());
    let verdict = long.result.verdict;
    assert!(matches!(verdict, Err(Refusal::Capacity(_))), "{verdict:?}");
    assert!(!driven_high(&long));
}

/// `hambo export --firmware` shows what the device decided, and keeps the image when the time
/// is up.
#[test]
fn an_export_shows_what_the_device_says() {
    let folder = Folder::new("export");
    // Beside the folder of this test lies the program that was built with it.
    let tests = std::env::current_exe().unwrap();
    let hambo = tests.parent().unwrap().with_file_name("hambo");
    let run = |line: &str| {
        let mut command = std::process::Command::new(&hambo);
        command.current_dir(&folder.0).args(line.split_whitespace());
        let output = command.output().expect("`cargo test --bins` builds hambo");
        let text = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
        (output.status.code(), text)
    };
    let mut log = "x,v,u,next.x,next.v,episode\n".to_owned();
    let draw = &mut Draw::new(0xE4);
    for episode in 0..40 {
        let (mut x, mut v) = (draw.normal(), 0.5 * draw.normal());
        for _ in 0..20 {
            let u = (-x - v + 0.5 * draw.normal()).clamp(-1.0, 1.0);
            let (next_x, next_v) = (x + 0.1 * v, 0.9 * v + 0.1 * u + 0.01 * draw.normal());
            log += &format!("{x},{v},{u},{next_x},{next_v},{episode}\n");
            (x, v) = (next_x, next_v);
        }
    }
    let task = "name = 'cart'\nhorizon = 8\nthreshold = -50\n[state]\nnames = ['x', 'v']\n\
         [action]\nnames = ['u']\nlow = [-1]\nhigh = [1]\n[reward]\nexpr = '-x^2'\n\
         [initial]\nkind = 'point'\nvalue = [0.5, 0]\n";
    fs::write(folder.0.join("log.csv"), log).unwrap();
    fs::write(folder.0.join("task.toml"), task).unwrap();
    let policy = "kind = 'linear'\ngain = [[-1, -1]]\nbias = [0]\n";
    fs::write(folder.0.join("pd.toml"), policy).unwrap();
    let fitted = run("fit task.toml --data log.csv --hidden 16,16 --steps 600 -o m.hambo");
    assert_eq!(fitted.0, Some(0), "{}", fitted.1);
    let firmware = firmware();
    let export = format!(
        "export m.hambo --task task.toml --policy pd.toml --firmware {}",
        firmware.display()
    );
    let small = "--device-trajectories 64 --device-searched 2 --device-sweeps 4";
    let (code, text) = run(&format!("{export} {small} -o image.hmb"));
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("device: deploy, lower bound"), "{text}");
    assert!(text.contains("equal on the host"), "{text}");
    let large = "--device-trajectories 4000 --device-searched 8 --firmware-timeout 1";
    let (code, text) = run(&format!("{export} {large} -o late.hmb"));
    assert_eq!(code, Some(2), "{text}");
    assert!(text.contains("late.hmb is written"), "{text}");
    assert!(text.contains("--firmware-timeout"), "{text}");
    assert!(folder.0.join("late.hmb").is_file());
}

/// A thousand transitions through random models of both kinds: usual ones, surprises, samples
/// that are late or not finite.
#[test]
fn the_monitor_agrees_bit_for_bit() {
    const IMAGES: u64 = 20;
    const TRANSITIONS: usize = 50;
    let folder = Folder::new("monitor");
    let settings = MonitorSettings {
        noise_width: 2.8,
        surprise_rate: 0.05,
        alpha: 0.01,
    };
    let drives = (0..IMAGES).into_par_iter().map(|seed| {
        let bytes = match seed % 2 {
            0 => fixture::image(seed).unwrap(),
            _ => gaussian_process::image(seed).unwrap(),
        };
        let image = Image::parse(bytes.as_bytes()).unwrap();
        let (states, actions) = (
            image.task().state_dimension(),
            image.model().dynamics.action_dimension(),
        );
        let draw = &mut Draw::new(0x3017 + seed);
        let mut numbers = |count: usize, size: f32| -> Vec<f32> {
            (0..count).map(|_| size * draw.normal()).collect()
        };
        let mut rows: Vec<Recorded> = Vec::new();
        for step in 0..TRANSITIONS {
            // Small steps, so that some are usual; every tenth is late.
            let state = numbers(states, 1.0);
            let moves = numbers(states, 0.05);
            rows.push(Recorded {
                next_state: state.iter().zip(moves).map(|(x, step)| x + step).collect(),
                state,
                action: numbers(actions, 0.5),
                is_fresh: step % 10 != 3,
            });
        }
        if seed % 5 == 4 {
            rows[20].next_state[0] = f32::NAN;
        }
        let file = folder.0.join(format!("{seed}.recording"));
        fs::write(&file, recording(bytes.as_bytes(), settings, &rows)).unwrap();
        let qemu = Qemu::new(firmware().with_file_name("hambo-monitor"));
        let device = qemu.watch(&file).unwrap();
        let host = watched(&image, settings, &rows).unwrap();
        assert_eq!(device.digest, host.digest, "{seed}");
        assert_eq!((device.counts, device.trip), (host.counts, host.trip));
        assert!(device.longest > 0 && device.instructions >= device.longest);
        device
    });
    let drives: Vec<WatchedDrive> = drives.collect();
    let all: u32 = drives.iter().map(|drive| drive.counts.steps).sum();
    assert_eq!(all as usize, IMAGES as usize * TRANSITIONS);
    let surprises: u32 = drives.iter().map(|drive| drive.counts.surprises).sum();
    assert!(surprises > 100 && surprises < all - 100, "{surprises}");
    let digests: BTreeSet<u32> = drives.iter().map(|drive| drive.digest).collect();
    assert_eq!(digests.len(), drives.len());
}

/// An illegal instruction, a load from nowhere, a stack overflow, an exception that nobody asked
/// for: each with the pin high, and each ends with it low.
#[test]
fn faults_end_with_the_pin_low() {
    let folder = Folder::new("faults");
    let provoke = |fault: &str| {
        let file = folder.0.join(fault);
        fs::write(&file, fault).unwrap();
        Qemu::new(firmware().with_file_name("hambo-faults"))
            .run(&file)
            .unwrap_err()
    };
    for fault in ["illegal", "load", "stack", "exception"] {
        let error = provoke(fault);
        let DeviceError::NoResult {
            status,
            driven_high,
            left_high,
            ..
        } = error
        else {
            panic!("{fault}: {error}");
        };
        assert!(driven_high && !left_high, "{fault}");
        assert!(!status.success(), "{fault}");
    }
    // Without a fault that program leaves the pin high: it is the handlers that lower it.
    let error = provoke("none");
    assert!(
        matches!(
            error,
            DeviceError::NoResult {
                left_high: true,
                ..
            }
        ),
        "{error}"
    );
}
