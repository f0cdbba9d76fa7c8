//! The longest windows of withheld rows on which a model was tested: a check of more than twice
//! as many steps has no verdict.

use crate::backtest::Backtest;
use crate::calibration::outcome::TESTED_EPISODES;
use crate::calibration::{Gate, ModelCalibration};

/// Steps of the longest windows whose residuals the gate summed up, or that the backtest replayed,
/// from as many episodes as count. Single rows are windows of one step.
pub(super) fn tested_steps(calibration: &ModelCalibration, backtest: Option<&Backtest>) -> u16 {
    let Gate {
        windows, episodes, ..
    } = &calibration.gate;
    let summed = windows
        .iter()
        .filter(|window| are_enough(window.episodes, *episodes))
        .map(|window| window.length);
    let lengths = backtest.iter().flat_map(|backtest| {
        let enough = |own| are_enough(own, backtest.episodes);
        let lengths = backtest.lengths.iter();
        lengths
            .filter(move |of| enough(of.episodes))
            .map(|of| of.length)
    });
    let longest = summed.chain(lengths).max().unwrap_or(1);
    u16::try_from(longest).unwrap_or(u16::MAX)
}

fn are_enough(own: usize, all: usize) -> bool {
    own >= TESTED_EPISODES.min(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backtest::{Answer, LengthResult, Verdict};
    use crate::calibration::{CalibrationStatus, WindowShare};

    fn calibration(windows: &[(usize, usize)]) -> ModelCalibration {
        let windows = windows.iter().map(|(length, episodes)| WindowShare {
            length: *length,
            windows: 9,
            episodes: *episodes,
            share: 1.0,
            share_upper: 1.0,
        });
        ModelCalibration {
            status: CalibrationStatus::Calibrated,
            choosing_rows: 100,
            gate: Gate {
                widening: 1.0,
                rows: 100,
                episodes: 9,
                share: 1.0,
                share_lower: 0.95,
                episodes_outside: 0,
                episodes_outside_upper: 0.1,
                windows: windows.collect(),
            },
            beta: 2.0,
            noise_factor: Vec::new(),
            noise_pools: hambo_task::image::NoisePools::default(),
            stays: Vec::new(),
            regions: Vec::new(),
            dimensions: Vec::new(),
            joint_epistemic_coverage: 1.0,
        }
    }

    fn backtest(episodes: usize, lengths: &[(usize, usize)]) -> Backtest {
        let good = Answer {
            share: 1.0,
            upper: 1.0,
            failed: false,
        };
        let lengths = lengths.iter().map(|(length, episodes)| LengthResult {
            length: *length,
            windows: 9,
            episodes: *episodes,
            path: good,
            returns: good,
        });
        Backtest {
            delta: 0.05,
            episodes,
            lengths: lengths.collect(),
            verdict: Verdict::Passed,
        }
    }

    #[test]
    fn the_longest_windows_of_enough_episodes_count() {
        let summed = calibration(&[(2, 9), (4, 9), (8, 4), (16, 3)]);
        assert_eq!(tested_steps(&summed, None), 8);
        let replayed = backtest(9, &[(1, 9), (10, 5), (20, 2)]);
        assert_eq!(tested_steps(&summed, Some(&replayed)), 10);
        // Of three episodes all must have one.
        let few = backtest(3, &[(1, 3), (20, 3), (50, 2)]);
        assert_eq!(tested_steps(&summed, Some(&few)), 20);
        // Single transitions.
        assert_eq!(tested_steps(&calibration(&[]), None), 1);
    }
}
