//! The model file (`.hambo`): how a model came about, then its model part,
//! both in the core's container format.

pub mod metadata;
pub mod sample;

use std::cmp::Ordering;
use std::path::Path;

use hambo_core::image::container::Container;
use hambo_core::image::{ImageError, Part, Problem, parse_model};
use hambo_core::model::Model;

pub use metadata::{
    DataSummary, GaussianProcessSummary, Metadata, NetworkSummary, TrainingSummary,
};
pub use sample::LogSample;

use hambo_base::error::Explained;
use hambo_base::files::write_whole;
use hambo_base::refused::{part_name, problem_text};
use hambo_task::image::{AlignedBytes, EncodeError, encode_part};

/// The version of the metadata that this program writes and reads; it is the
/// first number of the provenance part, and the metadata follow it.
const METADATA_VERSION: u16 = 10;

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
    /// Its format is not read any more.
    #[error("{0}: written by an earlier version of hambo: fit again")]
    Earlier(String),
    /// It is damaged or of another kind.
    #[error("{file}: {} part: {}\nhelp: the file is damaged or not a model; give one of `hambo fit`, or fit it again", part_name(&.error.part), problem_text(&.error.problem))]
    Damaged {
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
            Err(error) => Err(refusal(error, file)),
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
        let provenance = (METADATA_VERSION, &self.metadata);
        let mut bytes = encode_part(Part::Provenance, &provenance, &[])?;
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
        let mut rest = bytes.as_bytes();
        let metadata = Container::take(&mut rest, Part::Provenance)
            .and_then(|part| read_metadata(&part))
            .map_err(|error| refusal(error, &file))?;
        let model_file = Self::checked(metadata, rest, &file)?;
        tracing::info!(file, bytes = model_file.model_part().len(), "read a model");
        Ok(model_file)
    }
}

fn refusal(error: ImageError, file: &str) -> ModelFileError {
    let file = file.to_owned();
    match error.problem {
        Problem::EarlierVersion => ModelFileError::Earlier(file),
        _ => ModelFileError::Damaged { file, error },
    }
}

fn read_metadata(part: &Container<'_>) -> Result<Metadata, ImageError> {
    let version = postcard::take_from_bytes::<u16>(part.manifest);
    let version = version.map_err(|_| Problem::Manifest);
    let metadata = version.and_then(|(version, _)| match version.cmp(&METADATA_VERSION) {
        Ordering::Less => Err(Problem::EarlierVersion),
        Ordering::Equal => part.read_manifest::<(u16, Metadata)>(),
        Ordering::Greater => Err(Problem::LaterVersion),
    });
    let (_, metadata) = metadata.map_err(|problem| ImageError {
        part: Part::Provenance,
        problem,
    })?;
    Ok(metadata)
}
