//! The floor that a run needs: the robot's own, or one that takes the bundle at its word.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::{env, fs, process};

use super::error::DeviceError;
use hambo_task::image::floor_of_trust;

/// Runs of this process that wrote a floor.
static WRITTEN: AtomicU32 = AtomicU32::new(0);

/// A file with a floor; one that was written for a run goes away with it.
pub(super) enum FloorFile {
    Given(PathBuf),
    Written(PathBuf),
}

impl FloorFile {
    /// The given floor, or one for the bundle in a file.
    pub fn of(given: Option<&Path>, bundle: &Path) -> Result<Self, DeviceError> {
        if let Some(given) = given {
            return Ok(Self::Given(given.into()));
        }
        let cannot = |path: &Path| {
            let path = path.to_path_buf();
            move |source| DeviceError::NoImage { path, source }
        };
        let bytes = fs::read(bundle).map_err(cannot(bundle))?;
        let floor = floor_of_trust(&bytes).map_err(|error| DeviceError::NoImage {
            path: bundle.into(),
            source: std::io::Error::other(error.to_string()),
        })?;
        let number = WRITTEN.fetch_add(1, Ordering::Relaxed);
        let name = format!("hambo-floor-{}-{number}", process::id());
        let path = env::temp_dir().join(name);
        fs::write(&path, floor.as_bytes()).map_err(cannot(&path))?;
        Ok(Self::Written(path))
    }

    pub fn path(&self) -> &Path {
        match self {
            Self::Given(path) | Self::Written(path) => path,
        }
    }
}

impl Drop for FloorFile {
    fn drop(&mut self) {
        if let Self::Written(path) = self {
            // A file that stays in the folder for such files does no harm.
            let _ = fs::remove_file(path);
        }
    }
}
