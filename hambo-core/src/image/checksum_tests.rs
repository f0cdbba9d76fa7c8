//! Whatever a bundle is in memory counts in its checksum, and two readings agree in it.

use super::Bundle;
use crate::example;
use crate::task::{Task, Variant};

/// The example of the firmware, at two places.
fn blocks() -> Vec<u128> {
    let bytes = include_bytes!("../../examples/point_bundle.hmb");
    let mut blocks = vec![0_u128; bytes.len().div_ceil(16)];
    bytemuck::cast_slice_mut(&mut blocks)[..bytes.len()].copy_from_slice(bytes);
    blocks
}

#[test]
fn two_readings_of_the_same_bytes_agree_and_of_another_place_do_not() {
    let (own, other) = (blocks(), blocks());
    let read = |blocks: &Vec<u128>| {
        let bundle = Bundle::parse(bytemuck::cast_slice(blocks)).unwrap();
        bundle.checksum().unwrap()
    };
    assert_eq!(read(&own), read(&own));
    // The same numbers: what is read from there is borrowed from there.
    assert_ne!(read(&own), read(&other));
}

#[test]
fn every_field_of_a_task_counts() {
    let sum = |change: fn(&mut Task<'static>)| {
        let bundle = example::bundle_with(None, change).unwrap();
        bundle.checksum().unwrap()
    };
    let own = sum(|_| ());
    assert_eq!(own, sum(|_| ()));
    let changes: [fn(&mut Task<'static>); 26] = [
        |task| task.horizon ^= 1 << 31,
        |task| task.discount = 0.5,
        |task| task.delta = 0.2,
        |task| task.threshold = None,
        |task| task.threshold = Some(2.0),
        |task| task.distribution_free = crate::task::DistributionFree::Nothing,
        |task| task.reward_bounds = Some([-1.0, 0.0]),
        |task| task.return_bounds = Some([-1.0, 0.0]),
        |task| task.constraint_bounds.push(None).unwrap(),
        |task| task.wraps.period = &[6.0],
        |task| task.physics.circles.push([0, 1]).unwrap(),
        |task| task.physics.inputs = crate::task::ModelInputs::States(2),
        |task| task.state_limits.low = &task.state_limits.low[1..],
        |task| task.state_limits.high = task.action_limits.high,
        |task| task.action_limits.low = task.action_limits.high,
        |task| task.initial.kind = crate::task::InitialKind::Worst,
        |task| task.initial.first = &[0.5],
        |task| task.initial.second = &[0.5],
        |task| {
            task.program =
                crate::task::expression::Program::new(&task.program.ops()[..5], 1, 1).unwrap()
        },
        |task| task.reward = 1,
        |task| task.termination = Some(0),
        |task| task.power_off = Some(0),
        |task| task.constraints[0].probability = Some(0.5),
        |task| task.plan.effort.seed ^= 1 << 63,
        |task| task.plan.method.variants[0] = Variant::DiscreteAdversary1,
        |task| task.plan.refused_by_host = true,
    ];
    for (at, change) in changes.into_iter().enumerate() {
        assert_ne!(sum(change), own, "{at}");
    }
}

#[test]
fn model_controllers_and_manifest_count() {
    let own = example::bundle().unwrap();
    let sum = |bundle: &Bundle<'_>| bundle.checksum().unwrap();
    let fallback = example::bundle_with(example::policy().ok(), |_| {}).unwrap();
    assert_ne!(sum(&own), sum(&fallback));
    let changes: [fn(&mut Bundle<'static>); 16] = [
        |bundle| bundle.model_mut().confidence.beta *= 0.5,
        |bundle| bundle.model_mut().confidence.calibration_scale = &[2.0],
        |bundle| bundle.model_mut().confidence.calibration = crate::model::Calibration::Failed,
        |bundle| bundle.model_mut().confidence.tested_steps ^= 1,
        |bundle| bundle.model_mut().support.limit = 3.0,
        |bundle| bundle.model_mut().support.exit_rate = 1.0,
        |bundle| bundle.model_mut().support.rows = &[],
        |bundle| bundle.model_mut().support.gaps = &[1.0],
        |bundle| {
            bundle.model_mut().noise.factor = crate::model::NoiseFactor::new(&[1.0], 1).unwrap()
        },
        |bundle| bundle.model_mut().noise.offsets = crate::model::Offsets::new(&[1.0], 1).unwrap(),
        |bundle| bundle.counter ^= 1 << 30,
        |bundle| bundle.period = None,
        |bundle| bundle.monitor.as_mut().unwrap().noise_width = 1e30,
        |bundle| bundle.monitor = None,
        |bundle| bundle.policy_hash[0] ^= 1,
        |bundle| bundle.bytes = &[0],
    ];
    for (at, change) in changes.into_iter().enumerate() {
        let mut other = own.clone();
        change(&mut other);
        assert_ne!(sum(&other), sum(&own), "{at}");
    }
}
