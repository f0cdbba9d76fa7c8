//! The negative log marginal likelihood of one output and its derivatives.
//!
//! Everything is computed for C = K / signal_variance + ratio · 1, so the
//! signal variance is known in closed form: given the rest, yᵀ C⁻¹ y / n is
//! the likeliest. The search leaves it out and walks in fewer directions.
//!
//! With a = C⁻¹ y and G = a aᵀ / signal_variance − C⁻¹ every derivative is
//! −½ tr(G ∂C / ∂θ): one inverse serves all of them.

mod descent;
mod kernel_matrix;
mod likelihood;
pub mod options;
pub mod search;

pub use likelihood::Likelihood;
pub use options::{Parameter, Progress, SearchBounds, SearchOptions};
pub use search::{FittedOutput, fit_hyperparameters};
