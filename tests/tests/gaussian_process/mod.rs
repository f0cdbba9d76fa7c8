//! The core's Gaussian process against the f64 posterior.
#![allow(clippy::unwrap_used, reason = "tests")]

mod derivatives;
mod groups;
mod lanes;
mod model_parts;
mod moments;
mod rounding;

use hambo_core::image::container::Container;
use hambo_core::image::{ModelManifest, Part, parse_model};
use hambo_core::model::{Model, Prediction};
use hambo_core::numeric::Slices;
use hambo_task::image::{AlignedBytes, encode_part};
use hambo_tests::fixture::Draw;
use hambo_tests::gaussian_process::{Case, Reference};

fn parsed(bytes: &AlignedBytes) -> Model<'_> {
    let part = Container::take(&mut bytes.as_bytes(), Part::Model).unwrap();
    parse_model(&part).unwrap()
}

/// Mean, epistemic and aleatoric standard deviation, output by output.
type Moments<const B: usize> = [Vec<[f32; B]>; 3];

fn predict<const B: usize>(
    model: &Model<'_>,
    input: &[[f32; B]],
    scratch: &mut [[f32; B]],
) -> Moments<B> {
    let space = model.dynamics.outputs();
    let (state, action) = input.split_at(space);
    let row = vec![[f32::NAN; B]; space];
    let (mut mean, mut epistemic, mut aleatoric) = (row.clone(), row.clone(), row);
    let mut prediction = Prediction {
        mean: &mut mean,
        epistemic_std: &mut epistemic,
        aleatoric_std: &mut aleatoric,
    };
    model
        .dynamics
        .predict(state, action, scratch, &mut prediction, &Slices::default());
    [mean, epistemic, aleatoric]
}

/// A case with its model and its reference.
#[derive(Clone)]
struct Tested {
    case: Case,
    bytes: AlignedBytes,
    reference: Reference,
}

impl Tested {
    fn new(case: Case) -> Self {
        let bytes = AlignedBytes::new(&case.model_part().unwrap());
        let reference = Reference::new(&case);
        Self {
            case,
            bytes,
            reference,
        }
    }

    /// Calls `f` for every output at every query with (mean, std) of the
    /// core, those of the reference, and the prior standard deviation.
    fn compare(&self, queries: &[Vec<f32>], mut f: impl FnMut([f64; 2], [f64; 2], f64)) {
        let model = parsed(&self.bytes);
        let mut scratch = vec![[f32::NAN; 4]; model.dynamics.scratch_rows().unwrap()];
        for group in queries.chunks(4) {
            let input: Vec<[f32; 4]> = (0..2 * self.case.space)
                .map(|d| std::array::from_fn(|lane| group[lane % group.len()][d]))
                .collect();
            let [mean, std, _] = predict(&model, &input, &mut scratch);
            for (lane, query) in group.iter().enumerate() {
                let query: Vec<f64> = query.iter().map(|x| f64::from(*x)).collect();
                let posterior = self.reference.posterior(&query);
                let prior = self.reference.prior_std(&query);
                for (j, ((m, s), prior)) in posterior.into_iter().zip(prior).enumerate() {
                    let found = [f64::from(mean[j][lane]), f64::from(std[j][lane])];
                    f(found, [m, s], prior);
                }
            }
        }
    }

    /// Queries as the points lie, near points, between points and far away.
    fn queries(&self, draw: &mut Draw, count: usize) -> Vec<Vec<f32>> {
        let columns = 2 * self.case.space;
        let points: Vec<&[f64]> = self.case.inputs.chunks(columns).collect();
        let mut queries: Vec<Vec<f32>> = Vec::new();
        for index in 0..count {
            let one = points[index % points.len()];
            let other = points[draw.below(points.len())];
            let weight = f64::from(draw.between(0.0, 1.0));
            let spread = [0.0, 1e-3, 0.1, 0.0, 1.0, 30.0][index / points.len() % 6];
            let between = index / points.len() % 6 == 3;
            let query = one.iter().zip(other).map(|(x, y)| {
                let x = if between { x + weight * (y - x) } else { *x };
                x as f32 + spread * draw.normal()
            });
            queries.push(query.collect());
        }
        queries
    }
}

/// A model part with another manifest and arena.
fn changed(part: &[u8], change: impl FnOnce(&mut ModelManifest, &mut Vec<f32>)) -> AlignedBytes {
    let bytes = AlignedBytes::new(part);
    let container = Container::take(&mut bytes.as_bytes(), Part::Model).unwrap();
    let mut manifest: ModelManifest = container.read_manifest().unwrap();
    let numbers = container.arena.chunks(4);
    let mut arena: Vec<f32> = numbers
        .map(|x| f32::from_le_bytes(x.try_into().unwrap()))
        .collect();
    change(&mut manifest, &mut arena);
    AlignedBytes::new(&encode_part(Part::Model, &manifest, &arena).unwrap())
}
