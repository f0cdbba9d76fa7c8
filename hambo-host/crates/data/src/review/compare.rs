//! The whole review of a task.

use hambo_base::Error;
use hambo_task::task::TaskFile;

use super::finding::Review;
use super::reviewer::Reviewer;
use crate::draft::LoggedRows;

/// Compares a task with a log that has its states and actions.
///
/// # Errors
/// If the log has other dimensions, or the task's expressions are bad.
pub fn review(task: &TaskFile, log: &LoggedRows) -> Result<Review, Error> {
    let hints = log.wrap_hints(&task.wraps);
    let mut log = log.clone().wrapped(&task.wraps);
    if !task.memory.is_empty() {
        log = log.with_memory(task)?;
    }
    if task.learns_reward() {
        log = log.with_return();
    }
    let mut reviewer = Reviewer::new(task, &log)?;
    reviewer.wraps(&hints);
    reviewer.rewards();
    reviewer.dynamics()?;
    reviewer.terminations();
    reviewer.limits();
    reviewer.starts();
    reviewer.horizon();
    reviewer.constraints();
    reviewer.exploration();
    let findings = reviewer.findings;
    Ok(Review {
        rows: log.rows.len(),
        episodes: log.episodes(),
        ok: !findings.iter().any(|finding| finding.problem),
        findings,
    })
}
