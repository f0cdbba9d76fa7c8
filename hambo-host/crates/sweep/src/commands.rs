//! What a sweep calls: fits and checks as the command does them.

use std::path::Path;

use hambo_base::Error;
use hambo_check::CheckResult;
use hambo_data::Log;
use hambo_learn::model_file::ModelFile;
use hambo_task::task::TaskFile;

/// `hambo fit` and `hambo check`, for a caller that holds the parts.
pub trait Commands {
    /// Whether these are options of `hambo fit`.
    ///
    /// # Errors
    /// In the words of `hambo fit`.
    fn ensure_fit(&self, task: &TaskFile, options: &[String]) -> Result<(), Error>;

    /// Whether these are options of `hambo check`.
    ///
    /// # Errors
    /// In the words of `hambo check`.
    fn ensure_check(&self, options: &[String]) -> Result<(), Error>;

    /// Fits.
    ///
    /// # Errors
    /// In the words of `hambo fit`.
    fn fit(&self, task: &TaskFile, log: &Log, options: &[String]) -> Result<ModelFile, Error>;

    /// Checks a controller of a task that is given by text and name.
    ///
    /// # Errors
    /// In the words of `hambo check`.
    fn check(
        &self,
        task: (&str, &str),
        model: &ModelFile,
        policy: &Path,
        log: &Log,
        options: &[String],
    ) -> Result<CheckResult, Error>;
}
