//! Held-out likelihood of hambo's SVGD against PyTorch's on a noisy pendulum.
//!
//! ```text
//! cargo run --release -p hambo-tests --example svgd
//! ```
//!
//! Writes the same splits for both sides, trains both with three seeds and
//! prints the mean negative log likelihood per row of episodes that neither
//! saw, in standardised units: lower is better. Needs python3 with torch and
//! numpy. Arguments: hidden widths (64,64) and updates (3000).

use std::error::Error;
use std::fs;
use std::path::Path;
use std::process::Command;

use hambo_base::Held;
use hambo_core::numeric::random::Stream;
use hambo_learn::ensemble::{Bandwidth, EnsembleOptions, Inference, Trainer, TrainingSet};

const SEEDS: u64 = 3;
const EPISODE: usize = 200;
const BANDWIDTH: f32 = 10.0;

/// Transitions of whole episodes: (cos, sin, omega, torque) and differences.
struct Table {
    inputs: Vec<f32>,
    targets: Vec<f32>,
}

impl Table {
    /// Pendulum-v1 under random torques, with noise on both states.
    fn new(episodes: usize, seed: u64, stream: u32) -> Self {
        let mut random = Stream::new(seed, stream);
        let mut table = Self {
            inputs: Vec::new(),
            targets: Vec::new(),
        };
        for _ in 0..episodes {
            let mut angle = std::f32::consts::PI * (2.0 * random.uniform() - 1.0);
            let mut speed = 2.0 * random.uniform() - 1.0;
            for _ in 0..EPISODE {
                let torque = 4.0 * random.uniform() - 2.0;
                let pull = 15.0 * angle.sin() + 3.0 * torque;
                let faster =
                    (speed + 0.05 * pull + 0.05 * random.standard_normal()).clamp(-8.0, 8.0);
                let further = angle + 0.05 * faster + 0.005 * random.standard_normal();
                table
                    .inputs
                    .extend([angle.cos(), angle.sin(), speed, torque]);
                table.targets.extend([
                    further.cos() - angle.cos(),
                    further.sin() - angle.sin(),
                    faster - speed,
                ]);
                (angle, speed) = (further, faster);
            }
        }
        table
    }

    fn set(&self) -> TrainingSet<'_> {
        TrainingSet {
            inputs: &self.inputs,
            input_columns: 4,
            targets: &self.targets,
            target_columns: 3,
            held: Held::NONE,
        }
    }

    fn write(&self, folder: &Path, name: &str) -> std::io::Result<()> {
        let tables = [("inputs", &self.inputs, 4), ("targets", &self.targets, 3)];
        for (table, values, columns) in tables {
            let bytes: Vec<u8> = values.iter().flat_map(|x| x.to_le_bytes()).collect();
            let file = folder.join(format!("{name}_{table}"));
            fs::write(file.with_extension("f32"), bytes)?;
            let shape = format!("{} {columns}", values.len() / columns);
            fs::write(file.with_extension("shape"), shape)?;
        }
        Ok(())
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let widths = arguments.next().unwrap_or_else(|| "64,64".to_owned());
    let hidden = widths
        .split(',')
        .map(str::parse)
        .collect::<Result<_, _>>()?;
    let steps = arguments.next().map_or(Ok(3000), |steps| steps.parse())?;
    let mut options = EnsembleOptions {
        inference: Inference::Svgd(Bandwidth::Fixed(BANDWIDTH)),
        hidden,
        steps,
        ..EnsembleOptions::for_board("stm32f405")?
    };
    let folder = std::env::temp_dir().join(format!("hambo-svgd-{}", std::process::id()));
    fs::create_dir_all(&folder)?;
    println!(
        "5 networks of {widths}, {steps} updates; members' mean and mixture, lower is better\n"
    );
    println!("seed           hambo               PyTorch       best step");
    let mut sums = [0.0; 4];

    for seed in 0..SEEDS {
        let train = Table::new(50, seed, 0);
        let validation = Table::new(10, seed, 1);
        let test = Table::new(10, seed, 2);
        train.write(&folder, "train")?;
        validation.write(&folder, "validation")?;
        test.write(&folder, "test")?;

        options.seed = seed;
        let mut trainer = Trainer::new(&train.set(), Some(&validation.set()), &options)?;
        let mut best_step = 0;
        while let Some(progress) = trainer.advance()? {
            best_step = progress.best_step;
        }
        let ours = trainer.finish()?.held_out(&test.set())?;

        let theirs = peer(&folder, seed, &widths, &options)?;
        println!(
            "{seed:>4}   {:>8.4} {:>8.4}   {:>8.4} {:>8.4}   {best_step:>6} {:>6}",
            ours.members, ours.mixture, theirs[0], theirs[1], theirs[2]
        );
        let row = [
            f64::from(ours.members),
            f64::from(ours.mixture),
            theirs[0],
            theirs[1],
        ];
        sums.iter_mut().zip(row).for_each(|(sum, x)| *sum += x);
    }
    let [a, b, c, d] = sums.map(|sum| sum / SEEDS as f64);
    println!("mean   {a:>8.4} {b:>8.4}   {c:>8.4} {d:>8.4}");
    fs::remove_dir_all(&folder)?;
    Ok(())
}

/// What `benches/svgd.py` prints.
fn peer(
    folder: &Path,
    seed: u64,
    widths: &str,
    options: &EnsembleOptions,
) -> Result<[f64; 3], Box<dyn Error>> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../benches/svgd.py");
    let output = Command::new("python3")
        // One thread: products this small gain nothing from more.
        .env("OMP_NUM_THREADS", "1")
        .arg(script)
        .arg(folder)
        .args([seed.to_string(), widths.to_owned()])
        .args([options.steps, options.batch].map(|x| x.to_string()))
        .args([options.learning_rate, options.prior_weight, BANDWIDTH].map(|x| x.to_string()))
        .args([options.check_every, options.patient_looks()].map(|x| x.to_string()))
        .output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned().into());
    }
    let text = String::from_utf8(output.stdout)?;
    let numbers: Vec<f64> = text
        .split_whitespace()
        .map(str::parse)
        .collect::<Result<_, _>>()?;
    <[f64; 3]>::try_from(numbers).map_err(|_| format!("the peer said: {text}").into())
}
