//! A row of numbers as the core takes it, which walks many copies side by side: here one.

/// One lane: an array of one number for each number.
#[must_use]
pub fn one_lane(numbers: &[f32]) -> &[[f32; 1]] {
    numbers.as_chunks().0
}

/// One lane to write to: an array of one number for each number.
#[must_use]
pub fn one_lane_mut(numbers: &mut [f32]) -> &mut [[f32; 1]] {
    numbers.as_chunks_mut().0
}
