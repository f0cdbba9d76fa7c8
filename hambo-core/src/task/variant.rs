//! The estimates of the paper's section 4.1 and the neutral ones that it is
//! held against in section 5: who fills in the model's uncertainty.

use serde::{Deserialize, Serialize};

/// What happens inside the model's uncertainty.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Variant {
    /// Nothing: the mean alone, without noise. The neutral estimate.
    Mean,
    /// OPE-DS: a normal draw with epistemic and aleatoric variance.
    DistributionSampling,
    /// OPE-TS1: a member drawn at every step.
    TrajectorySampling1,
    /// OPE-TSinf: a member drawn for every trajectory.
    TrajectorySamplingInf,
    /// MOPO: as OPE-TS1, with the uncertainty taken off the reward.
    Penalised,
    /// HAMBO-CA: the adversary moves the mean inside the confidence set.
    ContinuousAdversary,
    /// HAMBO-DA1: the adversary picks a member at every step.
    DiscreteAdversary1,
    /// HAMBO-DAinf: the adversary picks a member for every trajectory.
    DiscreteAdversaryInf,
}

impl Variant {
    /// Whether an adversary fills in the uncertainty. The others are neutral:
    /// they bound nothing.
    pub fn has_adversary(self) -> bool {
        matches!(
            self,
            Self::ContinuousAdversary | Self::DiscreteAdversary1 | Self::DiscreteAdversaryInf
        )
    }

    /// Whether single members of an ensemble take part.
    pub fn needs_members(self) -> bool {
        match self {
            Self::Mean | Self::DistributionSampling | Self::ContinuousAdversary => false,
            Self::TrajectorySampling1
            | Self::TrajectorySamplingInf
            | Self::Penalised
            | Self::DiscreteAdversary1
            | Self::DiscreteAdversaryInf => true,
        }
    }
}
