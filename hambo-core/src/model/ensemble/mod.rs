//! K networks and their moments (the mixture of equation (5)): mu is the mean
//! of the member means, the epistemic variance their population variance, the
//! aleatoric variance the mean of the member variances.
//!
//! A member may be the sum of a trained network and a random one that training
//! left as it was ([`Priors`]): where the data do not decide, members disagree
//! as much as their random parts do.

mod members;
mod moments;
mod priors;
mod seal;

pub use moments::Ensemble;
pub(crate) use priors::Priors;
