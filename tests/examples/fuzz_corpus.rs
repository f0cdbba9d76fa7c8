//! Writes the fuzz targets' first inputs: small images of every kind that the
//! fixtures know, and texts and byte code of expressions.
//!
//! `cargo run --release -p hambo-tests --example fuzz_corpus -- fuzz/corpus`

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

use hambo_core::image::Image;
use hambo_core::task::ModelInputs;
use hambo_learn::gaussian_process::VarianceGroups;
use hambo_task::expression::{Compiler, Names};
use hambo_task::image::AlignedBytes;
use hambo_tests::{fixture, gaussian_process, policy};

/// Seeds that are tried for each kind of image; the smallest is written.
const SEEDS: u64 = 60;
/// Kinds and heads of `policy::random`.
const POLICIES: u64 = 11;

/// What the smallest image of all would lack.
type Feature = (&'static str, fn(&Image<'_>) -> bool);
const FEATURES: [Feature; 8] = [
    ("one-adversary", |image| {
        image.task().plan.networks.len() == 1
    }),
    ("two-adversaries", |image| {
        image.task().plan.networks.len() == 2
    }),
    ("every-variant", |image| {
        image.task().plan.method.variants.len() > 1
    }),
    ("termination", |image| image.task().termination.is_some()),
    ("constraint", |image| !image.task().constraints.is_empty()),
    ("known", |image| !image.task().physics.known.is_empty()),
    ("circle", |image| !image.task().physics.circles.is_empty()),
    ("inputs", |image| {
        matches!(image.task().physics.inputs, ModelInputs::Features(_))
    }),
];

/// Over the states x and y and the action u, as the fuzz target has them.
/// Every second line of a text is a condition.
const TEXTS: [&str; 12] = [
    "-(x^2) - 0.1 * u^2\nabs(x) > 3 || y >= 2",
    "-abs(next.x - 0.3) + 0.2 * (next.y > 0.1)",
    "tanh(x * u) - exp(-(next.x^2))",
    "min(x, u, next.x) + clamp(next.y, -0.5, 0.5) - log(1 + x^2)",
    "sin(x) * cos(u) - sqrt(1 + next.x^2)\nx < y && !(u == 0)",
    "-(wrap(3 * x)^2) - atan2(next.x, 2 + u^2) - max(x, 0, y)",
    "-(x > 0 && next.x <= 0.5 || !(u < 0)) - 0.01 * tan(0.1 * x)",
    "-(abs(x) ^ 1.5) / (2 + cos(next.x)) - (x == 0) + (u != 0)",
    "2^3^2 - --pi * 1.5e-3",
    "1 / x\n0 / 0",
    "((((x))))",
    "next.x +",
];

fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::args_os().nth(1).map(PathBuf::from);
    let folder = folder.ok_or("usage: fuzz_corpus FOLDER")?;
    images(&folder.join("image"))?;
    expressions(&folder.join("expression"))
}

fn images(folder: &Path) -> Result<(), Box<dyn Error>> {
    fs::create_dir_all(folder)?;
    for reward in 0..fixture::REWARDS.len() as u64 {
        let seeds = (reward..).step_by(fixture::REWARDS.len());
        let image = smallest(seeds, fixture::image, any)?;
        fs::write(folder.join(format!("ensemble-{reward}")), image.as_bytes())?;
    }
    for kind in 0..POLICIES {
        let image = smallest(
            0..,
            |seed| {
                fixture::image_of(seed, |[states, actions]| {
                    policy::random(kind, states, actions)
                })
            },
            any,
        )?;
        fs::write(folder.join(format!("policy-{kind}")), image.as_bytes())?;
    }
    for kernel in 0..4 {
        let image = smallest((kernel..).step_by(4), gaussian_process::image, any)?;
        let name = format!("gaussian-process-{kernel}");
        fs::write(folder.join(name), image.as_bytes())?;
    }
    let grouped = |seed| {
        let groups = VarianceGroups::Count(5);
        gaussian_process::image_with_groups(seed, groups, fixture::waypoints)
    };
    let image = smallest(0.., grouped, gaussian_process::has_groups)?;
    fs::write(folder.join("gaussian-process-groups"), image.as_bytes())?;
    for (name, wanted) in FEATURES {
        let image = smallest(0.., fixture::image, wanted)?;
        fs::write(folder.join(name), image.as_bytes())?;
    }
    Ok(())
}

fn any(_: &Image<'_>) -> bool {
    true
}

fn smallest(
    seeds: impl Iterator<Item = u64>,
    image: impl Fn(u64) -> Result<AlignedBytes, hambo_base::Error>,
    wanted: impl Fn(&Image<'_>) -> bool,
) -> Result<AlignedBytes, Box<dyn Error>> {
    let mut best: Option<AlignedBytes> = None;
    for seed in seeds.take(SEEDS as usize) {
        let found = image(seed)?;
        let parsed = Image::parse(found.as_bytes()).map(|image| wanted(&image));
        let wanted = parsed.map_err(|error| format!("{error:?}"))?;
        let size = found.as_bytes().len();
        let smaller = |best: &AlignedBytes| size < best.as_bytes().len();
        if wanted && best.as_ref().is_none_or(smaller) {
            best = Some(found);
        }
    }
    Ok(best.ok_or("no seeds")?)
}

fn expressions(folder: &Path) -> Result<(), Box<dyn Error>> {
    fs::create_dir_all(folder)?;
    for (number, text) in TEXTS.iter().enumerate() {
        fs::write(folder.join(format!("text-{number}")), text)?;
        let (state, action) = (["x", "y"].map(String::from), [String::from("u")]);
        let mut compiler = Compiler::new(Names {
            state: &state,
            action: &action,
            horizon: 50,
        });
        if compiler
            .add(text.lines().next().unwrap_or_default())
            .is_ok()
        {
            let ops = compiler.finish();
            let bytes: Result<Vec<_>, _> = ops.iter().map(postcard::to_stdvec).collect();
            fs::write(folder.join(format!("ops-{number}")), bytes?.concat())?;
        }
    }
    Ok(())
}
