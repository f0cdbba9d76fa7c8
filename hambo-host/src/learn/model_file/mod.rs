//! The model file (`.hambo`): how a model came about, then its model part,
//! both in the core's container format.

mod gaussian_process_in_floats;
mod metadata;
mod version_1;

use std::path::Path;

use hambo_core::image::container::Container;
use hambo_core::image::{ImageError, Part, Problem, parse_model};
use hambo_core::model::Model;
use serde::{Deserialize, Serialize};

pub use metadata::{
    DataSummary, GaussianProcessSummary, Metadata, NetworkSummary, TrainingSummary,
};

use crate::formats::image::{AlignedBytes, EncodeError, encode_part, part_name, problem_text};
use crate::foundation::error::Explained;
use crate::foundation::files::write_whole;
use gaussian_process_in_floats::{OldProcessError, renewed};
use version_1::Provenance;

/// The version of the metadata that this program writes.
const METADATA_VERSION: u16 = 2;

/// The metadata as they lie in a file. Version 1 had no number: it began with
/// the length of the program's version, which is never 2.
#[derive(Serialize, Deserialize)]
struct Versioned<T> {
    version: u16,
    metadata: T,
}

/// A model with its metadata.
#[derive(Clone, Debug)]
pub struct ModelFile {
    metadata: Metadata,
    model_part: AlignedBytes,
}

/// Why a model file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ModelFileError {
    /// It cannot be read or written.
    #[error(transparent)]
    File(#[from] std::io::Error),
    /// It is damaged or of another kind.
    #[error("{file}: {} part: {}\nhelp: the file is damaged or not a model; give one of `hambo fit`, or fit it again", part_name(&.error.part), problem_text(&.error.problem))]
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

impl Explained for ModelFileError {}

impl ModelFile {
    /// A model from its model part.
    ///
    /// # Errors
    /// If the part is not valid.
    pub fn new(metadata: Metadata, model_part: &[u8]) -> Result<Self, ModelFileError> {
        Self::checked(metadata, model_part, "the new model")
    }

    fn checked(metadata: Metadata, model_part: &[u8], file: &str) -> Result<Self, ModelFileError> {
        let model_file = Self {
            metadata,
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

    /// How it came about.
    #[must_use]
    pub fn metadata(&self) -> &Metadata {
        &self.metadata
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
        let versioned = Versioned {
            version: METADATA_VERSION,
            metadata: &self.metadata,
        };
        let mut bytes = encode_part(Part::Provenance, &versioned, &[])?;
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
        let metadata = match part.manifest.first() {
            Some(version) if u16::from(*version) == METADATA_VERSION => part
                .read_manifest()
                .map(|versioned: Versioned<Metadata>| versioned.metadata),
            _ => part.read_manifest().map(|old: Provenance| old.into()),
        };
        let metadata = metadata.map_err(|problem| {
            damaged(ImageError {
                part: Part::Provenance,
                problem,
            })
        })?;
        // An old Gaussian process becomes one of today, so that whatever is
        // written from here on has it.
        let mut after = rest;
        let part = Container::take(&mut after, Part::Model).map_err(damaged)?;
        let model_file = match renewed(&part) {
            Ok(Some(model_part)) if after.is_empty() => Self::checked(metadata, &model_part, &file),
            Ok(_) => Self::checked(metadata, rest, &file),
            Err(OldProcessError::Damaged(problem)) => Err(damaged(ImageError {
                part: Part::Model,
                problem,
            })),
            Err(OldProcessError::Encode(error)) => Err(error.into()),
        }?;
        tracing::info!(file, bytes = model_file.model_part().len(), "read a model");
        Ok(model_file)
    }
}
