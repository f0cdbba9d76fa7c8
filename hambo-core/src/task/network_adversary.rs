//! An adversary that was trained elsewhere: a perceptron over (s, a).
//!
//! For CA its outputs, through tanh, are eta; for DA1 the largest output names
//! the member. It competes with the constants as one more start, and the
//! search goes on from where it leads.

use super::variant::Variant;
use crate::numeric::Slices;
use crate::numeric::elementary::tanh;
use crate::numeric::network::Perceptrons;

/// A network with borrowed weights.
#[derive(Clone, Debug)]
pub struct NetworkAdversary<'a> {
    /// The variant it was trained for: CA or DA1.
    pub(crate) variant: Variant,
    /// Against the return (0) or a constraint (from 1 on).
    pub(crate) objective: u8,
    /// From (s, a) to eta before its tanh, or to one score for each member.
    pub(crate) network: Perceptrons<'a>,
}

impl NetworkAdversary<'_> {
    /// Whether it was trained against this objective, by its number, under
    /// this variant.
    pub(crate) fn is_for(&self, variant: Variant, objective: u8) -> bool {
        self.variant == variant && self.objective == objective
    }

    /// The rows of scratch that it works in.
    pub(crate) fn scratch_rows(&self) -> Option<usize> {
        self.network.scratch_rows()
    }

    /// The raw outputs for every lane; none if the scratch is too short, or it
    /// was stopped.
    fn outputs<'r, const B: usize>(
        &self,
        state: &[[f32; B]],
        action: &[[f32; B]],
        scratch: &'r mut [[f32; B]],
        slices: &Slices<'_>,
    ) -> &'r [[f32; B]] {
        let outputs = self.network.forward(state, action, scratch, slices);
        let outputs = outputs.and_then(|rows| rows.get(..self.network.outputs()));
        outputs.unwrap_or_default()
    }

    /// Writes eta for the marked lanes; nothing if it was stopped.
    pub(crate) fn choose_eta<const B: usize>(
        &self,
        state: &[[f32; B]],
        action: &[[f32; B]],
        scratch: &mut [[f32; B]],
        lanes: &[bool; B],
        eta: &mut [[f32; B]],
        slices: &Slices<'_>,
    ) {
        let outputs = self.outputs(state, action, scratch, slices);
        for (row, output) in eta.iter_mut().zip(outputs) {
            for ((e, x), marked) in row.iter_mut().zip(output).zip(lanes) {
                if *marked {
                    *e = tanh(*x);
                }
            }
        }
    }

    /// Writes the chosen member for the marked lanes; the first of equals. An
    /// output that is not a number names a member that is not there, so that
    /// the check abstains. Writes nothing if it was stopped.
    pub(crate) fn choose_member<const B: usize>(
        &self,
        state: &[[f32; B]],
        action: &[[f32; B]],
        scratch: &mut [[f32; B]],
        lanes: &[bool; B],
        choice: &mut [u16; B],
        slices: &Slices<'_>,
    ) {
        let outputs = self.outputs(state, action, scratch, slices);
        let mut largest = [f32::NEG_INFINITY; B];
        for (member, output) in outputs.iter().enumerate() {
            let marks = largest.iter_mut().zip(choice.iter_mut()).zip(lanes);
            for (((largest, choice), marked), x) in marks.zip(output) {
                if *marked && x.is_nan() {
                    *largest = f32::INFINITY;
                    *choice = u16::MAX;
                } else if *marked && *x > *largest {
                    *largest = *x;
                    *choice = member as u16;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::ParameterError;
    use crate::numeric::network::{Activation, NetworkShape};

    #[test]
    fn the_largest_output_names_the_member_and_tanh_gives_eta() -> Result<(), ParameterError> {
        // Two outputs without a hidden layer: the state and its negative.
        let shape = NetworkShape::new(2, &[], 2, Activation::Tanh)?;
        let tiles = [[0.0; 4], [1.0, -1.0, 0.0, 0.0], [0.0; 4]];
        let network = Perceptrons::new(shape, &tiles, &[0.0; 2], &[1.0; 2])?;
        let adversary = NetworkAdversary {
            variant: Variant::DiscreteAdversary1,
            objective: 0,
            network,
        };
        let mut scratch = vec![[0.0; 2]; adversary.scratch_rows().unwrap_or(0)];
        let (state, action, lanes) = ([[3.0, -3.0]], [[0.0; 2]], [true; 2]);
        let whole = Slices::default();
        let mut choice = [9; 2];
        adversary.choose_member(&state, &action, &mut scratch, &lanes, &mut choice, &whole);
        assert_eq!(choice, [0, 1]);
        let nowhere = [[f32::NAN, 0.0]];
        adversary.choose_member(&nowhere, &action, &mut scratch, &lanes, &mut choice, &whole);
        assert_eq!(choice, [u16::MAX, 0]);
        // The same network as a continuous adversary, in the first lane only.
        let mut eta = [[0.0; 2]; 2];
        adversary.choose_eta(
            &state,
            &action,
            &mut scratch,
            &[true, false],
            &mut eta,
            &whole,
        );
        assert!(eta[0][0] > 0.99 && eta[1][0] < -0.99);
        assert_eq!((eta[0][1], eta[1][1]), (0.0, 0.0));
        Ok(())
    }
}
