//! Training of networks takes memory in proportion to the rows, and no more.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test stops where it fails")]

use hambo_base::Held;
use hambo_core::numeric::random::Stream;
use hambo_learn::ensemble::{
    Bandwidth, EnsembleOptions, Inference, Schedule, TrainingSet, train_ensemble,
};

const ROWS: usize = 300_000;

/// The most memory that this process has held, in bytes.
fn peak() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:"));
    let kilobytes = line.unwrap().split_whitespace().nth(1).unwrap();
    1024 * kilobytes.parse::<usize>().unwrap()
}

#[test]
fn memory_is_linear_in_the_rows() {
    let mut random = Stream::new(1, 0);
    let inputs: Vec<f32> = (0..4 * ROWS).map(|_| random.standard_normal()).collect();
    let targets: Vec<f32> = inputs.chunks(4).map(|row| row[0] * row[3]).collect();
    let set = TrainingSet {
        inputs: &inputs,
        input_columns: 4,
        targets: &targets,
        target_columns: 1,
        held: Held::NONE,
    };
    let options = EnsembleOptions {
        inference: Inference::Svgd(Bandwidth::Median),
        hidden: vec![16, 16],
        steps: 20,
        schedule: Schedule::Constant,
        ..EnsembleOptions::paper()
    };
    let before = peak();
    train_ensemble(&set, &options).unwrap();
    let per_row = (peak() - before) as f64 / ROWS as f64;
    // Five numbers in standardised units, and one order and one target of its own for
    // each of the five members: 60 bytes. A column more per row and member would be 20.
    println!("{per_row:.1} bytes per row");
    assert!((50.0..75.0).contains(&per_row), "{per_row} bytes per row");
}
