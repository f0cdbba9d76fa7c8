//! A check of an image in slices of bounded work.

use core::marker::PhantomData;

use super::outcome::Outcome;
use super::subject::{Anybody, OfController, OfFallback, OfOwnCode, Subject, hashes_of};
use super::sweeps::Sweeps;
use crate::floor::{Admitted, AdmittedFallback};
use crate::gate::Hashes;
use crate::image::{Bundle, Image};
use crate::numeric::{CapacityError, Pause};
use crate::policy::{LaneByLane, Policy, StoredPolicy};
use crate::rollout::Buffers;

/// A check under way over `B` lanes, one group of candidates at a time.
///
/// [`Check::advance`] does whole sweeps, and between two calls a control loop may run.
/// A sweep is long: all steps of a trajectory, all members, forward and back. So a control
/// loop that must be on time belongs in an interrupt above the check. Whoever wants a word
/// more often has [`Check::pause_with`]: its [`Pause`] is called after every slice, which is
/// a layer of one member or a block of a Gaussian process's rows, at most 65,536
/// multiply-adds in four lanes.
///
/// Its type says whose check it is, and so what its outcome may be asked for:
/// [`Check::of_controller`] and [`Check::of_fallback`] check what an admitted bundle holds,
/// [`Check::of_own_code`] a controller of the firmware; an outcome of [`Check::new`] or
/// [`Check::with_policy`] is for people and has no permit.
pub struct Check<'a, const B: usize, P = StoredPolicy<'a>, S = Anybody> {
    sweeps: Sweeps<'a, B, P>,
    /// What a permit will name, and the bundle that it was read from.
    named: Option<(Hashes, &'a Bundle<'a>)>,
    subject: PhantomData<S>,
}

/// What a call of [`Check::advance`] reached.
#[derive(Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "there is no heap to put the outcome on, and it is moved once"
)]
pub enum Progress<S = Anybody> {
    /// There is more to do.
    Working {
        /// Sweeps done.
        done: u32,
        /// Sweeps in all.
        total: u32,
    },
    /// The verdict.
    Finished(Outcome<S>),
}

impl<'a, const B: usize> Check<'a, B> {
    /// A check of an image's policy.
    ///
    /// # Errors
    /// If `rows` is too short.
    pub fn new(image: &'a Image<'a>, rows: &'a mut [[f32; B]]) -> Result<Self, CapacityError> {
        Check::with_policy(image, image.policy(), rows)
    }

    /// How many rows the check of an image needs.
    ///
    /// ```
    /// use hambo_core::check::Check;
    /// use hambo_core::numeric::CapacityError;
    /// let image = hambo_core::example::image()?;
    /// let needed = Check::<4>::rows_needed(&image).map_err(|_| "too large")?;
    /// let mut rows = vec![[0.0; 4]; needed];
    /// assert!(Check::new(&image, &mut rows).is_ok());
    /// let error = Check::new(&image, &mut rows[1..]).err();
    /// assert_eq!(error, Some(CapacityError { needed, available: needed - 1 }));
    /// # Ok::<(), &str>(())
    /// ```
    ///
    /// # Errors
    /// If the count does not fit a number.
    pub fn rows_needed(image: &Image<'_>) -> Result<usize, CapacityError> {
        Buffers::<B>::rows_needed(&image.model().dynamics, image.task(), image.policy())
    }
}

impl<'a, const B: usize, P: Policy> Check<'a, B, P> {
    /// A check of any controller on an image's model and task, for people.
    ///
    /// # Errors
    /// If `rows` is too short.
    pub fn with_policy(
        image: &'a Image<'a>,
        policy: &'a P,
        rows: &'a mut [[f32; B]],
    ) -> Result<Self, CapacityError> {
        Self::of(image, policy, rows, None)
    }
}

impl<'a, const B: usize> Check<'a, B, StoredPolicy<'a>, OfController> {
    /// The check of an admitted bundle's controller: its outcome gives a
    /// [`Permit`](crate::gate::Permit).
    ///
    /// # Errors
    /// If `rows` is too short.
    pub fn of_controller(
        admitted: &Admitted<'a>,
        rows: &'a mut [[f32; B]],
    ) -> Result<Self, CapacityError> {
        let image = admitted.bundle().image();
        let named = named::<OfController>(admitted);
        Self::of(image, image.policy(), rows, named)
    }
}

impl<'a, const B: usize> Check<'a, B, StoredPolicy<'a>, OfFallback> {
    /// The check of an admitted bundle's fallback, with the controller's task: its outcome gives
    /// a [`FallbackPermit`](crate::gate::FallbackPermit).
    ///
    /// # Errors
    /// If `rows` is too short.
    pub fn of_fallback(
        fallback: &AdmittedFallback<'a>,
        rows: &'a mut [[f32; B]],
    ) -> Result<Self, CapacityError> {
        let admitted = fallback.admitted();
        let named = named::<OfFallback>(admitted);
        Self::of(admitted.bundle().image(), fallback.policy(), rows, named)
    }
}

impl<'a, const B: usize, C, const DS: usize, const DA: usize>
    Check<'a, B, LaneByLane<C, DS, DA>, OfOwnCode>
where
    LaneByLane<C, DS, DA>: Policy,
{
    /// The check of a controller in Rust, the very code that will drive, on an admitted bundle's
    /// model and task. Its permit names no part of the bundle: it raises a level, and lets no
    /// [`Drive`](crate::drive::Drive) beat.
    ///
    /// # Errors
    /// If `rows` is too short.
    pub fn of_own_code(
        admitted: &Admitted<'a>,
        policy: &'a LaneByLane<C, DS, DA>,
        rows: &'a mut [[f32; B]],
    ) -> Result<Self, CapacityError> {
        let named = named::<OfOwnCode>(admitted);
        Self::of(admitted.bundle().image(), policy, rows, named)
    }
}

impl<'a, const B: usize, P: Policy, S: Subject> Check<'a, B, P, S> {
    /// Made where it will lie: a copy would cost kilobytes of stack.
    #[inline(never)]
    fn of(
        image: &'a Image<'a>,
        policy: &'a P,
        rows: &'a mut [[f32; B]],
        named: Option<(Hashes, &'a Bundle<'a>)>,
    ) -> Result<Self, CapacityError> {
        Ok(Self {
            sweeps: Sweeps::new(image, policy, rows)?,
            named,
            subject: PhantomData,
        })
    }

    /// Calls `pause` between two slices of work from now on. `Break` ends the check within
    /// one slice, and for good: it abstains, as one that was stopped. See [`Pause`].
    pub fn pause_with(&mut self, pause: &'a dyn Pause) {
        self.sweeps.pause_with(pause);
    }

    /// Does at most `sweeps` sweeps of `B` trajectories. The work of one is
    /// bounded by the model's size and the horizon; that of a slice of it by
    /// neither, see [`Check::pause_with`].
    #[inline(never)]
    pub fn advance(&mut self, sweeps: u32) -> Progress<S> {
        if self.sweeps.advance(sweeps) {
            return Progress::Finished(self.outcome());
        }
        Progress::Working {
            done: self.sweeps.done,
            total: self.sweeps.total,
        }
    }

    /// Ends a check that may take no more time: it abstains.
    #[must_use]
    pub fn stop(mut self) -> Outcome<S> {
        self.outcome()
    }

    /// What was checked must still be what was read: a bit of it that flipped in memory since
    /// then spoils the check, which abstains.
    fn outcome(&mut self) -> Outcome<S> {
        let assessment = &mut self.sweeps.assessment;
        let hashes = self.named.map(|(hashes, bundle)| {
            if bundle.checksum() != Some(hashes.read) {
                assessment.spoil();
            }
            hashes
        });
        assessment.outcome_of(hashes)
    }
}

/// What a permit will name of an admitted bundle.
fn named<'a, S: Subject>(admitted: &Admitted<'a>) -> Option<(Hashes, &'a Bundle<'a>)> {
    Some((hashes_of::<S>(admitted)?, admitted.bundle()))
}

// Whole checks take minutes each under Miri.
#[cfg(all(test, not(miri)))]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

    use super::*;
    use crate::example;
    use crate::gate::{Reason, Verdict};

    #[test]
    fn what_was_read_must_be_the_same_at_the_end() {
        let bundle = example::bundle().unwrap();
        let floor = example::floor(&bundle).unwrap();
        let admitted = floor.admit(&bundle, &mut []).unwrap();
        for flipped in [0, 1 << 21] {
            let mut rows = vec![[0.0; 4]; 200];
            let mut check = Check::of_controller(&admitted, &mut rows).unwrap();
            check.advance(3);
            let (hashes, _) = check.named.as_mut().unwrap();
            hashes.read ^= flipped;
            let Progress::Finished(outcome) = check.advance(u32::MAX) else {
                panic!("unfinished");
            };
            let again = floor.admit(&bundle, &mut []).unwrap();
            let is_same = flipped == 0;
            assert_eq!(outcome.permit(&again, None).is_some(), is_same);
            assert_eq!(outcome.verdict == Verdict::Deploy, is_same);
            assert_eq!(outcome.reasons.contains(&Reason::Corrupted), !is_same);
        }
    }
}
