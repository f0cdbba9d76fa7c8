//! From the outputs of a linear map or a network to actions: chance,
//! squashing and scaling.

use serde::{Deserialize, Serialize};

use crate::numeric::ParameterError;
use crate::numeric::checksum::Checksum;
use crate::numeric::elementary::{clamp, exp, tanh};

/// The least logarithm of a standard deviation that depends on the state.
pub const LOG_STD_LOW: f32 = -20.0;
/// The largest one. Both as in Stable-Baselines3's SAC.
pub const LOG_STD_HIGH: f32 = 2.0;

/// How chance enters an action.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Head {
    /// Not at all.
    #[default]
    Deterministic,
    /// mean + std · noise.
    Gaussian(Spread),
    /// tanh(mean + std · noise), as in SAC.
    TanhGaussian(Spread),
}

/// Where the standard deviation of a head comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Spread {
    /// The same in every state: its logarithms are stored beside the weights
    /// and are not clamped; minus infinity means no noise.
    Fixed,
    /// The outputs' second half is its logarithm, clamped to
    /// [[`LOG_STD_LOW`], [`LOG_STD_HIGH`]].
    OfState,
}

impl Head {
    /// The spread, if there is any chance.
    pub fn spread(self) -> Option<Spread> {
        match self {
            Self::Deterministic => None,
            Self::Gaussian(spread) | Self::TanhGaussian(spread) => Some(spread),
        }
    }
}

/// action = scale · head(mean, std, noise) + offset, where the mean is an
/// output or, with `squash`, its tanh.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ActionMap<'a> {
    /// How chance enters.
    pub head: Head,
    /// Whether the mean passes through a tanh.
    pub squash: bool,
    /// One for each action if the spread is [`Spread::Fixed`], else empty.
    pub log_std: &'a [f32],
    /// Factor of each action.
    pub scale: &'a [f32],
    /// Added to each action at last.
    pub offset: &'a [f32],
}

impl ActionMap<'_> {
    /// Adds all of it.
    pub(super) fn add_to(&self, sum: &mut Checksum) {
        let Self {
            head,
            squash,
            log_std,
            scale,
            offset,
        } = self;
        sum.value(&(head, squash));
        for numbers in [log_std, scale, offset] {
            sum.place(*numbers);
        }
    }
}

impl<'a> ActionMap<'a> {
    /// scale · output + offset.
    pub(crate) fn deterministic(scale: &'a [f32], offset: &'a [f32]) -> Self {
        Self {
            head: Head::Deterministic,
            squash: false,
            log_std: &[],
            scale,
            offset,
        }
    }

    /// The number of actions.
    pub fn action_dimension(&self) -> usize {
        self.scale.len()
    }

    /// The number of outputs it reads.
    pub(crate) fn outputs(&self) -> Result<usize, ParameterError> {
        let actions = self.scale.len();
        let (outputs, log_stds) = match self.head.spread() {
            None => (actions, 0),
            Some(Spread::Fixed) => (actions, actions),
            Some(Spread::OfState) => (actions.saturating_mul(2), 0),
        };
        ParameterError::size("action scale", actions > 0)?;
        ParameterError::size("action offset", self.offset.len() == actions)?;
        ParameterError::size("log std", self.log_std.len() == log_stds)?;
        Ok(outputs)
    }

    /// Actions from outputs. Noise that is not there counts as zero. `None`
    /// if there are too few outputs.
    pub fn apply<const B: usize>(
        &self,
        outputs: &[[f32; B]],
        noise: &[[f32; B]],
        action: &mut [[f32; B]],
    ) -> Option<()> {
        let scaling = self.scale.iter().zip(self.offset);
        for (index, (row, (scale, offset))) in action.iter_mut().zip(scaling).enumerate() {
            let mean = outputs.get(index)?;
            let std = self.std(outputs, index)?;
            let noise = noise.get(index).unwrap_or(&[0.0; B]);
            let chance = std.iter().zip(noise);
            for ((y, mean), (std, noise)) in row.iter_mut().zip(mean).zip(chance) {
                let (value, _) = self.value_and_slope(*mean, *std, *noise);
                *y = *scale * value + *offset;
            }
        }
        Some(())
    }

    /// The derivative of [`Self::apply`], transposed: puts that in the outputs
    /// in their place, and zeros into the rows after them.
    pub fn pull_back<const B: usize>(
        &self,
        noise: &[[f32; B]],
        action_cotangent: &[[f32; B]],
        outputs: &mut [[f32; B]],
    ) -> Option<()> {
        let cotangents = action_cotangent.iter().zip(self.scale);
        for (index, (cotangent, scale)) in cotangents.enumerate() {
            let std = self.std(outputs, index)?;
            let noise = noise.get(index).unwrap_or(&[0.0; B]);
            let row = outputs.get_mut(index)?;
            // In (squashed) mean + std · noise.
            let mut inner = [0.0; B];
            let chance = std.iter().zip(noise);
            for (((y, c), mean), (std, noise)) in
                inner.iter_mut().zip(cotangent).zip(row.iter()).zip(chance)
            {
                let (_, slope) = self.value_and_slope(*mean, *std, *noise);
                *y = *c * *scale * slope;
            }
            for (mean, c) in row.iter_mut().zip(&inner) {
                *mean = *c * self.mean_slope(*mean);
            }
            if self.head.spread() != Some(Spread::OfState) {
                continue;
            }
            let second = index.checked_add(self.action_dimension())?;
            let row = outputs.get_mut(second)?;
            let chance = std.iter().zip(noise);
            for ((raw, c), (std, noise)) in row.iter_mut().zip(&inner).zip(chance) {
                let free = *raw >= LOG_STD_LOW && *raw <= LOG_STD_HIGH;
                *raw = if free { *c * *noise * *std } else { 0.0 };
            }
        }
        let used = self.outputs().ok()?;
        for row in outputs.iter_mut().skip(used) {
            *row = [0.0; B];
        }
        Some(())
    }

    /// The standard deviation of one action, lane by lane.
    fn std<const B: usize>(&self, outputs: &[[f32; B]], index: usize) -> Option<[f32; B]> {
        match self.head.spread() {
            None => Some([0.0; B]),
            Some(Spread::Fixed) => Some([exp(*self.log_std.get(index)?); B]),
            Some(Spread::OfState) => {
                let second = index.checked_add(self.action_dimension())?;
                let raw = outputs.get(second)?;
                Some(raw.map(|raw| exp(clamp(raw, LOG_STD_LOW, LOG_STD_HIGH))))
            }
        }
    }

    /// The action before its scaling, and its slope in what chance is added
    /// to.
    fn value_and_slope(&self, mean: f32, std: f32, noise: f32) -> (f32, f32) {
        let mean = if self.squash { tanh(mean) } else { mean };
        match self.head {
            Head::Deterministic => (mean, 1.0),
            Head::Gaussian(_) => (mean + std * noise, 1.0),
            Head::TanhGaussian(_) => {
                let value = tanh(mean + std * noise);
                (value, 1.0 - value * value)
            }
        }
    }

    fn mean_slope(&self, mean: f32) -> f32 {
        if self.squash {
            let value = tanh(mean);
            1.0 - value * value
        } else {
            1.0
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(head: Head, log_std: &'static [f32]) -> ActionMap<'static> {
        ActionMap {
            head,
            squash: false,
            log_std,
            scale: &[2.0],
            offset: &[1.0],
        }
    }

    #[test]
    fn a_spread_of_the_state_doubles_the_outputs() {
        let fixed = Head::Gaussian(Spread::Fixed);
        assert_eq!(map(fixed, &[0.0]).outputs(), Ok(1));
        assert_eq!(
            map(fixed, &[]).outputs(),
            Err(ParameterError::Size("log std"))
        );
        assert_eq!(map(Head::Gaussian(Spread::OfState), &[]).outputs(), Ok(2));
    }

    #[test]
    fn values_and_derivatives_by_hand() {
        // A mean of 0.5, a log-std of 0 and the noise -0.5: tanh(0) = 0.
        let actions = map(Head::TanhGaussian(Spread::OfState), &[]);
        let (mut outputs, noise, mut action) = ([[0.5], [0.0], [7.0]], [[-0.5]], [[0.0]]);
        let done = actions.apply(&outputs, &noise, &mut action);
        assert_eq!((done, action), (Some(()), [[1.0]]));
        // 2 in the mean, 2 · noise · std in its logarithm, 0 in the padding.
        let done = actions.pull_back(&noise, &[[1.0]], &mut outputs);
        assert_eq!((done, outputs), (Some(()), [[2.0], [-1.0], [0.0]]));
    }
}
