//! A check with pauses: the same bits, bounded work between two of them, and no permit
//! once one of them said stop.

// Whole checks take minutes each under Miri.
#![cfg(not(miri))]
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use core::cell::Cell;
use core::ops::ControlFlow;

use heapless::Vec;

use super::pinned_tests::plane;
use super::tests::admitted;
use super::{Check, OfController, Outcome, Progress};
use crate::example;
use crate::gate::Reason;
use crate::image::{Bundle, Image};
use crate::model::{
    Dynamics, Ensemble, GaussianProcess, Kernel, Model, OutputNumbers, Standardisation,
    StatisticalModel, Support,
};
use crate::numeric::dense::TILE;
use crate::numeric::network::{Activation, NetworkShape, Perceptrons};
use crate::numeric::random::Stream;
use crate::numeric::slices::{WEIGHTS, work};
use crate::numeric::triangular::LowerTriangular;
use crate::numeric::{Pause, WorkDone};
use crate::policy::{ActionMap, Observed, Observer, Perceptron, StoredPolicy};
use crate::task::expression::{Op, Program, Variable};
use crate::task::{Task, Variant};

/// Counts pauses and the work between them, and stops at one of them.
struct Count {
    calls: Cell<u32>,
    most_work: Cell<usize>,
    stop_at: u32,
}

impl Count {
    fn until(stop_at: u32) -> Self {
        work::take();
        Self {
            calls: Cell::new(0),
            most_work: Cell::new(0),
            stop_at,
        }
    }
}

impl Pause for Count {
    fn pause(&self, proof: Option<WorkDone>) -> ControlFlow<()> {
        // Every slice of a check is work.
        assert!(proof.is_some());
        self.calls.set(self.calls.get() + 1);
        self.most_work.set(self.most_work.get().max(work::take()));
        if self.calls.get() == self.stop_at {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }
}

fn rows(image: &Image<'_>) -> std::vec::Vec<[f32; 4]> {
    vec![[0.0; 4]; Check::<4>::rows_needed(image).unwrap()]
}

fn finished<S>(progress: Progress<S>) -> Outcome<S> {
    match progress {
        Progress::Finished(outcome) => outcome,
        Progress::Working { .. } => panic!("unfinished"),
    }
}

fn bits<S>(outcome: &Outcome<S>) -> [u32; 3] {
    [
        outcome.digest(),
        outcome.bound.to_bits(),
        outcome.neutral.to_bits(),
    ]
}

/// A check without a pause.
fn whole(image: &Image<'_>) -> Outcome {
    finished(
        Check::new(image, &mut rows(image))
            .unwrap()
            .advance(u32::MAX),
    )
}

/// A check with pauses that deploys as the one without them: their number and the most
/// work between two.
fn counted(image: &Image<'_>) -> (u32, usize) {
    let count = Count::until(u32::MAX);
    let mut rows = rows(image);
    let bundle = Bundle::of(image.clone(), None);
    let admitted = admitted(&bundle);
    let mut check = Check::of_controller(&admitted, &mut rows).unwrap();
    check.pause_with(&count);
    let outcome = finished(check.advance(u32::MAX));
    let found = (count.calls.get(), count.most_work.get().max(work::take()));
    assert_eq!(bits(&outcome), bits(&whole(image)));
    let permit = outcome.permit(&admitted, None);
    assert!(permit.is_some(), "{:?}", outcome.reasons);
    found
}

/// A check that is stopped at its pause `stop_at` never deploys, and never goes on.
fn stopped_at(stop_at: u32, image: &Image<'_>, whole: &Outcome) {
    let count = Count::until(stop_at);
    let (mut rows, go_on) = (rows(image), || ControlFlow::Continue(()));
    let bundle = Bundle::of(image.clone(), None);
    let admitted = admitted(&bundle);
    let mut check = Check::of_controller(&admitted, &mut rows).unwrap();
    check.pause_with(&count);
    // Sweep by sweep or all at once.
    let sweeps = if stop_at.is_multiple_of(2) {
        1
    } else {
        u32::MAX
    };
    let outcome = loop {
        if let Progress::Finished(outcome) = check.advance(sweeps) {
            break outcome;
        }
    };
    let refused = |outcome: &Outcome<OfController>| {
        assert_eq!(outcome.verdict.name(), "abstain", "{stop_at}");
        assert_eq!(outcome.reasons.last(), Some(&Reason::Unfinished));
        assert!(outcome.permit(&admitted, None).is_none());
        // What was estimated before it was is right; nothing else was.
        assert!(outcome.estimates.len() < whole.estimates.len());
        for (one, other) in outcome.estimates.iter().zip(&whole.estimates) {
            assert_eq!(one.sampled.lower.to_bits(), other.sampled.lower.to_bits());
        }
    };
    refused(&outcome);
    for _ in 0..3 {
        refused(&finished(check.advance(1)));
    }
    assert_eq!(count.calls.get(), stop_at);
    check.pause_with(&go_on);
    refused(&finished(check.advance(u32::MAX)));
    refused(&check.stop());
}

/// Stops at every pause, or at a number of them at random.
fn stopped_everywhere(image: &Image<'_>, at_random: Option<u32>) {
    let outcome = whole(image);
    let (pauses, _) = counted(image);
    match at_random {
        None => (1..=pauses).for_each(|k| stopped_at(k, image, &outcome)),
        Some(times) => {
            let mut stream = Stream::new(5, 0);
            for _ in 0..times {
                let k = (stream.uniform() * pauses as f32) as u32;
                stopped_at(k.clamp(1, pauses), image, &outcome);
            }
            for k in [1, 2, 3, pauses - 1, pauses] {
                stopped_at(k, image, &outcome);
            }
        }
    }
}

fn variants(task: &mut Task<'_>, variants: &[Variant]) {
    task.plan.method.variants = Vec::from_slice(variants).unwrap();
}

/// Three networks, their trained adversaries, and a controller that is a network behind
/// functions of the state, of a task that deploys.
fn ensemble(variant: Variant) -> Image<'static> {
    let model = Model {
        support: Support {
            limit: 100.0,
            ..plane::model(1.5).support
        },
        ..plane::model(1.5)
    };
    let task = plane::task(|task| {
        variants(task, &[variant]);
        plane::with_adversaries(task);
        task.plan.effort.trajectories = 2;
        task.plan.effort.searched = 2;
        task.plan.effort.iterations = 16;
        task.threshold = Some(-1e3);
        task.constraints.clear();
    });
    let shape = NetworkShape::new(2, &[4], 1, Activation::Silu).unwrap();
    let tiles = plane::tiles(30, shape.tiles());
    let network = Perceptrons::new(shape, tiles, &[0.0; 2], &[1.0; 2]).unwrap();
    let actions = ActionMap::deterministic(&[0.1], &[0.0]);
    let network = Observer::Perceptron(Perceptron::new(network, actions).unwrap());
    let ops = [0, 1].map(|state| Op::Variable(Variable::State(state)));
    let program = Program::new(&ops, 2, 1).unwrap();
    let slots = Vec::from_slice(&[0, 1]).unwrap();
    let policy = Observed::new(2, program, slots, network).unwrap();
    Image::of(model, task, StoredPolicy::Observed(policy))
}

/// The example's task with another model.
fn point(dynamics: Dynamics<'static>) -> Image<'static> {
    let example = example::model().unwrap();
    let model = Model {
        dynamics,
        support: Support {
            limit: 100.0,
            ..example.support
        },
        ..example
    };
    let mut task = example::task().unwrap();
    task.threshold = Some(-1e3);
    task.constraints.clear();
    task.plan.effort.iterations = 4;
    Image::of(model, task, example::policy().unwrap())
}

const UNITS: Standardisation<'static> = Standardisation {
    input_mean: &[0.0, 0.0],
    input_scale: &[1.0, 1.0],
    output_mean: &[0.0],
    output_scale: &[0.01],
    noise_scale: &[0.01],
};

fn networks(members: usize, width: u16) -> Dynamics<'static> {
    let shape = NetworkShape::new(2, &[width, width], 2, Activation::Relu).unwrap();
    let tiles = plane::tiles(31, shape.tiles() * members);
    let ensemble = Ensemble::new(shape, 1, (1e-3, 1.0), UNITS, tiles);
    StatisticalModel::Ensemble(ensemble.unwrap()).into()
}

fn process(points: usize) -> Dynamics<'static> {
    const UNIT: f32 = 1.0 / (1 << 24) as f32;
    let numbers = OutputNumbers {
        signal_variance: 1.0,
        prior_variance: 1.1,
        noise_std: 0.1,
        variance_error: 1e-8,
        std_factor: 1.0001,
        std_error: 1e-7,
        std_error_growth: 1e-14,
        mean_offset: 0.0,
        weight_unit: 1e-12,
        coordinate_unit: UNIT,
    };
    let mut tiles = numbers.to_tiles().to_vec();
    tiles.push([1.0 / UNIT, 1.0 / UNIT, 0.0, 0.0]);
    let integers = |count: usize, stream: u32, largest: f32| {
        let mut all: std::vec::Vec<i32> = plane::numbers(stream, count)
            .iter()
            .map(|x| (x * largest) as i32)
            .collect();
        all.resize(count.next_multiple_of(TILE), 0);
        all
    };
    let per_point = points.next_multiple_of(TILE);
    let mut stored = integers(2 * points, 40, 1.0 / UNIT);
    stored.extend(integers(points, 41, (1 << 20) as f32));
    stored.extend(vec![30; per_point]);
    stored.extend(vec![0; per_point]);
    // Rows in fours, and in each the numbers up to the diagonal.
    let first = stored.len();
    let count = LowerTriangular::tiles(points).unwrap() * TILE;
    stored.extend(integers(count, 42, (1 << 18) as f32));
    let mut four = first;
    for rows in 1..=points.div_ceil(TILE) {
        for row in 0..TILE {
            let diagonal = four + TILE * (TILE * (rows - 1) + row);
            for number in &mut stored[diagonal..four + TILE * TILE * rows] {
                *number = 0;
            }
            stored[diagonal + row] = 1 << 25;
        }
        four += TILE * TILE * rows;
    }
    let (stored, _) = stored.as_chunks::<TILE>();
    tiles.extend(
        stored
            .iter()
            .map(|tile| tile.map(|x| f32::from_bits(x as u32))),
    );
    let process =
        GaussianProcess::new(&[Kernel::Rbf], 1, (points, &[]), UNITS, tiles.leak()).unwrap();
    assert!(process.has_sound_numbers());
    StatisticalModel::GaussianProcess(process).into()
}

#[test]
fn the_example_stopped_at_every_pause_has_no_permit() {
    stopped_everywhere(&example::image().unwrap(), None);
}

#[test]
fn an_ensemble_stopped_anywhere_has_no_permit() {
    for variant in [
        Variant::ContinuousAdversary,
        Variant::DiscreteAdversary1,
        Variant::DiscreteAdversaryInf,
    ] {
        stopped_everywhere(&ensemble(variant), Some(200));
    }
}

#[test]
fn a_gaussian_process_stopped_anywhere_has_no_permit() {
    stopped_everywhere(&point(process(150)), Some(200));
}

/// Pauses of each sweep.
fn sweeps(image: &Image<'_>) -> std::vec::Vec<u32> {
    let count = Count::until(u32::MAX);
    let mut rows = rows(image);
    let mut check = Check::new(image, &mut rows).unwrap();
    check.pause_with(&count);
    let (mut all, mut before) = (vec![], 0);
    while let Progress::Working { .. } = check.advance(1) {
        all.push(count.calls.get() - before);
        before = count.calls.get();
    }
    all
}

#[test]
fn a_slice_is_a_layer_of_a_member() {
    // A layer of 128 units is one slice, and one of 256 is four.
    for (width, layers) in [(8, 3), (128, 3), (256, 2 + 1 + 4)] {
        let image = point(networks(5, width));
        let (_, most) = counted(&image);
        assert!(most <= WEIGHTS, "{width}: {most}");
        let (horizon, members) = (image.task().horizon, 5);
        let fewest = sweeps(&image).into_iter().min().unwrap();
        assert!(fewest >= horizon * (members + 1) * 2, "{width}: {fewest}");
        assert!(fewest >= horizon * members * layers, "{width}: {fewest}");
    }
    // One layer and the next are apart: 128 outputs of 128 inputs are the most.
    assert_eq!(counted(&point(networks(5, 128))).1, 16_384);
    // There are sweeps that go back, too.
    let all = sweeps(&point(networks(5, 8)));
    let (least, most) = (all.iter().min().unwrap(), all.iter().max().unwrap());
    assert!(*most >= 2 * *least, "{all:?}");
}

#[test]
fn a_slice_is_a_block_of_a_gaussian_process() {
    for (points, blocks) in [(40, 1), (200, 2), (401, 6)] {
        let image = point(process(points));
        let (_, most) = counted(&image);
        assert!(most <= WEIGHTS, "{points}: {most}");
        // Blocks of M, and of 64 rows of the kernel.
        let each = blocks + (points as u32).div_ceil(64);
        let fewest = sweeps(&image).into_iter().min().unwrap();
        assert!(fewest >= image.task().horizon * each, "{points}: {fewest}");
    }
    // Of 200 points 176 rows in a slice, 4 · (4 + 8 + … + 176) numbers.
    assert_eq!(counted(&point(process(200))).1, 15_840);
}
