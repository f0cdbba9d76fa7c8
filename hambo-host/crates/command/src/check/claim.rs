//! What is said of the bounds of several controllers together.

use hambo_check::Setting;
use hambo_learn::delta::controller_share;

/// What delta is the probability of.
pub(crate) fn claim(setting: &Setting, controllers: usize) -> String {
    let delta = setting.delta;
    if setting.controllers == controllers {
        format!(
            "all of these bounds hold together with probability 1 \u{2212} {delta}: the sampling\u{2019}s half \
             of delta is shared, {} for each; --each judges each by itself",
            controller_share(0.5 * delta.0 as f32, controllers)
        )
    } else {
        format!(
            "each bound by itself fails with probability {delta}, and one of the {controllers} more \
             often: do not choose by them; without --each all hold together"
        )
    }
}
