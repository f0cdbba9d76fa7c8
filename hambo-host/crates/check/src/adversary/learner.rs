//! The learner of a variant: soft actor-critic for CA, clipped double DQN for
//! DA1.

use hambo_core::task::Variant;
use serde::{Deserialize, Serialize};

use crate::reinforcement::{
    DoubleDqn, DoubleDqnOptions, DoubleDqnState, LearningOptions, Problem, ReinforcementError,
    RoundReport, SoftActorCritic, SoftActorCriticOptions, SoftActorCriticState,
};
use hambo_base::Error;
use hambo_task::image::TrainedAdversary;

/// An adversary that learns.
pub enum AdversaryLearner {
    /// eta, for CA.
    Continuous(Box<SoftActorCritic>),
    /// A member, for DA1.
    Discrete(Box<DoubleDqn>),
}

/// One between two rounds, ready for `serde`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum AdversaryLearnerState {
    /// eta, for CA.
    Continuous(SoftActorCriticState),
    /// A member, for DA1.
    Discrete(DoubleDqnState),
}

impl AdversaryLearner {
    /// A learner with random weights.
    ///
    /// # Errors
    /// If the options or the problem do not fit.
    pub fn new(
        problem: &dyn Problem,
        variant: Variant,
        learning: LearningOptions,
    ) -> Result<Self, ReinforcementError> {
        Ok(if variant == Variant::ContinuousAdversary {
            let options = SoftActorCriticOptions {
                learning,
                ..SoftActorCriticOptions::default()
            };
            Self::Continuous(Box::new(SoftActorCritic::new(problem, options)?))
        } else {
            let options = DoubleDqnOptions {
                learning,
                ..DoubleDqnOptions::default()
            };
            Self::Discrete(Box::new(DoubleDqn::new(problem, options)?))
        })
    }

    /// Goes on where a state was taken.
    ///
    /// # Errors
    /// If the state is not one of a learner for such a problem.
    pub fn resume(
        problem: &dyn Problem,
        state: AdversaryLearnerState,
    ) -> Result<Self, ReinforcementError> {
        Ok(match state {
            AdversaryLearnerState::Continuous(state) => {
                Self::Continuous(Box::new(SoftActorCritic::resume(problem, state)?))
            }
            AdversaryLearnerState::Discrete(state) => {
                Self::Discrete(Box::new(DoubleDqn::resume(problem, state)?))
            }
        })
    }

    /// All that the learner has become.
    #[must_use]
    pub fn state(&self) -> AdversaryLearnerState {
        match self {
            Self::Continuous(learner) => AdversaryLearnerState::Continuous(learner.state().clone()),
            Self::Discrete(learner) => AdversaryLearnerState::Discrete(learner.state().clone()),
        }
    }

    /// One round; `None` when learning is over.
    ///
    /// # Errors
    /// If a number is not finite.
    pub fn round(&mut self, problem: &mut dyn Problem) -> Result<Option<RoundReport>, Error> {
        match self {
            Self::Continuous(learner) => learner.round(problem),
            Self::Discrete(learner) => learner.round(problem),
        }
    }

    /// The network with the best evaluation, or the last one without any.
    #[must_use]
    pub fn adversary(&self) -> TrainedAdversary {
        match self {
            Self::Continuous(learner) => learner.actor().adversary(),
            Self::Discrete(learner) => learner.chooser().adversary(),
        }
    }
}
