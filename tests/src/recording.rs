//! Transitions for `hambo-monitor`, and what the host's monitor says of them.

use hambo_core::drive::monitor::{Measured, Monitor, MonitorError};
use hambo_core::image::Image;
use hambo_core::image::MonitorSettings;
use hambo_core::link::device::WatchedDrive;

/// Where the transitions begin: half of the board's region for images.
const OFFSET: usize = 1 << 18;

/// One measured transition.
#[derive(Clone, Debug, PartialEq)]
pub struct Recorded {
    /// s.
    pub state: Vec<f32>,
    /// a.
    pub action: Vec<f32>,
    /// s′.
    pub next_state: Vec<f32>,
    /// Whether it is of its period.
    pub is_fresh: bool,
}

/// The file that `hambo-monitor` reads: an image, settings and transitions.
#[must_use]
pub fn recording(image: &[u8], settings: MonitorSettings, rows: &[Recorded]) -> Vec<u8> {
    let mut bytes = image.to_vec();
    assert!(bytes.len() <= OFFSET, "an image of {} bytes", bytes.len());
    bytes.resize(OFFSET, 0xff);
    bytes.extend((rows.len() as u32).to_le_bytes());
    let MonitorSettings {
        noise_width,
        surprise_rate,
        alpha,
    } = settings;
    let mut put = |number: f32| bytes.extend(number.to_le_bytes());
    for number in [noise_width, surprise_rate, alpha] {
        put(number);
    }
    for row in rows {
        put(f32::from(u8::from(row.is_fresh)));
        let numbers = row.state.iter().chain(&row.action).chain(&row.next_state);
        numbers.for_each(|number| put(*number));
    }
    bytes
}

/// What the host's monitor sees, without a count of instructions.
///
/// # Errors
/// If a setting is out of its range.
pub fn watched(
    image: &Image<'_>,
    settings: MonitorSettings,
    rows: &[Recorded],
) -> Result<WatchedDrive, MonitorError> {
    let (model, task) = (image.model(), image.task());
    let needed = Monitor::rows_needed(model, task).map_err(MonitorError::Capacity)?;
    let mut lent = vec![[0.0]; needed];
    let mut monitor = Monitor::new(model, task, settings, &mut lent)?;
    let mut digest = 0;
    for row in rows {
        let seen = monitor.observe(&Measured {
            state: &row.state,
            action: &row.action,
            next_state: &row.next_state,
            is_fresh: row.is_fresh,
        });
        digest = seen.digest(digest, monitor.wealth());
    }
    Ok(WatchedDrive {
        digest,
        counts: monitor.counts(),
        trip: monitor.trip(),
        instructions: 0,
        longest: 0,
    })
}
