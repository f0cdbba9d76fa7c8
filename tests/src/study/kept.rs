//! Rows that `studies/` keeps.

use std::path::Path;

use hambo_base::study::rows::Table;
use hambo_base::study::{Study, run};

/// The rows of a study that `studies/` keeps.
///
/// # Errors
/// If there is no such file, or it is another study's.
pub fn kept(study: &dyn Study) -> Result<Table, String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../studies");
    Table::read(&run::file(&folder, study), study)
}
