//! Trajectories of the hallucinated system (equation (1) of the paper), and the
//! adjoint sweep back along them.
//!
//! s̃′ = s + mu(s, a) + beta · tau · sigma_e(s, a) · eta + noise, moved back by
//! whole periods where a state wraps and to the unit circle where a pair stays on
//! it, and clipped to the physical limits, where a is the controller's clipped
//! action. States that are known are computed after the others, and of what is
//! corrected from the model's value.
//!
//! One code path serves every estimate; [`Variant`](crate::task::Variant) says what fills in the
//! model's uncertainty.

mod adjoint;
mod buffers;
#[cfg(test)]
mod correction_tests;
mod feedback;
mod forward;
#[cfg(test)]
mod forward_tests;
#[cfg(test)]
mod known_tests;
mod member_rows;
#[cfg(test)]
mod noise_tests;
mod path_return;
mod smooth_objective;
mod step;
mod system;
#[cfg(test)]
pub(crate) mod test_walk;
mod transition;
#[cfg(test)]
mod wrap_tests;

pub use adjoint::EtaDerivative;
pub use buffers::{Buffers, Feedback};
pub use forward::Returns;
pub use member_rows::MemberRows;
pub use path_return::PathReturn;
pub use step::{StateAction, StepResult};
pub use system::Rollout;
