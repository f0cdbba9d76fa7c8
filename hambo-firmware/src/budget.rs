//! Counts the instructions of the models in flash: of the forward pass, and of the adjoint back through it.
//!
//! The region of the device image holds model parts, one after the other, of
//! any kind. The closing message holds a cost for each. The host knows what the
//! models are, and divides.
#![no_std]
#![no_main]

use core::hint::black_box;
use hambo_core::image::container::Container;
use hambo_core::image::{Part, parse_model};
use hambo_core::link::device::{DeviceMessage, ModelCost, ModelCosts};
use hambo_core::model::{Dynamics, Prediction, PredictionCotangent};
use hambo_core::numeric::Slices;
use hambo_firmware::{board, counter::Counter, fault, link, workspace};

/// Forward passes and adjoints counted of each model.
const CALLS: u32 = 16;

const LANES: usize = workspace::LANES;
type Rows<'r> = &'r mut [[f32; LANES]];

#[cortex_m_rt::entry]
fn main() -> ! {
    let (Some(peripherals), Some(rows)) = (cortex_m::Peripherals::take(), workspace::take()) else {
        fault::stop()
    };
    let counter = Counter::start(peripherals.SYST);
    let mut flash = board::model_region();
    let mut costs = ModelCosts::new();
    while let Ok(part) = Container::take(&mut flash, Part::Model) {
        let Ok(model) = parse_model(&part) else { break };
        let Some(cost) = measure(&model.dynamics, rows, &counter) else {
            break;
        };
        if costs.push(cost).is_err() {
            break;
        }
    }
    link::send(&DeviceMessage::Costs(costs));
    link::finish()
}

/// `None` if the workspace is too small for the model.
#[inline(never)]
fn measure(dynamics: &Dynamics<'_>, rows: Rows<'_>, counter: &Counter) -> Option<ModelCost> {
    let (features, outputs) = (dynamics.features(), dynamics.outputs());
    let action_dimension = dynamics.action_dimension();
    let (state, rows) = rows.split_at_mut_checked(features)?;
    let (action, rows) = rows.split_at_mut_checked(action_dimension)?;
    let (mean, rows) = rows.split_at_mut_checked(outputs)?;
    let (epistemic_std, rows) = rows.split_at_mut_checked(outputs)?;
    let (aleatoric_std, rows) = rows.split_at_mut_checked(outputs)?;
    let (cotangent, rows) = rows.split_at_mut_checked(outputs)?;
    let (state_cotangent, rows) = rows.split_at_mut_checked(features)?;
    let (action_cotangent, rows) = rows.split_at_mut_checked(action_dimension)?;
    let scratch = rows.get_mut(..dynamics.scratch_rows()?)?;
    cotangent.fill([1.0; LANES]);

    let mut cost = ModelCost {
        forward: 0,
        adjoint: 0,
        calls: CALLS,
    };
    let whole = Slices::default();
    let mut number = 0_u16;
    for _ in 0..CALLS {
        // Between -1 and 1, different everywhere.
        for x in state.iter_mut().chain(action.iter_mut()).flatten() {
            number = number.wrapping_mul(40_503).wrapping_add(12_345);
            *x = f32::from(number) * (2.0 / 65_536.0) - 1.0;
        }
        let mut prediction = Prediction {
            mean: &mut *mean,
            epistemic_std: &mut *epistemic_std,
            aleatoric_std: &mut *aleatoric_std,
        };
        let start = counter.elapsed();
        black_box(dynamics).predict(state, action, scratch, &mut prediction, &whole);
        let forward = counter.elapsed();
        let ones = PredictionCotangent {
            mean: cotangent,
            epistemic_std: cotangent,
            aleatoric_std: cotangent,
        };
        let cotangents = (&mut *state_cotangent, &mut *action_cotangent);
        black_box(dynamics).pull_back(&ones, scratch, cotangents, &whole);
        let adjoint = counter.elapsed();
        cost.forward += forward - start;
        cost.adjoint += adjoint - forward;
        black_box((&mut *mean, &mut *state_cotangent, &mut *action_cotangent));
    }
    Some(cost)
}
