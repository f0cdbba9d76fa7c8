//! The adjoint sweep: one walk back along a stored trajectory that carries the
//! derivative of the return in the state. It is how the minimum of equation
//! (2) is searched for.
//!
//! At every step the sweep passes back through the reward, the limits, the
//! transition and the controller. Only the transition differs by adversary,
//! and with it what is found there: [`Rollout::eta_gradient`](super::Rollout::eta_gradient) for CA,
//! `member_gains` for DA1.
//!
//! Comparisons in the reward count as smooth steps here, and only here. So
//! does the termination: with m in [0, 1] for how far a step ends the
//! trajectory, the value of step t is V_t = w_t r_t + (1 − m_t) V_{t+1}, and
//! its derivative in m_t is −V_{t+1}. Ending early is felt where it takes
//! later reward away, and going on where it adds cost.
//! Of a constraint that must hold always, finally or eventually, V_t is the
//! least, the last or the greatest margin from step t on.

#[cfg(test)]
mod constraint_tests;
mod eta_gradient;
mod known_states;
mod member_gains;
mod sweep;

pub use eta_gradient::EtaDerivative;
