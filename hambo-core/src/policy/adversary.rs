//! An adversary that was trained elsewhere: a perceptron over (s, a).
//!
//! For CA its outputs, through tanh, are eta; for DA1 the largest output names
//! the member. It competes with the constants as one more start, and the
//! search goes on from where it leads.

use crate::arithmetic::dense::{TILE, padded};
use crate::arithmetic::elementary::tanh;
use crate::network::NetworkShape;
use crate::variant::Variant;

/// A network with borrowed weights.
///
/// ```
/// use hambo_core::policy::NetworkAdversary;
/// use hambo_core::network::{Activation, NetworkShape};
/// use hambo_core::task::Variant;
/// // Two outputs without a hidden layer: the state and its negative.
/// let shape = NetworkShape::new(2, &[], 2, Activation::Tanh).ok_or("bad shape")?;
/// let adversary = NetworkAdversary {
///     variant: Variant::DiscreteAdversary1,
///     shape,
///     tiles: &[[0.0; 4], [1.0, -1.0, 0.0, 0.0], [0.0; 4]],
///     input_mean: &[0.0; 2],
///     input_scale: &[1.0; 2],
/// };
/// let mut scratch = vec![[0.0; 2]; adversary.scratch_rows().ok_or("too large")?];
/// let (state, action, lanes) = ([[3.0, -3.0]], [[0.0; 2]], [true; 2]);
/// let mut choice = [9; 2];
/// adversary.choose_member(&state, &action, &mut scratch, &lanes, &mut choice);
/// assert_eq!(choice, [0, 1]);
/// // The same network as a continuous adversary, in the first lane only.
/// let mut eta = [[0.0; 2]; 2];
/// adversary.choose_eta(&state, &action, &mut scratch, &[true, false], &mut eta);
/// assert!(eta[0][0] > 0.99 && eta[1][0] < -0.99);
/// assert_eq!((eta[0][1], eta[1][1]), (0.0, 0.0));
/// # Ok::<(), &str>(())
/// ```
#[derive(Clone, Debug)]
pub struct NetworkAdversary<'a> {
    /// The variant it was trained for: CA or DA1.
    pub variant: Variant,
    /// Its sizes.
    pub shape: NetworkShape,
    /// Its weights.
    pub tiles: &'a [[f32; TILE]],
    /// Mean of each input.
    pub input_mean: &'a [f32],
    /// One over the standard deviation of each input.
    pub input_scale: &'a [f32],
}

impl NetworkAdversary<'_> {
    /// The rows of scratch that it works in.
    #[must_use]
    pub fn scratch_rows(&self) -> Option<usize> {
        self.shape
            .inputs()
            .checked_add(self.shape.hidden_rows())?
            .checked_add(padded(self.shape.outputs()))?
            .checked_add(self.shape.widest().checked_mul(2)?)
    }

    /// The raw outputs for every lane; `None` if the scratch is too short.
    fn outputs<'r, const B: usize>(
        &self,
        state: &[[f32; B]],
        action: &[[f32; B]],
        scratch: &'r mut [[f32; B]],
    ) -> Option<&'r [[f32; B]]> {
        let (input, rows) = scratch.split_at_mut_checked(self.shape.inputs())?;
        let (hidden, rows) = rows.split_at_mut_checked(self.shape.hidden_rows())?;
        let (output, rows) = rows.split_at_mut_checked(padded(self.shape.outputs()))?;
        let (ping, rows) = rows.split_at_mut_checked(self.shape.widest())?;
        let (pong, _) = rows.split_at_mut_checked(self.shape.widest())?;
        let units = self.input_mean.iter().zip(self.input_scale);
        for ((row, x), (mean, scale)) in input.iter_mut().zip(state.iter().chain(action)).zip(units)
        {
            for (y, x) in row.iter_mut().zip(x) {
                *y = (*x - *mean) * *scale;
            }
        }
        self.shape
            .forward(self.tiles, input, hidden, output, (ping, pong))?;
        output.get(..self.shape.outputs())
    }

    /// Writes eta for the marked lanes.
    pub fn choose_eta<const B: usize>(
        &self,
        state: &[[f32; B]],
        action: &[[f32; B]],
        scratch: &mut [[f32; B]],
        lanes: &[bool; B],
        eta: &mut [[f32; B]],
    ) {
        let outputs = self.outputs(state, action, scratch).unwrap_or_default();
        for (row, output) in eta.iter_mut().zip(outputs) {
            for ((e, x), marked) in row.iter_mut().zip(output).zip(lanes) {
                if *marked {
                    *e = tanh(*x);
                }
            }
        }
    }

    /// Writes the chosen member for the marked lanes; the first of equals.
    pub fn choose_member<const B: usize>(
        &self,
        state: &[[f32; B]],
        action: &[[f32; B]],
        scratch: &mut [[f32; B]],
        lanes: &[bool; B],
        choice: &mut [u16; B],
    ) {
        let outputs = self.outputs(state, action, scratch).unwrap_or_default();
        let mut largest = [f32::NEG_INFINITY; B];
        for (member, output) in outputs.iter().enumerate() {
            let marks = largest.iter_mut().zip(choice.iter_mut()).zip(lanes);
            for (((largest, choice), marked), x) in marks.zip(output) {
                if *marked && *x > *largest {
                    *largest = *x;
                    *choice = member as u16;
                }
            }
        }
    }
}
