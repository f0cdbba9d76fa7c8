//! The images that are attacked: one robot, four verdicts.
//!
//! Each of the three that must not deploy differs from the one that does in a single place, so
//! that one glitch in the right place is enough to open a careless gate.

use crate::fixture::{point, rewritten};
use hambo_base::Error;
use hambo_core::model::Calibration;
use hambo_task::image::{BundleAbout, encode_bundle, floor_of_trust};

/// What an unglitched check of an image ends with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The bound is −1.61 and the threshold −2.
    Deploy,
    /// The threshold is −1.5.
    Reject,
    /// The calibration failed.
    Abstain,
    /// One bit of a weight is flipped, so the checksum is wrong.
    Refused,
}

/// All of them, the control first.
pub const VERDICTS: [Verdict; 4] = [
    Verdict::Deploy,
    Verdict::Reject,
    Verdict::Abstain,
    Verdict::Refused,
];

impl Verdict {
    /// As the rows call it; the device's own word.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Deploy => "deploy",
            Self::Reject => "reject",
            Self::Abstain => "abstain",
            Self::Refused => "refused",
        }
    }

    /// The verdict of a name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        VERDICTS.into_iter().find(|one| one.name() == name)
    }

    /// What lies in flash: four steps, two trajectories, one sweep of the search. A firmware
    /// that knows bundles gets one, and the floor of a robot that takes it at its word; one
    /// of before gets the image alone.
    ///
    /// # Errors
    /// If a part is wrong, which would be a bug of this file.
    pub fn flash(self, bundles: bool) -> Result<Flash, Error> {
        let image = point()?;
        let image = rewritten(image.as_bytes(), |model, task| {
            task.effort.iterations = 1;
            match self {
                Self::Deploy | Self::Refused => {}
                Self::Reject => task.threshold = Some(-1.5),
                Self::Abstain => model.calibration = Calibration::Failed,
            }
        });
        let image = image.map_err(|error| Error::Usage(error.to_string()))?;
        let (mut bytes, floor) = if bundles {
            let bundle = encode_bundle(image.as_bytes(), &BundleAbout::default(), None)?;
            let floor = floor_of_trust(bundle.as_bytes())?;
            (bundle.as_bytes().to_vec(), floor.as_bytes().to_vec())
        } else {
            (image.as_bytes().to_vec(), Vec::new())
        };
        if self == Self::Refused {
            let place = weight(&bytes).ok_or(Error::Usage("the image has no weight".to_owned()))?;
            if let Some(byte) = bytes.get_mut(place) {
                *byte ^= 1;
            }
        }
        Ok(Flash { bytes, floor })
    }
}

/// What lies in flash.
pub struct Flash {
    /// The bundle, or an image.
    pub bytes: Vec<u8>,
    /// The robot's floor; empty for a firmware that knows none.
    pub floor: Vec<u8>,
}

/// Where the lowest byte of a weight of the model lies: the first that is 1 as a number, which
/// is what the action does to the state.
#[must_use]
pub fn weight(image: &[u8]) -> Option<usize> {
    let one = 1.0_f32.to_le_bytes();
    let places = image.chunks_exact(one.len());
    let found = places.enumerate().find(|(_, chunk)| **chunk == one);
    found.map(|(place, _)| place * one.len())
}
