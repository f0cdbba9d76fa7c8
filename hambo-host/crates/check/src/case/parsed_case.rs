//! A case whose image was encoded and parsed. What a check varies (effort, adversaries,
//! initial states) is changed in the parsed task, so the model is hashed once.

use hambo_core::image::Image;
use hambo_core::task::{Effort, MAX_ADVERSARIES};

use super::judged::Case;
use super::system::System;
use hambo_base::Error;
use hambo_task::image::{Adversaries, AlignedBytes, encode_adversary, encode_found, limited};

/// Added to the check's seed.
const OTHER_TRAJECTORIES: u64 = 3 << 32;

/// The most trajectories that are searched elsewhere: more find other sequences to try, hardly
/// worse ones.
const MOST_ELSEWHERE: u32 = 16;

/// How many trajectories are searched elsewhere beside a check that searches so many.
pub(crate) fn searched_elsewhere(searched: u32) -> u32 {
    searched.min(MOST_ELSEWHERE)
}

/// A case beside its parsed image.
#[derive(Clone, Debug)]
pub struct ParsedCase<'a> {
    pub case: &'a Case,
    /// Its image, with the adversaries that were added since.
    pub image: Image<'a>,
    /// The effort, which may differ from the case's.
    pub effort: Effort,
    /// Etas against the return that were found before, one sequence each: CA tries them with
    /// those that its search finds.
    pub tried: Vec<Vec<f32>>,
}

impl Case {
    /// Encodes and parses the image, and does some work on it.
    ///
    /// # Errors
    /// If a part is bad, or those of the work.
    pub fn parsed<T>(
        &self,
        work: impl FnOnce(ParsedCase<'_>) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let bytes = self.image(&Adversaries::default())?;
        work(ParsedCase {
            case: self,
            image: Image::parse(bytes.as_bytes())?,
            effort: self.plan.effort,
            tried: Vec::new(),
        })
    }
}

impl ParsedCase<'_> {
    /// What is rolled out.
    #[must_use]
    pub fn system(&self) -> System<'_> {
        let mut task = self.image.task().clone();
        task.plan.effort = self.effort;
        System {
            model: self.image.model(),
            task,
            policy: self.image.policy(),
        }
    }

    /// The same with other trajectories: neither the check's nor a learner's, and no more than
    /// it takes to find what may be tried in the check.
    #[must_use]
    pub fn elsewhere(&self) -> Self {
        let mut other = self.clone();
        other.effort.seed = self.effort.seed.wrapping_add(OTHER_TRAJECTORIES);
        other.effort.searched = searched_elsewhere(self.effort.searched);
        other
    }

    /// The same with more adversaries, which [`encode_parts`] made.
    ///
    /// # Errors
    /// If a part is bad.
    pub fn with_adversaries<'b>(
        &'b self,
        parts: &'b [AlignedBytes],
    ) -> Result<ParsedCase<'b>, Error> {
        let mut more: ParsedCase<'b> = self.clone();
        for part in parts {
            more.image = more.image.with_adversary(part.as_bytes())?;
        }
        Ok(more)
    }
}

/// One part for each adversary.
///
/// # Errors
/// If a size does not fit the format.
pub fn encode_parts(adversaries: &Adversaries) -> Result<Vec<AlignedBytes>, Error> {
    let Adversaries { networks, found } = adversaries;
    limited::<_, MAX_ADVERSARIES>("the number of trained adversaries", networks)?;
    limited::<_, MAX_ADVERSARIES>("the number of lists of sequences", found)?;
    let networks = networks.iter().map(encode_adversary);
    let parts = networks.chain(found.iter().map(encode_found));
    parts.map(|part| Ok(AlignedBytes::new(&part?))).collect()
}
