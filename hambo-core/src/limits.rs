//! Lower and upper ends of states and actions.

/// Lower and upper limits; infinite where there is none.
#[derive(Clone, Copy, Debug)]
pub struct Limits<'a> {
    /// Lower limits.
    pub low: &'a [f32],
    /// Upper limits.
    pub high: &'a [f32],
}
