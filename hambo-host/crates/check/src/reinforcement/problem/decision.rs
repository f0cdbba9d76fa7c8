//! A decision problem as a learner sees it: many copies of it, side by side.

use hambo_base::Error;

/// What is decided at every step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Actions {
    /// This many numbers, each in [−1, 1].
    Continuous(usize),
    /// One of this many choices, counted from 0.
    Discrete(usize),
}

impl Actions {
    /// How many numbers an action takes in a buffer; a choice is one number.
    ///
    /// ```
    /// use hambo_check::reinforcement::Actions;
    /// assert_eq!(Actions::Continuous(3).numbers(), 3);
    /// assert_eq!(Actions::Discrete(5).numbers(), 1);
    /// ```
    #[must_use]
    pub fn numbers(self) -> usize {
        match self {
            Self::Continuous(count) => count,
            Self::Discrete(_) => 1,
        }
    }
}

/// Copies of a decision problem that walk side by side, one in each lane.
///
/// The learner keeps the time: it starts every episode in a lane of its choice
/// and ends it after [`Self::horizon`] steps, or when the problem says that it
/// has terminated. A lane whose episode is over stays as it is until it is
/// started again; what [`Self::step`] writes for it meanwhile is not read.
///
/// The same episode number must give the same episode for the same actions, in
/// any lane: then training repeats bit by bit, and goes on from a checkpoint
/// between two rounds, where no episode is under way.
///
/// Buffers are row-major, one row for each lane.
///
/// ```
/// use hambo_base::Error;
/// use hambo_check::reinforcement::{Actions, Problem};
///
/// /// Hold a number at 0; it is lost beyond ±5.
/// struct Hold(Vec<f32>);
///
/// impl Problem for Hold {
///     fn lanes(&self) -> usize {
///         self.0.len()
///     }
///     fn observation_size(&self) -> usize {
///         1
///     }
///     fn actions(&self) -> Actions {
///         Actions::Continuous(1)
///     }
///     fn horizon(&self) -> usize {
///         20
///     }
///     fn start(&mut self, lane: usize, episode: u32) -> Result<(), Error> {
///         self.0[lane] = (episode % 7) as f32 - 3.0;
///         Ok(())
///     }
///     fn observe(&self, observations: &mut [f32]) {
///         observations.copy_from_slice(&self.0);
///     }
///     fn step(
///         &mut self,
///         actions: &[f32],
///         rewards: &mut [f32],
///         terminated: &mut [bool],
///     ) -> Result<(), Error> {
///         for (lane, x) in self.0.iter_mut().enumerate() {
///             *x += actions[lane];
///             rewards[lane] = -x.abs();
///             terminated[lane] = x.abs() > 5.0;
///         }
///         Ok(())
///     }
/// }
///
/// let mut problem = Hold(vec![0.0; 2]);
/// problem.start(1, 6)?;
/// let (mut rewards, mut terminated) = ([0.0; 2], [false; 2]);
/// problem.step(&[0.0, -1.0], &mut rewards, &mut terminated)?;
/// assert_eq!(rewards, [0.0, -2.0]);
/// # Ok::<(), Error>(())
/// ```
pub trait Problem {
    /// How many copies there are.
    fn lanes(&self) -> usize;

    /// Numbers of an observation.
    fn observation_size(&self) -> usize;

    /// What is decided.
    fn actions(&self) -> Actions;

    /// Steps of an episode that does not terminate.
    fn horizon(&self) -> usize;

    /// Puts a lane at the start of an episode. All that chance decides in it
    /// follows from this number (and the problem's own seed).
    ///
    /// # Errors
    /// If the problem cannot start.
    fn start(&mut self, lane: usize, episode: u32) -> Result<(), Error>;

    /// Writes what is seen in every lane.
    fn observe(&self, observations: &mut [f32]);

    /// One step in every lane: writes the reward, and whether the episode
    /// terminated, so that nothing more can be earned. The end of the horizon
    /// is not a termination.
    ///
    /// # Errors
    /// If the problem cannot go on.
    fn step(
        &mut self,
        actions: &[f32],
        rewards: &mut [f32],
        terminated: &mut [bool],
    ) -> Result<(), Error>;
}
