//! Which inputs of a layer are not zero in every lane.
//!
//! A weight times zero adds nothing, and after a ReLU many units are off in
//! all lanes: trajectories that start alike stay alike. Lists of the others are
//! made once for a layer and serve all of its tiles.

use super::layer::TILE;

/// Inputs that one list names: a number of eight bits is always one of them.
const LIST: usize = 256;
/// Layers with more inputs than this many lists name are summed in full.
const LISTS: usize = 4;

/// Whether every lane of every row is zero, of either sign.
#[inline(always)]
pub(super) fn is_zero<const B: usize>(rows: &[[f32; B]]) -> bool {
    // Without the sign only a zero has no bits.
    let bits = |row: &[f32; B]| row.iter().fold(0, |all, x| all | x.to_bits() << 1);
    rows.iter().fold(0, |all, row| all | bits(row)) == 0
}

/// The inputs that count, a list for each run of [`LIST`] inputs.
pub(super) struct Active([List; LISTS]);

impl Active {
    /// The inputs with a lane that is not zero; `None` if there are too many
    /// inputs to name, or so few zeros that looking for them costs more.
    #[inline(always)]
    pub(super) fn of<const B: usize>(input: &[[f32; B]]) -> Option<Self> {
        if input.len() > LISTS * LIST {
            return None;
        }
        let mut lists = [List::NONE; LISTS];
        for (list, rows) in lists.iter_mut().zip(input.chunks(LIST)) {
            *list = List::of(rows);
        }
        let count: usize = lists.iter().map(|list| list.count).sum();
        let few = input.len() - input.len() / 32;
        (count < few).then_some(Self(lists))
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
        let (weights, last_weights) = block.as_chunks::<LIST>();
        let (rows, last_rows) = input.as_chunks::<LIST>();
        let mut lists = self.0.iter();
        for ((weights, rows), list) in weights.iter().zip(rows).zip(&mut lists) {
            // In a whole run every number of eight bits has its place, and the
            // compiler looks no further.
            for place in list.places() {
                if let (Some(weight), Some(row)) = (weights.get(place), rows.get(place)) {
                    f(weight, row);
                }
            }
        }
        for place in lists.next().into_iter().flat_map(List::places) {
            if let (Some(weight), Some(row)) = (last_weights.get(place), last_rows.get(place)) {
                f(weight, row);
            }
        }
    }

    /// The runs of inputs: where each begins, and which of it count.
    #[inline(always)]
    pub(super) fn runs(&self) -> impl Iterator<Item = (usize, &List)> {
        (0..).step_by(LIST).zip(&self.0)
    }
}

/// The inputs of one run that count, in their order.
#[derive(Clone, Copy)]
pub(super) struct List {
    places: [u8; LIST],
    count: usize,
}

impl List {
    /// The rows with a lane that is not zero.
    #[inline(always)]
    fn of<const B: usize>(rows: &[[f32; B]]) -> Self {
        let mut list = Self::NONE;
        for (place, row) in (0..=u8::MAX).zip(rows) {
            // Written in any case, and kept if it counts: no branch.
            if let Some(next) = list.places.get_mut(list.count) {
                *next = place;
            }
            let counts = !is_zero(core::slice::from_ref(row));
            list.count = list.count.saturating_add(usize::from(counts));
        }
        list
    }

    const NONE: Self = Self {
        places: [0; LIST],
        count: 0,
    };

    /// Their numbers in the run.
    #[inline(always)]
    pub(super) fn places(&self) -> impl Iterator<Item = usize> + '_ {
        let places = self.places.get(..self.count).unwrap_or_default();
        places.iter().map(|place| usize::from(*place))
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
        let mut input = vec![[0.0, -0.0]; 2 * LIST + 30];
        input[3] = [0.0, 1e-45];
        input[LIST - 1] = [f32::NAN, 0.0];
        input[LIST] = [-1.0, 0.0];
        input[2 * LIST + 29] = [0.0, f32::INFINITY];
        let counts = vec![3, LIST - 1, LIST, 2 * LIST + 29];
        assert_eq!(seen(&input), Some(counts));
    }

    #[test]
    fn leaves_full_and_very_wide_layers_alone() {
        assert_eq!(seen(&[[1.0; 2]; 100]), None);
        assert_eq!(seen(&vec![[0.0; 2]; LISTS * LIST]), Some(vec![]));
        assert_eq!(seen(&vec![[0.0; 2]; LISTS * LIST + 1]), None);
    }
}
