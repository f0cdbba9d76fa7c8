//! Scratch of one output.

/// The rows that one output works with.
pub(super) struct OutputRows<'r, const B: usize> {
    pub query: &'r mut [[f32; B]],
    pub kernel: &'r mut [[f32; B]],
    pub slopes: &'r mut [[f32; B]],
    pub projection: &'r mut [[f32; B]],
}
