//! Logs for the tests of drafts and reviews.

#![allow(clippy::unwrap_used, reason = "tests")]

use std::path::PathBuf;

use super::rows::{LoggedRow, LoggedRows};
use crate::table::Origin;

/// Numbers from -1 to 1.
pub(super) struct Noise(pub(super) u64);

impl Noise {
    pub(super) fn next(&mut self) -> f32 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (self.0 >> 40) as f32 / (1_u64 << 23) as f32 - 1.0
    }
}

/// A log of 12 episodes of 50 steps, from a first state at random. `step` gets s, a and noise, and
/// gives s′.
pub(super) fn log(states: &str, step: impl Fn(&[f32], f32, &mut Noise) -> Vec<f32>) -> LoggedRows {
    let states: Vec<String> = states.split(' ').map(str::to_owned).collect();
    let mut noise = Noise(7);
    let mut rows = Vec::new();
    for episode in 0..12 {
        let mut state: Vec<f32> = states.iter().map(|_| noise.next()).collect();
        for number in 0..50 {
            let action = noise.next();
            let next = step(&state, action, &mut noise);
            rows.push(LoggedRow {
                state: std::mem::replace(&mut state, next.clone()),
                action: vec![action],
                next_state: Some(next),
                reward: None,
                terminal: None,
                goes_on: number < 49,
                episode,
                step: number,
            });
        }
    }
    LoggedRows {
        states,
        actions: vec!["u".to_owned()],
        rows,
        origin: Origin::default(),
    }
}

/// Without the first states, which are at random.
pub(super) fn without_starts(mut log: LoggedRows) -> LoggedRows {
    log.rows.retain(|row| row.step > 0);
    log
}

/// Two episodes of a cart: rewards are -x² + v′, and x > 3 ends the second.
pub(crate) const LOG: &str = "x,v,u,next.x,next.v,reward,terminal,episode\n\
    0,0,1,1,0.5,0.5,0,0\n1,0.5,-1,2,0.25,-0.75,0,0\n\
    1,0,1,3.5,1,0,0,1\n3.5,1,0,4,1.5,-10.75,1,1\n";

/// A file with this text, until the test ends.
pub(crate) struct File(pub(crate) PathBuf);

impl File {
    pub(crate) fn new(name: &str, text: &str) -> Self {
        let path = std::env::temp_dir().join(format!("hambo-draft-{}-{name}", std::process::id()));
        std::fs::write(&path, text).unwrap();
        Self(path)
    }
}

impl Drop for File {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}
