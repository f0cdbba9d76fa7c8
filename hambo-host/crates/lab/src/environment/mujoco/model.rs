//! The robots' model files, for two engines.
//!
//! Between MuJoCo 2.1.0, which Gym's v3 systems ran on, and today's engine two things changed:
//!
//! - A capsule weighed as much as a cylinder of the same radius that is one radius longer than
//!   the capsule's straight part, and turned like one. Today it weighs and turns like a capsule.
//! - Two shapes touched within the larger of their margins; today within the sum.
//!
//! So every link is two shapes: the capsule that touches, and the cylinder that touches nothing.
//! One of them has a density, the other none. And the old engine's margin is split in halves.

use mujoco_rs::wrappers::{MjData, MjModel};

use hambo_base::Error;

/// Which engine's model of the robot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    /// That of Gym's v3 systems: MuJoCo 2.1.0.
    V3,
    /// That of Gymnasium's v4 systems: today's.
    V4,
}

impl Engine {
    /// What the words in braces stand for.
    fn words(self) -> [(&'static str, &'static str); 3] {
        let [capsule, cylinder, margin] = match self {
            Self::V3 => ["0", "1000", "0.0005"],
            Self::V4 => ["1000", "0", "0.001"],
        };
        [
            ("{capsule_density}", capsule),
            ("{cylinder_density}", cylinder),
            ("{margin}", margin),
        ]
    }

    /// Compiles a model file; if a mass is given, all masses are scaled to it.
    pub(super) fn compile(self, text: &str, total_mass: Option<f64>) -> Result<MjModel, Error> {
        let words = self.words();
        let text = words.iter().fold(text.to_owned(), |text, (word, value)| {
            text.replace(word, value)
        });
        let failed = |what: &str| Error::Usage(format!("MuJoCo: {what}"));
        let mut model =
            MjModel::from_xml_string(&text).map_err(|error| failed(&error.to_string()))?;
        if let Some(mass) = total_mass {
            model.set_totalmass(mass);
            let data = MjData::try_new(&mut model);
            data.map_err(|error| failed(&error.to_string()))?
                .set_const();
        }
        Ok(model)
    }
}
