//! Scales from the rows that choose, judged on rows that chose nothing.

use super::calibration_error::{fraction, scores};
use super::gate::MOST_WIDENING;
use super::gate::{Refusal, widen};
use super::noise_factor::noise_factor;
use super::outcome::CalibrationMode;
use super::outcome::CalibrationOptions;
use super::outcome::CalibrationStatus;
use super::outcome::Intervals;
use super::outcome::MINIMUM_WITHHELD_ROWS;
use super::outcome::ModelCalibration;
use super::outcome::TESTED_EPISODES;
use super::pools::{Drawn, KeptRows, Shown, agrees, cleaned};
use super::required_widening::{common_run, longest_run};
use super::scales::{Choosing, Scales, judged_lengths};
use super::withheld::CalibrationError;
use super::withheld::Withheld;
use super::withheld::WithheldDimension;

/// Finds the scales on the rows that choose, and judges them on the others.
///
/// ```
/// use hambo_base::Held;
/// use hambo_learn::calibration::*;
///
/// // Twenty episodes of 40 rows whose residuals are three times what the model expects.
/// let observed: Vec<f32> = (0..800).map(|i| 0.1 * ((i * 7 % 40) as f32 - 19.5)).collect();
/// let groups: Vec<u32> = (0..800).map(|i| i / 40).collect();
/// let follows: Vec<bool> = (0..800).map(|i| i % 40 > 0).collect();
/// let dimension = WithheldDimension {
///     mean: &[0.0; 800],
///     epistemic_std: &[0.3; 800],
///     aleatoric_std: &[0.01; 800],
///     observed: &observed,
///     held: Held::NONE,
/// };
/// let rows = Withheld { dimensions: vec![dimension], groups: &groups, follows: &follows };
/// let options = CalibrationOptions {
///     mode: CalibrationMode::Widen,
///     intervals: Intervals::OneSided,
///     beta: Beta::Nested { members: 5 },
///     longest_window: 10,
///     stationary: false,
/// };
/// let calibration = calibrate(&rows, &rows, &options)?;
/// assert_eq!(calibration.status, CalibrationStatus::Calibrated);
/// assert!(calibration.gate.share_lower >= 0.9);
/// # Ok::<(), CalibrationError>(())
/// ```
///
/// # Errors
/// If the columns do not fit together or a value is not finite.
pub fn calibrate(
    choosing: &Withheld<'_>,
    judging: &Withheld<'_>,
    options: &CalibrationOptions,
) -> Result<ModelCalibration, CalibrationError> {
    with_noise(choosing, judging, None, options)
}

/// The same where rows that judge nothing, those that were trained on among them, may show
/// rare events or something that stays for an episode. These are drawn then, as long as the
/// rows that judge agree; else the set answers for them, as without. With them come the rows
/// that judged, without what is drawn; none if nothing is.
///
/// # Errors
/// As [`calibrate`].
pub fn calibrate_shown(
    shown: &Shown<'_>,
    choosing: &Withheld<'_>,
    judging: &Withheld<'_>,
    options: &CalibrationOptions,
) -> Result<(ModelCalibration, Option<KeptRows>), CalibrationError> {
    for rows in [&shown.rows, choosing, judging] {
        rows.checked_rows()?;
    }
    let enough = choosing.groups.len() >= MINIMUM_WITHHELD_ROWS;
    // An event is one of all states together.
    let (all, whole) = (shown.whole(), [choosing, judging].map(KeptRows::whole));
    let [chose, judge] = &whole;
    let drawn = enough.then(|| Drawn::of(&all.shown(), &chose.withheld()));
    let drawn = drawn
        .flatten()
        .filter(|drawn| agrees(drawn, &judge.withheld()));
    let calibration = with_noise(choosing, judging, drawn.as_ref(), options)?;
    Ok((
        calibration,
        drawn.map(|drawn| cleaned::rows(judging, &drawn)),
    ))
}

fn with_noise(
    choosing: &Withheld<'_>,
    judging: &Withheld<'_>,
    drawn: Option<&Drawn>,
    options: &CalibrationOptions,
) -> Result<ModelCalibration, CalibrationError> {
    let checked = |rows: &Withheld<'_>| -> Result<usize, CalibrationError> {
        Ok(rows.checked_rows()?.min(rows.least_told()))
    };
    let (choosing_rows, rows) = (checked(choosing)?, checked(judging)?);
    // Single rows and windows, without what is drawn.
    let cleaned =
        |rows| drawn.map(|drawn| [cleaned::rows(rows, drawn), cleaned::windows(rows, drawn)]);
    let (chose, judge) = (cleaned(choosing), cleaned(judging));
    let count = judging.dimensions.len();
    let [chose, judge] =
        [(&chose, choosing), (&judge, judging)].map(|(cleaned, plain)| match cleaned {
            Some(both) => both.each_ref().map(KeptRows::withheld),
            None => [plain.clone(), plain.clone()],
        });
    let [choosing, choosing_windows] = &chose;
    let [judging, judging_windows] = &judge;
    let chosen = if choosing_rows < MINIMUM_WITHHELD_ROWS {
        Scales::unit(count, options)?
    } else {
        let choosing = Choosing {
            rows: choosing,
            windows: choosing_windows,
            drawn,
        };
        Scales::choose(&choosing, options)?
    };

    let widens = options.mode == CalibrationMode::Widen;
    let widest = chosen.tau.iter().copied().fold(1.0, f64::max);
    let most = if widens { MOST_WIDENING / widest } else { 1.0 };
    let simulated = chosen.simulated(count);
    let (follows, groups) = (judging_windows.follows, judging_windows.groups);
    let run = longest_run(follows);
    let common = common_run(follows, groups, TESTED_EPISODES);
    let lengths = judged_lengths(options.longest_window, run, common);
    let windows: Vec<_> = lengths
        .into_iter()
        .map(|length| simulated.required_widening(judging_windows, length))
        .collect();
    let single = simulated.required_widening(judging, 1);
    let (gate, refusal) = widen(&single, &windows, (most, options.stationary));

    let dimensions: Vec<_> = judging
        .dimensions
        .iter()
        .enumerate()
        .map(|(j, columns)| chosen.report(j, columns, f64::from(gate.widening), options))
        .collect();
    let worst = dimensions.iter().enumerate();
    let worst = worst.min_by(|a, b| a.1.simulated_coverage.total_cmp(&b.1.simulated_coverage));
    let status = match refusal {
        _ if rows < MINIMUM_WITHHELD_ROWS => CalibrationStatus::TooFewRows {
            rows,
            needed: MINIMUM_WITHHELD_ROWS,
        },
        None => CalibrationStatus::Calibrated,
        Some(Refusal::TooFewEpisodes(needed)) => CalibrationStatus::TooFewEpisodes {
            episodes: gate.episodes,
            needed,
        },
        Some(Refusal::RowsOutside) => CalibrationStatus::Failed {
            dimension: worst.map_or(0, |(dimension, _)| dimension),
            coverage: worst.map_or(0.0, |(_, of)| of.simulated_coverage),
        },
        Some(Refusal::ErrorsStay(length)) => CalibrationStatus::ErrorsStay {
            length,
            share: (gate.windows.iter())
                .find(|window| window.length == length)
                .map_or(0.0, |window| window.share),
        },
    };
    let mut inside = vec![None; judging.groups.len()];
    for (columns, of) in judging.dimensions.iter().zip(&dimensions) {
        let width = f64::from(of.beta) * f64::from(of.scale);
        for (inside, row) in inside.iter_mut().zip(columns.rows()) {
            if !row.held {
                let own = row.residual.abs() <= width * row.epistemic;
                *inside = Some(own && *inside != Some(false));
            }
        }
    }
    // Of the rows that say something.
    let inside: Vec<bool> = inside.into_iter().flatten().collect();
    Ok(ModelCalibration {
        status,
        choosing_rows,
        gate,
        noise_factor: noise_factor(choosing_windows),
        noise_pools: drawn.map(|drawn| drawn.pools.clone()).unwrap_or_default(),
        stays: drawn.map_or(Vec::new(), |drawn| {
            drawn
                .stays
                .iter()
                .map(|variance| variance.sqrt() as f32)
                .collect()
        }),
        regions: Vec::new(),
        beta: dimensions.iter().map(|of| of.beta).fold(0.0, f32::max),
        dimensions,
        joint_epistemic_coverage: fraction(&inside),
    })
}

/// The calibration error of a model as it is, one-sided.
///
/// ```
/// use hambo_base::Held;
/// use hambo_learn::calibration::{WithheldDimension, error_before};
///
/// let observed: Vec<f32> = (0..40).map(|i| 0.05 * (i as f32 - 19.5)).collect();
/// let of = |std: f32| {
///     let std = vec![std; 40];
///     let (mean, epistemic_std) = (&[0.0; 40], &[0.0; 40]);
///     error_before(&WithheldDimension { mean, epistemic_std, aleatoric_std: &std, observed: &observed, held: Held::NONE })
/// };
/// assert!(of(0.6) < of(0.1) && of(0.6) < of(5.0));
/// ```
#[must_use]
pub fn error_before(dimension: &WithheldDimension<'_>) -> f32 {
    scores(dimension, 1.0, Intervals::OneSided).calibration_error(1.0) as f32
}
