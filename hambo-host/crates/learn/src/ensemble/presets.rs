//! The usual sizes: the paper's, the demo's, and one for each board.

use super::error::TrainingError;
use super::options::{Bandwidth, EnsembleOptions, Inference, Schedule};
use super::priors;
use hambo_base::network::{Activation, Initial};

/// Boards with a preset.
const BOARDS: [&str; 1] = ["stm32f405"];

impl Default for EnsembleOptions {
    /// The paper's; see [`EnsembleOptions::paper`].
    fn default() -> Self {
        Self::paper()
    }
}

impl EnsembleOptions {
    /// The paper's Bayesian network: 5 particles of 4 × 256 rectified units,
    /// SVGD with bandwidth 10, prior weight 0.0001.
    ///
    /// ```
    /// use hambo_learn::ensemble::EnsembleOptions;
    ///
    /// let options = EnsembleOptions::paper();
    /// assert_eq!((options.members, options.hidden.len()), (5, 4));
    /// ```
    #[must_use]
    pub fn paper() -> Self {
        Self {
            inference: Inference::Svgd(Bandwidth::Fixed(10.0)),
            members: 5,
            hidden: vec![256; 4],
            activation: Activation::Relu,
            initial: Initial::Narrow,
            steps: 5000,
            batch: 256,
            learning_rate: 1e-3,
            schedule: Schedule::Cosine,
            prior_weight: 1e-4,
            random_prior: 0.3,
            weight_decay: 0.0,
            check_every: 100,
            patience: 10,
            std_floor: 0.01,
            std_cap: 10.0,
            noise_cap: 10.0,
            seed: 0,
        }
    }

    /// The paper's inference with networks that `rows` rows can determine: a few hundred rows say
    /// nothing that 4 × 256 units are needed for, and would train for a minute.
    ///
    /// | rows | networks |
    /// |---|---|
    /// | below 2,000 | 5 of 2 × 64 |
    /// | below 20,000 | 5 of 3 × 128 |
    /// | more | the paper's, 5 of 4 × 256 |
    ///
    /// ```
    /// use hambo_learn::ensemble::EnsembleOptions;
    ///
    /// assert_eq!(EnsembleOptions::for_rows(600).hidden, [64, 64]);
    /// assert_eq!(EnsembleOptions::for_rows(50_000), EnsembleOptions::paper());
    /// ```
    #[must_use]
    pub fn for_rows(rows: usize) -> Self {
        match rows {
            0..2_000 => Self {
                hidden: vec![64; 2],
                learning_rate: 3e-3,
                ..Self::paper()
            },
            2_000..20_000 => Self {
                hidden: vec![128; 3],
                ..Self::paper()
            },
            _ => Self::paper(),
        }
    }

    /// The demo's: a plain ensemble of small networks for a few hundred rows.
    ///
    /// ```
    /// use hambo_learn::ensemble::EnsembleOptions;
    ///
    /// assert_eq!(EnsembleOptions::demo().hidden, [32, 32]);
    /// ```
    #[must_use]
    pub fn demo() -> Self {
        Self {
            inference: Inference::Ensemble,
            hidden: vec![32; 2],
            initial: Initial::Wide,
            steps: 2000,
            batch: 64,
            learning_rate: 3e-3,
            prior_weight: 0.0,
            weight_decay: 1e-4,
            ..Self::paper()
        }
    }

    /// The paper's inference with networks that a board has room and time for.
    ///
    /// | board | networks |
    /// |---|---|
    /// | `stm32f405` | 5 of 2 × 64 |
    ///
    /// # Errors
    /// If the board has no preset.
    ///
    /// ```
    /// use hambo_learn::ensemble::EnsembleOptions;
    ///
    /// let options = EnsembleOptions::for_board("stm32f405")?;
    /// assert!(options.weight_bytes(4, 3) < 110_000);
    /// assert!(EnsembleOptions::for_board("stm32f999").is_err());
    /// # Ok::<(), hambo_learn::ensemble::TrainingError>(())
    /// ```
    pub fn for_board(board: &str) -> Result<Self, TrainingError> {
        match board {
            "stm32f405" => Ok(Self {
                hidden: vec![64; 2],
                learning_rate: 3e-3,
                ..Self::paper()
            }),
            _ => Err(TrainingError::Board {
                name: board.to_owned(),
                known: BOARDS.join(", "),
            }),
        }
    }

    /// Bytes of all members' weights, their random priors' among them, for these numbers
    /// of inputs (s, a) and outputs s′ − s.
    #[must_use]
    pub fn weight_bytes(&self, inputs: usize, outputs: usize) -> usize {
        let numbers = |widths: &[usize]| -> usize {
            let layers = widths.windows(2).map(|pair| (pair[0] + 1) * pair[1]);
            layers.sum()
        };
        let trained = numbers(&self.widths(inputs, outputs));
        let random = match self.random_prior {
            0.0 => 0,
            _ => numbers(&[inputs, priors::UNITS, outputs]),
        };
        self.members * (trained + random) * size_of::<f32>()
    }

    /// From the input (s, a) to the output (mean, raw).
    pub(super) fn widths(&self, inputs: usize, outputs: usize) -> Vec<usize> {
        let mut widths = vec![inputs];
        widths.extend(&self.hidden);
        widths.push(2 * outputs);
        widths
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test stops where it fails")]
mod tests {
    use super::*;

    /// Kilobytes that memory.x gives to an image.
    fn room() -> usize {
        let memory = include_str!("../../../../../memory.x");
        let line = memory
            .lines()
            .find(|line| line.contains("MODEL :"))
            .unwrap();
        let length = line.rsplit("LENGTH = ").next().unwrap();
        length.trim_end_matches('K').parse().unwrap()
    }

    #[test]
    fn every_boards_preset_fits_with_room_for_the_rest() {
        for board in BOARDS {
            let options = EnsembleOptions::for_board(board).unwrap();
            assert_eq!(options.check(), Ok(()));
            // HalfCheetah, the largest task: 17 states, 6 actions.
            assert!(options.weight_bytes(23, 17) < 1024 * room() / 2);
        }
        // The paper's networks do not: that is why there are presets.
        assert!(EnsembleOptions::paper().weight_bytes(4, 3) > 1024 * room());
    }

    #[test]
    fn an_unknown_board_is_named() {
        let error = EnsembleOptions::for_board("z80").unwrap_err().to_string();
        assert!(
            error.contains("z80") && error.contains("stm32f405"),
            "{error}"
        );
    }

    #[test]
    fn weights_by_hand() {
        let options = EnsembleOptions {
            members: 2,
            hidden: vec![3],
            random_prior: 0.0,
            ..EnsembleOptions::paper()
        };
        // (2 + 1) · 3 + (3 + 1) · 2 = 17 numbers.
        assert_eq!(options.weight_bytes(2, 1), 2 * 17 * 4);
        let with_prior = EnsembleOptions {
            random_prior: 0.3,
            ..options
        };
        // And (2 + 1) · 32 + (32 + 1) · 1 = 129.
        assert_eq!(with_prior.weight_bytes(2, 1), 2 * (17 + 129) * 4);
    }
}
