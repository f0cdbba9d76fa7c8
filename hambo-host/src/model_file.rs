//! The model file (`.hambo`): how a model came about, then its model part,
//! both in the core's container format.

use std::path::Path;

use hambo_core::image::container::Container;
use hambo_core::image::{ImageError, Part, Problem, parse_model};
use hambo_core::model::Model;
use serde::{Deserialize, Serialize};

use crate::files::write_whole;
use crate::image_file::{AlignedBytes, EncodeError, encode_part};

/// Where a model comes from, so that a result can be traced.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Provenance {
    /// The version of hambo that trained it.
    pub hambo_version: String,
    /// The seed of the split and the training.
    pub seed: u64,
    /// SHA-256 of the log's numbers.
    pub data_hash: [u8; 32],
    /// Rows that were trained on.
    pub training_rows: u32,
    /// Rows that were withheld for the calibration.
    pub withheld_rows: u32,
    /// Mean negative log likelihood of each member on its training rows.
    pub losses: Vec<f32>,
    /// The minimiser of the calibration error, before it was widened.
    pub best_scale: Vec<f32>,
    /// Calibration error before.
    pub error_before: Vec<f32>,
    /// Calibration error after.
    pub error_after: Vec<f32>,
    /// Share of withheld rows inside the set that is used.
    pub coverage: f32,
}

/// A model with its provenance.
#[derive(Clone, Debug)]
pub struct ModelFile {
    provenance: Provenance,
    model_part: AlignedBytes,
}

/// Why a model file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ModelFileError {
    /// It cannot be read or written.
    #[error(transparent)]
    File(#[from] std::io::Error),
    /// It is damaged or of another kind.
    #[error("{file}: {} part: {:?}; the file is damaged or not a model: train it again", part_name(&.error.part), .error.problem)]
    Damaged {
        /// The file.
        file: String,
        /// What the core said.
        error: ImageError,
    },
    /// It cannot be written in this format.
    #[error(transparent)]
    Encode(#[from] EncodeError),
}

/// The word for a part.
#[must_use]
pub fn part_name(part: &Part) -> &'static str {
    match part {
        Part::Model => "model",
        Part::Task => "task",
        Part::Policy => "policy",
        Part::Provenance => "provenance",
        Part::Adversary => "adversary",
        Part::Image => "last",
    }
}

impl ModelFile {
    /// A model from its model part.
    ///
    /// # Errors
    /// If the part is not valid.
    pub fn new(provenance: Provenance, model_part: &[u8]) -> Result<Self, ModelFileError> {
        Self::checked(provenance, model_part, "the new model")
    }

    fn checked(
        provenance: Provenance,
        model_part: &[u8],
        file: &str,
    ) -> Result<Self, ModelFileError> {
        let model_file = Self {
            provenance,
            model_part: AlignedBytes::new(model_part),
        };
        match model_file.model() {
            Ok(_) => Ok(model_file),
            Err(error) => Err(ModelFileError::Damaged {
                file: file.to_owned(),
                error,
            }),
        }
    }

    /// The model, its weights borrowed from here.
    ///
    /// # Errors
    /// Never for a model file that [`ModelFile::new`] or
    /// [`ModelFile::read`] made.
    pub fn model(&self) -> Result<Model<'_>, ImageError> {
        let mut rest = self.model_part.as_bytes();
        let part = Container::take(&mut rest, Part::Model)?;
        let in_model = |problem| ImageError {
            part: Part::Model,
            problem,
        };
        if !rest.is_empty() {
            return Err(in_model(Problem::TrailingBytes));
        }
        parse_model(&part).map_err(in_model)
    }

    /// Where it comes from.
    #[must_use]
    pub fn provenance(&self) -> &Provenance {
        &self.provenance
    }

    /// The model part, as images hold it.
    #[must_use]
    pub fn model_part(&self) -> &[u8] {
        self.model_part.as_bytes()
    }

    /// Writes the file, whole or not at all.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn write(&self, path: &Path) -> Result<(), ModelFileError> {
        let mut bytes = encode_part(Part::Provenance, &self.provenance, &[])?;
        bytes.extend(self.model_part());
        Ok(write_whole(path, &bytes)?)
    }

    /// Reads a file.
    ///
    /// # Errors
    /// If it cannot be read or any byte of it is wrong.
    pub fn read(path: &Path) -> Result<Self, ModelFileError> {
        let bytes = AlignedBytes::read(path)?;
        let file = path.display().to_string();
        let damaged = |error| ModelFileError::Damaged {
            file: file.clone(),
            error,
        };
        let mut rest = bytes.as_bytes();
        let part = Container::take(&mut rest, Part::Provenance).map_err(damaged)?;
        let provenance = part.read_manifest().map_err(|problem| {
            damaged(ImageError {
                part: Part::Provenance,
                problem,
            })
        })?;
        Self::checked(provenance, rest, &file)
    }
}
