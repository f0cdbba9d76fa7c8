//! The etas that the adversary may choose from, and the noise that is averaged over.

use hambo_core::model::Noise;

/// Events that are averaged over, at most: those at even places of their share.
const EVENTS: usize = 16;

/// Etas of a dimension: evenly spaced from −1 to 1, in all combinations.
pub fn etas(states: usize, each: usize) -> Vec<Vec<f32>> {
    let value = |place: usize| -1.0 + 2.0 * place as f32 / (each - 1) as f32;
    let all = (0..each.pow(states as u32)).map(|number| {
        let digits = (0..states).map(|state| number / each.pow(state as u32) % each);
        digits.map(value).collect()
    });
    all.collect()
}

/// Etas of each dimension on the fine and on the coarse grid.
pub fn etas_of_each(states: usize) -> [usize; 2] {
    match states {
        1 => [81, 27],
        2 => [7, 5],
        _ => [3, 2],
    }
}

/// The noise of a step with its weights, in predicted standard deviations: the points of
/// [`normal`] for ordinary steps, and the events that the model draws.
pub fn noise(states: usize, noisy: bool, of: &Noise<'_>) -> Vec<(Vec<f32>, f32)> {
    if !noisy {
        return vec![(vec![0.0; states], 1.0)];
    }
    let share = of.extremes.share();
    let bulk = normal(states).into_iter().map(|(numbers, weight)| {
        let mut rows: Vec<[f32; 1]> = numbers.iter().map(|number| [*number]).collect();
        of.shape_bulk(&mut rows);
        let numbers = rows.into_iter().map(|[number]| number);
        (numbers.collect(), (1.0 - share) * weight)
    });
    let events = (0..EVENTS).filter_map(|event| {
        let place = share * (event as f32 + 0.5) / EVENTS as f32;
        let row = of.extremes.at(place)?;
        Some((row.to_vec(), share / EVENTS as f32))
    });
    bulk.chain(events).collect()
}

/// Standard normal numbers with their weights, which have the normal moments up to the
/// thirteenth for one state, the fifth for two and the third for three.
fn normal(states: usize) -> Vec<(Vec<f32>, f32)> {
    let root = 3.0_f32.sqrt();
    match states {
        1 => {
            let each = SEVEN.iter().flat_map(|(place, weight)| match *place {
                0.0 => vec![(vec![0.0], *weight)],
                place => vec![(vec![place], *weight), (vec![-place], *weight)],
            });
            each.collect()
        }
        2 => {
            // The middle, and a hexagon of radius 2.
            let corners = (0..6).map(|corner| {
                let (sin, cos) = (std::f32::consts::FRAC_PI_3 * corner as f32).sin_cos();
                (vec![2.0 * cos, 2.0 * sin], 1.0 / 12.0)
            });
            std::iter::once((vec![0.0; 2], 0.5))
                .chain(corners)
                .collect()
        }
        _ => {
            let ends = (0..states).flat_map(|state| [(state, root), (state, -root)]);
            let mut points: Vec<(Vec<f32>, f32)> = ends
                .map(|(state, end)| {
                    let mut point = vec![0.0; states];
                    point[state] = end;
                    (point, 1.0 / 6.0)
                })
                .collect();
            let middle = 1.0 - states as f32 / 3.0;
            if middle > 0.0 {
                points.push((vec![0.0; states], middle));
            }
            points
        }
    }
}

/// Gauss and Hermite's seven points for the standard normal distribution, the positive half.
const SEVEN: [(f32, f32); 4] = [
    (0.0, 0.457_142_86),
    (1.154_405_4, 0.240_123_18),
    (2.366_759_4, 0.030_757_124),
    (3.750_439_7, 0.000_548_268_86),
];

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;
    use hambo_core::model::Extremes;

    #[test]
    fn noise_has_the_moments_of_the_normal_distribution() {
        for states in 1..=3 {
            let points = normal(states);
            let mean = |of: &dyn Fn(&[f32]) -> f32| -> f32 {
                points
                    .iter()
                    .map(|(point, weight)| weight * of(point))
                    .sum()
            };
            assert!((mean(&|_| 1.0) - 1.0).abs() < 1e-5);
            for state in 0..states {
                assert!(mean(&|point| point[state]).abs() < 1e-5);
                assert!((mean(&|point| point[state].powi(2)) - 1.0).abs() < 1e-5);
                assert!((mean(&|point| point[state].powi(4)) - 3.0).abs() < 1e-4);
            }
            if states > 1 {
                assert!(mean(&|point| point[0] * point[1]).abs() < 1e-6);
            }
        }
        assert!((normal(1).iter().map(|(x, w)| w * x[0].powi(6)).sum::<f32>() - 15.0).abs() < 1e-3);
        let white = &Noise::WHITE;
        assert_eq!(noise(2, false, white), [(vec![0.0; 2], 1.0)]);
        assert_eq!(noise(2, true, white), normal(2));
    }

    #[test]
    fn events_have_their_share_of_the_weight() {
        let of = Noise {
            extremes: Extremes::new(&[0.5], &[0.03, 0.04], &[8.0, -6.0], 1).unwrap(),
            ..Noise::WHITE
        };
        let points = noise(1, true, &of);
        let weight = |wanted: &dyn Fn(f32) -> bool| -> f32 {
            let points = points.iter().filter(|(row, _)| wanted(row[0]));
            points.map(|(_, weight)| weight).sum()
        };
        assert!((weight(&|_| true) - 1.0).abs() < 1e-6);
        assert!((weight(&|x| x == 8.0) - 0.03).abs() < 1e-6);
        assert!((weight(&|x| x == -6.0) - 0.01).abs() < 1e-6);
        let mean: f32 = points.iter().map(|(row, weight)| row[0] * weight).sum();
        assert!((mean - (0.96 * 0.5 + 0.24 - 0.06)).abs() < 1e-5, "{mean}");
    }

    #[test]
    fn etas_reach_all_corners_and_the_middle() {
        let etas = etas(2, 3);
        assert_eq!(etas.len(), 9);
        for corner in [
            [-1.0, -1.0],
            [1.0, -1.0],
            [-1.0, 1.0],
            [1.0, 1.0],
            [0.0, 0.0],
        ] {
            assert!(etas.contains(&corner.to_vec()), "{corner:?}");
        }
    }
}
