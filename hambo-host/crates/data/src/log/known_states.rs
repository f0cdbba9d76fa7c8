//! The next values of known states, by the core, for rows of a log.

use hambo_core::task::Limits;
use hambo_core::task::Wraps;
use hambo_core::task::expression::{Program, ProgramError};

use hambo_task::task::{ModelView, Wrap};

/// Known states, ready to be computed.
pub(crate) struct KnownStates<'v> {
    view: &'v ModelView,
    program: Program,
    values: Vec<[f32; 1]>,
    features: Vec<[f32; 1]>,
    wrap_low: Vec<f32>,
    wrap_period: Vec<f32>,
}

impl<'v> KnownStates<'v> {
    /// # Errors
    /// If the tape is bad.
    pub(crate) fn new(view: &'v ModelView) -> Result<Self, ProgramError> {
        let wrap = |part: fn(&Wrap) -> f32| -> Vec<f32> {
            let wraps = view.wraps.iter().map(Option::as_ref);
            wraps.map(|wrap| wrap.map_or(0.0, part)).collect()
        };
        Ok(Self {
            program: Program::new(&view.ops, view.states, view.actions)?,
            values: vec![[0.0]; view.ops.len()],
            features: vec![[0.0]; view.features.len()],
            wrap_low: wrap(|wrap| wrap.low),
            wrap_period: wrap(|wrap| wrap.period),
            view,
        })
    }

    /// Computes the known states of `next`, which holds the others. False if a number on the way
    /// was not finite.
    pub(crate) fn compute(
        &mut self,
        (state, action): (&[f32], &[f32]),
        step: u32,
        next: &mut [f32],
    ) -> bool {
        let lane = |values: &[f32]| -> Vec<[f32; 1]> { values.iter().map(|x| [*x]).collect() };
        let (state, action, mut after) = (lane(state), lane(action), lane(next));
        let (physics, program) = (&self.view.physics, &self.program);
        let (_, [seen]) = physics.see(program, &state, &mut self.values, &mut self.features);
        let wraps = Wraps {
            low: &self.wrap_low,
            period: &self.wrap_period,
        };
        let limits = Limits {
            low: &self.view.low,
            high: &self.view.high,
        };
        let [known] = physics.compute_known(
            program,
            (&wraps, &limits),
            (&state, &action),
            step as f32,
            &mut after,
            &mut self.values,
        );
        for (next, [x]) in next.iter_mut().zip(after) {
            *next = x;
        }
        seen && known
    }
}
