//! What withheld rows say of the place where a controller goes.
//!
//! Calibration is an average over all withheld rows, and networks may agree on what is wrong in
//! one place. A controller that stays there meets nothing else: a gentle one inside an
//! actuator's dead zone, for example. So the rows that judged are kept in the model file, and those
//! near a controller's own path are judged once more: do set and noise hold them, and does the set
//! hold their mean residual? Errors that change their sign along the path cancel in a mean over
//! all of it, so means are also taken with the sign of every input and over small
//! neighbourhoods.

mod look;
mod mean;
mod rows;
mod whitened;

pub use look::{Found, NearPath, look};
pub use rows::JudgingRows;
