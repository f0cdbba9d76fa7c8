//! Which inputs of a layer are not zero in every lane.
//!
//! A weight times zero adds nothing, and after a ReLU many units are off in
//! all lanes: trajectories that start alike stay alike. Bits that name the
//! others are found once for a layer and serve all of its tiles.

use super::dense::TILE;

/// Inputs that one word of bits names.
const WORD: usize = u64::BITS as usize;
/// Layers with more inputs than this many words name are summed in full.
const WORDS: usize = 16;

/// Whether every lane of every row is zero, of either sign.
#[inline(always)]
pub(super) fn is_zero<const B: usize>(rows: &[[f32; B]]) -> bool {
    // Without the sign only a zero has no bits.
    let bits = |row: &[f32; B]| row.iter().fold(0, |all, x| all | x.to_bits() << 1);
    rows.iter().fold(0, |all, row| all | bits(row)) == 0
}

/// The inputs that count, as bits.
pub(super) struct Active([u64; WORDS]);

impl Active {
    /// The inputs with a lane that is not zero; `None` if there are too many
    /// inputs to name, or so few zeros that looking for them costs more.
    #[inline(always)]
    pub(super) fn of<const B: usize>(input: &[[f32; B]]) -> Option<Self> {
        let mut words = [0; WORDS];
        let mut count = 0;
        if input.len() > WORDS * WORD {
            return None;
        }
        for (rows, word) in input.chunks(WORD).zip(&mut words) {
            for (place, row) in rows.iter().enumerate() {
                let bit = u64::from(!is_zero(core::slice::from_ref(row)));
                *word |= bit << place;
                count += bit;
            }
        }
        let few = input.len() - input.len() / 32;
        (count < few as u64).then_some(Self(words))
    }

    /// Calls `f` with the weights and the lanes of every input that counts,
    /// in their order.
    #[inline(always)]
    pub(super) fn for_each<'x, const B: usize>(
        &self,
        block: &'x [[f32; TILE]],
        input: &'x [[f32; B]],
        mut f: impl FnMut(&'x [f32; TILE], &'x [f32; B]),
    ) {
        let chunks = block.chunks(WORD).zip(input.chunks(WORD));
        for ((weights, rows), word) in chunks.zip(self.0) {
            let mut left = word;
            while left != 0 {
                let place = left.trailing_zeros() as usize;
                left &= left - 1;
                if let (Some(weight), Some(row)) = (weights.get(place), rows.get(place)) {
                    f(weight, row);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(input: &[[f32; 2]]) -> Option<Vec<usize>> {
        let block: Vec<[f32; TILE]> = (0..input.len()).map(|i| [i as f32; TILE]).collect();
        let active = Active::of(input)?;
        let mut places = Vec::new();
        active.for_each(&block, input, |weight, row| {
            assert!(core::ptr::eq(row, &input[weight[0] as usize]));
            places.push(weight[0] as usize);
        });
        Some(places)
    }

    #[test]
    fn names_what_is_not_zero_in_order() {
        let mut input = vec![[0.0, -0.0]; 130];
        input[3] = [0.0, 1e-45];
        input[63] = [f32::NAN, 0.0];
        input[64] = [-1.0, 0.0];
        input[129] = [0.0, f32::INFINITY];
        assert_eq!(seen(&input), Some(vec![3, 63, 64, 129]));
    }

    #[test]
    fn leaves_full_and_very_wide_layers_alone() {
        assert_eq!(seen(&[[1.0; 2]; 100]), None);
        assert_eq!(seen(&vec![[0.0; 2]; WORDS * WORD]), Some(vec![]));
        assert_eq!(seen(&vec![[0.0; 2]; WORDS * WORD + 1]), None);
    }
}
