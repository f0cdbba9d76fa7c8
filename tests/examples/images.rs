//! Writes random images, half of them with networks and half with Gaussian processes, with
//! controllers of every kind: what `cargo xtask processors` compares.
//!
//! `cargo run --release -p hambo-tests --example images -- FOLDER 200`

use std::error::Error;
use std::fs;
use std::path::PathBuf;

use hambo_tests::fixture::{self, Draw};
use hambo_tests::{gaussian_process, policy};

fn main() -> Result<(), Box<dyn Error>> {
    let mut words = std::env::args_os().skip(1);
    let folder = words.next().map(PathBuf::from);
    let folder = folder.ok_or("usage: images FOLDER COUNT")?;
    let count = words.next().and_then(|word| word.to_str()?.parse().ok());
    let count: u64 = count.ok_or("usage: images FOLDER COUNT")?;
    fs::create_dir_all(&folder)?;
    for seed in 0..count {
        let image = match seed % 2 {
            0 => fixture::image_of(seed, |[states, actions]| {
                policy::random(seed, states, actions)
            })?,
            _ => gaussian_process::image_of(seed, |_: &mut Draw, [states, actions]| {
                Ok(policy::random(seed, states, actions))
            })?,
        };
        fs::write(folder.join(format!("{seed:03}")), image.as_bytes())?;
    }
    Ok(())
}
