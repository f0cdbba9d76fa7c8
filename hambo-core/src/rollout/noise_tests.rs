//! The noise of a step: which numbers of the stream it takes, lane by lane and in any order.

#![allow(clippy::unwrap_used, reason = "tests")]

use super::{Buffers, Rollout};
use crate::example;
use crate::model::{Extremes, Model, Noise, Offsets};
use crate::numeric::random::Stream;
use crate::task::{Objective, Variant};

const CENTRE: [f32; 1] = [0.5];
const ENDS: [f32; 2] = [0.1, 0.2];
const EVENTS: [f32; 2] = [30.0, -20.0];
const STAYS: [f32; 3] = [100.0, 200.0, 300.0];

fn drawn() -> Noise<'static> {
    Noise {
        extremes: Extremes::new(&CENTRE, &ENDS, &EVENTS, 1).unwrap(),
        offsets: Offsets::new(&STAYS, 1).unwrap(),
        ..Noise::WHITE
    }
}

/// The noise that `B` trajectories from `first` on meet in some steps, one after the other.
fn noise<const B: usize>(noise: Noise<'static>, first: u32, steps: &[u32], each: &mut [[f32; B]]) {
    let model = Model {
        noise,
        ..example::model().unwrap()
    };
    let (task, policy) = (example::task().unwrap(), example::policy().unwrap());
    let rollout = Rollout {
        model: &model,
        policy: &policy,
        task: &task,
        variant: Variant::ContinuousAdversary,
        objective: Objective::Return,
    };
    let mut rows = [[0.0; B]; 128];
    let mut buffers = Buffers::carve(&mut rows, &model.dynamics, &task, &policy).unwrap();
    let streams = core::array::from_fn(|lane| Stream::new(7, first + lane as u32));
    rollout.start(&streams, &mut buffers);
    for (step, found) in steps.iter().zip(each) {
        rollout.observe(&streams, *step, &mut buffers).unwrap();
        *found = buffers.noise.state[0];
    }
}

/// By hand: no draw for the start, one for a member, one for what stays; in each step the
/// controller's, the noise's, the member's and the event's.
#[test]
fn a_step_takes_the_numbers_that_it_says() {
    let mut found = [[0.0]; 4];
    let mut events = 0;
    for trajectory in 0..50 {
        noise(drawn(), trajectory, &[0, 1, 2, 3], &mut found);
        let mut stream = Stream::new(7, trajectory);
        stream.skip(1);
        let stays = STAYS[stream.index(3) as usize];
        for [found] in found {
            stream.skip(1);
            let normal = stream.standard_normal();
            stream.skip(1);
            let place = stream.uniform();
            let own = match ENDS.iter().position(|end| place < *end) {
                Some(event) => EVENTS[event],
                None => normal + CENTRE[0],
            };
            events += u32::from(place < ENDS[1]);
            assert_eq!(found.to_bits(), (own + stays).to_bits(), "{trajectory}");
        }
    }
    assert!((20..60).contains(&events), "{events} of 200");
}

#[test]
fn lanes_and_the_order_of_steps_change_no_bit() {
    let mut side_by_side = [[0.0; 4]; 3];
    noise(drawn(), 0, &[2, 0, 3], &mut side_by_side);
    for lane in 0..4 {
        let mut alone = [[0.0]; 4];
        noise(drawn(), lane as u32, &[0, 1, 2, 3], &mut alone);
        for (found, step) in side_by_side.iter().zip([2, 0, 3]) {
            assert_eq!(found[lane].to_bits(), alone[step][0].to_bits());
        }
    }
}

#[test]
fn a_model_without_events_draws_as_before() {
    let mut found = [[0.0]; 2];
    noise(Noise::WHITE, 3, &[0, 1], &mut found);
    let mut stream = Stream::new(7, 3);
    stream.skip(1);
    for [found] in found {
        stream.skip(1);
        assert_eq!(found.to_bits(), stream.standard_normal().to_bits());
        stream.skip(1);
    }
}
