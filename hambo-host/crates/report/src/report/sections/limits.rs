//! What the verdict promises, and what it does not.

use super::Section;
use crate::report::html::percent;
use hambo_check::saved_run::SavedRun;

/// The section.
pub fn section(run: &SavedRun) -> Section {
    let confidence = percent(1.0 - run.result.delta.0);
    Section {
        id: "limits",
        title: "What this means, and what it does not",
        body: format!(
            "<ul>\n\
             <li>The bound holds with {confidence} confidence <em>if</em> the true system lies in \
             the model’s set at every step. Calibration on withheld rows supports that near the \
             log; nothing supports it far from the log.</li>\n\
             <li>It is a bound on the mean over the task’s initial states, not on every single \
             trajectory.</li>\n\
             <li>An adversary’s search may miss the true worst case; the comparison of adversaries \
             shows how much they differ, not how much all of them miss.</li>\n\
             <li>The verdict is about this task file: its reward, its limits, its initial \
             states. A robot, a log or a controller that has changed needs a new check.</li>\n\
             </ul>\n"
        ),
    }
}
