//! The monitor over transitions in flash, with its bits and what it takes.
//!
//! The first half of the region of the device image holds an image, the second
//! half little-endian numbers of 32 bits: how many transitions there are, z, p0
//! and alpha, then for each transition 1 if it is fresh, s, a and s′.
#![no_std]
#![no_main]

use hambo_core::drive::monitor::{Measured, Monitor};
use hambo_core::image::{Image, MonitorSettings};
use hambo_core::link::device::{DeviceMessage, WatchedDrive};
use hambo_firmware::{board, counter::Counter, fault, link, workspace};

/// Numbers of the largest transition.
const MOST: usize = 64;

#[cortex_m_rt::entry]
fn main() -> ! {
    let (Some(peripherals), Some(rows)) = (cortex_m::Peripherals::take(), workspace::take()) else {
        fault::stop()
    };
    let counter = Counter::start(peripherals.SYST);
    let flash = board::model_region();
    let (image, recording) = flash.split_at(flash.len() / 2);
    let Ok(image) = &Image::parse_prefix(image) else {
        fault::stop()
    };
    let (rows, _) = rows.as_flattened_mut().as_chunks_mut();
    match watch(image, recording, rows, &counter) {
        Some(watched) => {
            link::send(&DeviceMessage::Watched(watched));
            link::finish()
        }
        None => fault::stop(),
    }
}

/// `None` if there is no monitor for the image, or no such recording.
#[inline(never)]
fn watch(
    image: &Image<'_>,
    recording: &[u8],
    rows: &mut [[f32; 1]],
    counter: &Counter,
) -> Option<WatchedDrive> {
    let (words, _) = recording.as_chunks();
    let mut words = words.iter().map(|bytes| u32::from_le_bytes(*bytes));
    let count = words.next()?;
    let mut numbers = words.map(f32::from_bits);
    let settings = MonitorSettings {
        noise_width: numbers.next()?,
        surprise_rate: numbers.next()?,
        alpha: numbers.next()?,
    };
    let (states, actions) = (
        image.task().state_dimension(),
        image.model().dynamics.action_dimension(),
    );
    let mut monitor = Monitor::new(image.model(), image.task(), settings, rows).ok()?;
    let (mut digest, mut instructions, mut longest) = (0, 0, 0);
    let mut transition = [0.0; MOST];
    for _ in 0..count {
        let is_fresh = numbers.next()? != 0.0;
        let own = transition.get_mut(..states.checked_mul(2)?.checked_add(actions)?)?;
        for number in own.iter_mut() {
            *number = numbers.next()?;
        }
        let (state, rest) = own.split_at_checked(states)?;
        let (action, next_state) = rest.split_at_checked(actions)?;
        let measured = Measured {
            state,
            action,
            next_state,
            is_fresh,
        };
        let begin = counter.elapsed();
        let observation = monitor.observe(&measured);
        let taken = counter.elapsed() - begin;
        instructions += taken;
        longest = longest.max(taken);
        digest = observation.digest(digest, monitor.wealth());
    }
    Some(WatchedDrive {
        digest,
        counts: monitor.counts(),
        trip: monitor.trip(),
        instructions,
        longest,
    })
}
