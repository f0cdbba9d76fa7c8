//! The controllers of a ranking, read before the first is checked.

use hambo_base::Error;
use hambo_check::ranking::judge_all::Controller;
use hambo_task::policy::HostPolicy;
use hambo_task::policy::find::Found;
use hambo_task::task::TaskFile;

/// Reads every controller before any is checked: one that does not fit ends all.
///
/// # Errors
/// What is wrong with the first that is.
pub(super) fn read(found: &[Found], task: &TaskFile) -> Result<Vec<Controller>, Error> {
    let each = found.iter().map(|one| {
        let policy = HostPolicy::read(&one.path, task).map_err(|problem| {
            let text = "nothing was ranked: correct this file, or leave it out";
            Error::Usage(format!("{problem}\n{text}"))
        })?;
        Ok(Controller {
            name: one.name.clone(),
            policy,
        })
    });
    each.collect()
}
