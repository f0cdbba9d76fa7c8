//! First states that differ.

use std::collections::HashSet;

/// How many of these states differ, as the core counts those of an image; faster where there are
/// many.
#[must_use]
pub fn distinct_states<'a>(states: impl Iterator<Item = &'a [f32]>) -> usize {
    // Zero is zero, whatever its sign.
    let bits = |state: &[f32]| -> Vec<u32> { state.iter().map(|x| (x + 0.0).to_bits()).collect() };
    states.map(bits).collect::<HashSet<_>>().len()
}

#[cfg(test)]
mod tests {
    use hambo_core::task::{InitialKind, InitialState};

    use super::*;

    #[test]
    fn states_are_counted_as_the_core_counts_them() {
        let first = [0.0, 1.0, -0.0, 1.0, 0.0, 2.0, 1.0, 0.0, 0.0, 2.0];
        let initial = InitialState {
            kind: InitialKind::Logged,
            first: &first,
            second: &[],
        };
        assert_eq!(distinct_states(first.chunks_exact(2)), 3);
        assert_eq!(distinct_states(first.chunks_exact(2)), initial.distinct(2));
    }
}
