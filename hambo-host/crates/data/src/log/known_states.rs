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

    /// Computes the known states of `next`, which holds the others, and corrects what is corrected
    /// as if the model had said what `next` holds. False if a number on the way was not finite.
    pub(crate) fn compute(
        &mut self,
        (state, action): (&[f32], &[f32]),
        step: u32,
        next: &mut [f32],
    ) -> bool {
        let (state, action, mut after) = (lane(state), lane(action), lane(next));
        let seen = self.see(&state);
        let mut values = std::mem::take(&mut self.values);
        let [known] = self.view.physics.compute_known(
            &self.program,
            (&self.wraps(), &self.limits()),
            (&state, &action),
            step as f32,
            &mut after,
            &mut values,
        );
        self.values = values;
        for (next, [x]) in next.iter_mut().zip(after) {
            *next = x;
        }
        seen && known
    }

    /// What the correction of a state makes of each of `values`, beside what a row says of the
    /// other states. Not a number where a number on the way was not finite.
    pub(crate) fn corrected<const N: usize>(
        &mut self,
        place: usize,
        (state, action, next): (&[f32], &[f32], &[f32]),
        values: [f32; N],
    ) -> [f32; N] {
        let (state, action) = (lane(state), lane(action));
        let seen = self.see(&state);
        let mut slots = std::mem::take(&mut self.values);
        let corrected = values.map(|value| {
            let mut after = lane(next);
            if let Some(own) = after.get_mut(place) {
                *own = [value];
            }
            let [finite] = self.view.physics.correct(
                place,
                &self.program,
                (&self.wraps(), &self.limits()),
                (&state, &action),
                &mut after,
                &mut slots,
            );
            let corrected = after.get(place).filter(|_| seen && finite);
            corrected.map_or(f32::NAN, |[x]| *x)
        });
        self.values = slots;
        corrected
    }

    /// Computes the features' slots.
    fn see(&mut self, state: &[[f32; 1]]) -> bool {
        let (physics, program) = (&self.view.physics, &self.program);
        let (_, [seen]) = physics.see(program, state, &mut self.values, &mut self.features);
        seen
    }

    fn wraps(&self) -> Wraps<'_> {
        Wraps {
            low: &self.wrap_low,
            period: &self.wrap_period,
        }
    }

    fn limits(&self) -> Limits<'_> {
        Limits {
            low: &self.view.low,
            high: &self.view.high,
        }
    }
}

fn lane(values: &[f32]) -> Vec<[f32; 1]> {
    values.iter().map(|x| [*x]).collect()
}
