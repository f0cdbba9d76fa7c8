//! An endless stream of minibatches: the rows in a random order, and again.

use super::training_set::StandardisedSet;
use hambo_base::Held;
use hambo_base::random::Random;

/// Draws minibatches of one fixed size into buffers that it keeps.
pub(super) struct Minibatches {
    rows: usize,
    order: Vec<u32>,
    next: usize,
    pub(super) inputs: Vec<f32>,
    pub(super) targets: Vec<f32>,
    /// Marks of the targets that say nothing; none where all of the set say something.
    held: Vec<bool>,
}

impl Minibatches {
    /// Batches of `rows` rows; of all rows where the set has fewer.
    pub(super) fn new(set: &StandardisedSet, rows: usize) -> Self {
        let rows = rows.min(set.rows);
        Self {
            rows,
            order: (0..set.rows as u32).collect(),
            next: set.rows,
            inputs: vec![0.0; rows * set.input_columns],
            targets: vec![0.0; rows * set.target_columns],
            held: if set.held().any() {
                vec![false; rows * set.target_columns]
            } else {
                Vec::new()
            },
        }
    }

    /// The targets that say nothing.
    pub(super) fn held(&self) -> Held<'_> {
        Held::new(&self.held)
    }

    /// Rows of a batch.
    pub(super) fn rows(&self) -> usize {
        self.rows
    }

    /// The order of this pass, and how many of it are used.
    pub(super) fn place(&self) -> (&[u32], usize) {
        (&self.order, self.next)
    }

    /// Goes on from a place that [`Self::place`] gave.
    pub(super) fn go_to(&mut self, order: &[u32], next: usize) {
        self.order.copy_from_slice(order);
        self.next = next;
    }

    /// Fills the buffers with the next rows; every row is used once before any is used again.
    pub(super) fn draw(&mut self, set: &StandardisedSet, random: &mut Random) {
        let batch = self
            .inputs
            .chunks_exact_mut(set.input_columns)
            .zip(self.targets.chunks_exact_mut(set.target_columns));
        for (place, (input, target)) in batch.enumerate() {
            if self.next == self.order.len() {
                random.shuffle(&mut self.order);
                self.next = 0;
            }
            let row = self.order[self.next] as usize;
            self.next += 1;
            input.copy_from_slice(&set.inputs[row * input.len()..][..input.len()]);
            target.copy_from_slice(&set.targets[row * target.len()..][..target.len()]);
            let marks = self.held.iter_mut().skip(place * target.len());
            for (j, mark) in marks.take(target.len()).enumerate() {
                *mark = set.held().at(row * target.len() + j);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_once_per_pass() {
        let set = StandardisedSet {
            rows: 6,
            input_columns: 1,
            target_columns: 1,
            inputs: (0..6).map(|i| i as f32).collect(),
            targets: (0..6).map(|i| 10.0 * i as f32).collect(),
            held: [false, true, false, false, true, false].into(),
        };
        let mut random = Random::new(0, 0);
        let mut batches = Minibatches::new(&set, 4);
        let mut seen = Vec::new();
        for _ in 0..3 {
            batches.draw(&set, &mut random);
            let pairs = batches.inputs.iter().zip(&batches.targets);
            for (place, (input, target)) in pairs.enumerate() {
                assert_eq!(10.0 * input, *target, "input and target stay together");
                assert_eq!(batches.held().at(place), [1.0, 4.0].contains(input));
                seen.push(*input as usize);
            }
        }
        for pass in seen.chunks_mut(6) {
            pass.sort_unstable();
            assert_eq!(pass, [0, 1, 2, 3, 4, 5]);
        }
    }
}
