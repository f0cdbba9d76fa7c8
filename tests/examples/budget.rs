//! Measures what the firmware takes, for `cargo xtask budget`: one line
//! `name = number` for each figure.
//!
//! `cargo run --release -p hambo-tests --example budget -- hambo-gate hambo-budget`

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

use hambo_base::Held;
use hambo_base::network::{Layer, Standardisation};
use hambo_core::check::Check;
use hambo_core::image::Image;
use hambo_core::image::MonitorSettings;
use hambo_core::link::device::ModelCost;
use hambo_core::link::drive::Begin;
use hambo_core::model::{Calibration, Kernel, nested_beta};
use hambo_core::numeric::network::Activation;
use hambo_core::policy::{Leg, Waypoints};
use hambo_core::task::{Allocation, Effort};
use hambo_device::{Firmware, Measurement, Qemu, Robot};
use hambo_learn::ensemble::encode_ensemble;
use hambo_learn::ensemble::{Member, TrainedEnsemble};
use hambo_learn::gaussian_process::{
    GaussianProcessFit, Hyperparameters, Observations, encode_gaussian_process,
};
use hambo_task::image::{
    AlignedBytes, BundleAbout, LoggedRegion, NoisePools, Uncertainty, encode_bundle, encode_image,
    encode_policy,
};
use hambo_task::policy::HostPolicy;
use hambo_task::task::TaskFile;
use hambo_tests::glitch::victim::Bench;
use hambo_tests::point_robot::PointBundle;
use hambo_tests::recording::{Recorded, recording};
use hambo_tests::study::signature_skips;

/// Trajectories side by side on the device.
const LANES: usize = 4;
const MEMBERS: usize = 5;
const WIDTH: usize = 64;
/// N of the Gaussian process.
const POINTS: usize = 128;
const NOISE_VARIANCE: f64 = 0.03;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args_os().skip(1);
    let (Some(gate), Some(budget)) = (arguments.next(), arguments.next()) else {
        return Err("usage: budget HAMBO_GATE HAMBO_BUDGET (ELF files)".into());
    };
    let folder = Folder::new()?;
    let monitor = PathBuf::from(&budget).with_file_name("hambo-monitor");
    let [verified, verifier] =
        ["hambo-gate-verified", "hambo-verifier"].map(|name| Path::new(&gate).with_file_name(name));
    model_costs(&Qemu::new(budget), &folder)?;
    check_costs(&Qemu::new(&gate), &folder)?;
    monitor_costs(&Qemu::new(monitor), &folder)?;
    drive_costs(&Qemu::new(&gate), &folder)?;
    verifier_costs(&verified, verifier, &folder)
}

fn figure(name: &str, value: f64) {
    println!("{name} = {value}");
}

/// Instructions per multiply-add of each kind of model.
fn model_costs(qemu: &Qemu, folder: &Folder) -> Result<(), Box<dyn Error>> {
    // The multiply-adds of one forward pass of one member in one lane.
    let (ds, da) = (4, 2);
    let products = (ds + da) * WIDTH + WIDTH * WIDTH + WIDTH * 2 * ds;
    let models = [
        encode_ensemble(&ensemble(ds, da), &uncertainty(ds, da))?,
        gaussian_process(POINTS)?,
        gaussian_process(POINTS / 2)?,
    ];
    let costs = qemu.costs(&folder.file("models", &models.concat())?)?;
    let [networks, large, small] = costs.as_slice() else {
        return Err(format!("{} of {} models counted", costs.len(), models.len()).into());
    };
    let forward = |cost: &ModelCost| cost.forward as f64 / f64::from(cost.calls);
    let adjoint = |cost: &ModelCost| cost.adjoint as f64 / f64::from(cost.calls);
    let products = (MEMBERS * products * LANES) as f64;
    figure("ensemble_forward", forward(networks) / products);
    figure("ensemble_adjoint", adjoint(networks) / products);
    // The variance alone is what grows with the square of the points: the
    // whole less twice the half, where kernel and mean cancel.
    let triangle = |points: usize| points * (points + 1) / 2;
    let products = (triangle(POINTS) - 2 * triangle(POINTS / 2)) * LANES;
    let variance = forward(large) - 2.0 * forward(small);
    figure("gp_variance", variance / products as f64);
    let products = triangle(POINTS) * LANES;
    figure("gp_predict", forward(large) / products as f64);
    Ok(())
}

/// One output over two inputs.
fn gaussian_process(points: usize) -> Result<Vec<u8>, Box<dyn Error>> {
    let mut number = numbers(2);
    let inputs: Vec<f64> = (0..2 * points).map(|_| f64::from(2.0 * number())).collect();
    let targets: Vec<f64> = inputs.chunks(2).map(|x| (x[0] + x[1]).sin()).collect();
    let observations = Observations {
        inputs: &inputs,
        input_columns: 2,
        targets: &targets,
        target_columns: 1,
        held: Held::NONE,
    };
    let units = Standardisation {
        input_mean: vec![0.0; 2],
        input_scale: vec![1.0; 2],
        output_mean: vec![0.0],
        output_scale: vec![1.0],
    };
    let hyperparameters = Hyperparameters {
        kernel: Kernel::Rbf,
        signal_variance: 1.0,
        constant_variance: 0.1,
        lengthscales: vec![0.8; 2],
        noise_variance: NOISE_VARIANCE,
    };
    let fit = GaussianProcessFit::new(&observations, &units, &[hyperparameters])?;
    Ok(encode_gaussian_process(&fit, &uncertainty(1, 1))?)
}

/// One whole check by the gate.
fn check_costs(qemu: &Qemu, folder: &Folder) -> Result<(), Box<dyn Error>> {
    let bytes = image()?;
    let image = Image::parse(bytes.as_bytes()).map_err(|error| format!("{error:?}"))?;
    let rows = Check::<LANES>::rows_needed(&image).map_err(|error| format!("{error:?}"))?;
    let bundle = encode_bundle(bytes.as_bytes(), &BundleAbout::default(), None)?;
    let report = qemu.run(&folder.file("bundle", bundle.as_bytes())?)?;
    figure(
        "check_instructions",
        report.result.usage.work.count() as f64,
    );
    figure(
        "check_workspace_bytes",
        (rows * LANES * size_of::<f32>()) as f64,
    );
    figure(
        "check_longest_slice",
        f64::from(report.result.usage.longest_slice),
    );
    figure("static_ram_bytes", f64::from(report.static_bytes));
    figure(
        "stack_bytes",
        f64::from(report.result.usage.stack_high_water),
    );
    figure("flash_bytes", f64::from(report.flash_bytes));
    Ok(())
}

/// The longest of 32 periods of a drive of a point, and the stack of check and drive.
fn drive_costs(qemu: &Qemu, folder: &Folder) -> Result<(), Box<dyn Error>> {
    let bundle = PointBundle::default().bundle()?;
    let begin = Begin {
        measured: 1,
        seed: 0,
        elsewhere: None,
    };
    let file = folder.file("driven", bundle.as_bytes())?;
    let drive = qemu.drive(&file, begin, &mut Resting(32))?;
    let summary = drive.summary.ok_or("it did not drive")?;
    figure("drive_period_instructions", f64::from(summary.longest));
    figure("drive_stack_bytes", f64::from(summary.stack_high_water));
    Ok(())
}

/// A robot that stays where it is, for this many periods.
struct Resting(usize);

impl Robot for Resting {
    fn measure(&mut self) -> Option<Measurement> {
        self.0 = self.0.checked_sub(1)?;
        Some(Measurement {
            state: vec![0.0],
            is_fresh: true,
        })
    }

    fn act(&mut self, _action: &[f32]) {}
}

/// What the verifier takes for a bundle and a floor that both keys have signed, and the gate
/// behind it of flash.
fn verifier_costs(gate: &Path, verifier: PathBuf, folder: &Folder) -> Result<(), Box<dyn Error>> {
    let flash = |path: &Path| -> Result<f64, Box<dyn Error>> {
        Ok(f64::from(Firmware::parse(&fs::read(path)?)?.flash_bytes))
    };
    figure("verified_flash_bytes", flash(gate)?);
    figure("verifier_flash_bytes", flash(&verifier)?);
    let signed = signature_skips::flash(None)?;
    let file = folder.file("signed.hmb", &signed.bytes)?;
    folder.file("signed.floor", &signed.floor)?;
    let mut bench = Bench::new(gate)?;
    bench.verifier = Some(verifier);
    let address = |name: &str| {
        let label = bench.program.label(name);
        label.ok_or_else(|| format!("the gate has no `{name}`"))
    };
    let (low, high) = (address("_stack_end")?, address("_stack_start")?);
    let reset = bench
        .program
        .symbols
        .iter()
        .find(|symbol| symbol.name == "Reset");
    let reset = reset.ok_or("the gate has no `Reset`")?.address;
    let mut victim = bench.victim(&file)?;
    let painted = vec![0xa5; (high - low) as usize];
    victim.gdb.set_memory(low, &painted)?;
    if !victim.run_to(reset)? {
        return Err("the verifier never starts the gate".into());
    }
    figure("verifier_instructions", victim.instructions()? as f64);
    let stack = victim.gdb.memory(low, painted.len())?;
    let untouched = stack
        .iter()
        .zip(&painted)
        .take_while(|(now, then)| now == then);
    figure(
        "verifier_stack_bytes",
        (painted.len() - untouched.count()) as f64,
    );
    Ok(())
}

/// The longest of 64 steps of the monitor.
fn monitor_costs(qemu: &Qemu, folder: &Folder) -> Result<(), Box<dyn Error>> {
    let settings = MonitorSettings {
        noise_width: 2.8,
        surprise_rate: 0.05,
        alpha: 0.01,
    };
    let mut number = numbers(3);
    let mut pair = |size: f32| vec![size * number(), size * number()];
    let rows: Vec<Recorded> = (0..64)
        .map(|_| Recorded {
            state: pair(1.0),
            action: pair(0.5),
            next_state: pair(1.0),
            is_fresh: true,
        })
        .collect();
    let bytes = recording(image()?.as_bytes(), settings, &rows);
    let watched = qemu.watch(&folder.file("recording", &bytes)?)?;
    figure("monitor_instructions", watched.longest as f64);
    Ok(())
}

/// Numbers between -1 and 1 that stay the same whatever else changes.
fn numbers(seed: u32) -> impl FnMut() -> f32 {
    let mut state = seed;
    move || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as f32 / 8_388_608.0 - 1.0
    }
}

/// K = 5 networks with two hidden layers of 64 units.
fn ensemble(ds: usize, da: usize) -> TrainedEnsemble {
    let mut number = numbers(1);
    let widths = vec![ds + da, WIDTH, WIDTH, 2 * ds];
    let mut layer = |inputs: usize, outputs: usize| Layer {
        inputs,
        outputs,
        weights: (0..inputs * outputs)
            .map(|_| number() * (3.0 / inputs as f32).sqrt())
            .collect(),
        bias: (0..outputs).map(|_| 0.1 * number()).collect(),
    };
    let members: Vec<Member> = (0..MEMBERS)
        .map(|_| Member {
            layers: widths.windows(2).map(|w| layer(w[0], w[1])).collect(),
        })
        .collect();
    TrainedEnsemble {
        activation: Activation::Relu,
        standardisation: Standardisation {
            input_mean: vec![0.1; ds + da],
            input_scale: vec![0.8; ds + da],
            output_mean: vec![0.01; ds],
            output_scale: vec![0.1; ds],
        },
        std_floor: 0.01,
        std_cap: 1.2,
        priors: Vec::new(),
        losses: vec![0.0; MEMBERS],
        members,
        widths,
    }
}

fn uncertainty(ds: usize, da: usize) -> Uncertainty {
    let calibration_scale = vec![1.2; ds];
    Uncertainty {
        features: ds,
        beta: nested_beta(MEMBERS, &calibration_scale),
        calibration_scale,
        calibration: Calibration::Passed,
        tested_steps: u16::MAX,
        noise_scale: vec![1.0; ds],
        noise_factor: Vec::new(),
        noise_pools: NoisePools::default(),
        width_regions: Vec::new(),
        support: LoggedRegion::everywhere(ds + da),
    }
}

const TASK: &str = r#"
name = "budget"
horizon = 20
delta = 0.1
threshold = -1000
[state]
names = ["x", "y"]
low = [-3, -3]
high = [3, 3]
[action]
names = ["u", "v"]
low = [-0.5, -0.5]
high = [0.5, 0.5]
[reward]
expr = "-sqrt((next.x - 2)^2 + next.y^2) - 0.1 * (u^2 + v^2)"
[termination]
expr = "abs(next.y) > 2.9"
[[constraint]]
name = "inside"
expr = "3 - max(abs(x), abs(y))"
[initial]
kind = "gaussian"
mean = [-2, 0]
std = [0.1, 0.1]
"#;

/// A whole image: a small task with a constraint, for the ensemble.
fn image() -> Result<AlignedBytes, Box<dyn Error>> {
    let task = TaskFile::parse(TASK, "budget.toml")?;
    let leg = |target, below| Leg {
        target,
        axis: 0,
        below,
    };
    let legs = [leg([0.0, 1.6, 0.0], 0.0), leg([2.0, 0.0, 0.0], f32::MAX)];
    let policy = Waypoints::new(2, 0.5, &legs).map_err(|_| "a bad policy")?;
    let effort = Effort {
        trajectories: 2,
        searched: 2,
        iterations: 2,
        seed: 1,
        allocation: Allocation::Even,
    };
    let model = encode_ensemble(&ensemble(2, 2), &uncertainty(2, 2))?;
    let policy = HostPolicy::Waypoints(policy);
    let bytes = encode_image(&model, &task, effort, &[], &encode_policy(&policy)?)?;
    Ok(AlignedBytes::new(&bytes))
}

/// A folder that goes away with its files.
struct Folder(PathBuf);

impl Folder {
    fn new() -> std::io::Result<Self> {
        let path = std::env::temp_dir().join(format!("hambo-budget-{}", std::process::id()));
        fs::create_dir_all(&path)?;
        Ok(Self(path))
    }

    fn file(&self, name: &str, bytes: &[u8]) -> std::io::Result<PathBuf> {
        let path = Path::new(&self.0).join(name);
        fs::write(&path, bytes)?;
        Ok(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
