//! What is judged, with what effort, and its image.

pub mod amounts;
pub mod assumption;
pub mod certify;
pub mod demand;
pub mod effort;
mod fit;
mod judged;
mod margin_advice;
pub mod near_path;
pub mod options;
pub mod parsed_case;
pub mod system;

pub use fit::ensure_model_fits;
pub(crate) use fit::recordings;
pub use judged::{Case, first_states};
