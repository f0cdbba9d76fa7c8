//! Quantiles of the beta distribution, in f64, by bisection on the regularised
//! incomplete beta function.

use hambo_core::numeric::random::normal_quantile_of_tail;

/// ln Γ(x) for x > 0 (Lanczos, g = 7, nine terms).
fn ln_gamma(x: f64) -> f64 {
    const TERMS: [f64; 9] = [
        0.999_999_999_999_809_9,
        676.520_368_121_885_1,
        -1_259.139_216_722_402_8,
        771.323_428_777_653_1,
        -176.615_029_162_140_6,
        12.507_343_278_686_905,
        -0.138_571_095_265_720_12,
        9.984_369_578_019_572e-6,
        1.505_632_735_149_311_6e-7,
    ];
    let x = x - 1.0;
    let series: f64 = (1..)
        .zip(&TERMS[1..])
        .map(|(i, term)| term / (x + f64::from(i)))
        .sum();
    let t = x + 7.5;
    0.5 * std::f64::consts::TAU.ln() + (x + 0.5) * t.ln() - t + (TERMS[0] + series).ln()
}

/// I_x(a, b), the distribution function of Beta(a, b).
fn incomplete_beta(a: f64, b: f64, x: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    if x >= 1.0 {
        return 1.0;
    }
    let front = (ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b) + a * x.ln() + b * (-x).ln_1p()).exp();
    if x < (a + 1.0) / (a + b + 2.0) {
        front * continued_fraction(a, b, x) / a
    } else {
        1.0 - front * continued_fraction(b, a, 1.0 - x) / b
    }
}

/// Lentz's evaluation of the continued fraction of the incomplete beta function.
fn continued_fraction(a: f64, b: f64, x: f64) -> f64 {
    const TINY: f64 = 1e-300;
    let away_from_zero = |value: f64| if value.abs() < TINY { TINY } else { value };
    let mut c = 1.0;
    let mut d = 1.0 / away_from_zero(1.0 - (a + b) * x / (a + 1.0));
    let mut fraction = d;
    for m in 1..2000 {
        let m = f64::from(m);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        let mut change = 1.0;
        for coefficient in [even, odd] {
            d = 1.0 / away_from_zero(1.0 + coefficient * d);
            c = away_from_zero(1.0 + coefficient / c);
            change = c * d;
            fraction *= change;
        }
        if (change - 1.0).abs() < 1e-14 {
            break;
        }
    }
    fraction
}

/// The x with I_x(a, b) = p.
pub(super) fn beta_quantile(a: f64, b: f64, p: f64) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if incomplete_beta(a, b, middle) < p {
            low = middle;
        } else {
            high = middle;
        }
    }
    0.5 * (low + high)
}

/// The number of standard deviations with the probability `tail` above it.
fn normal_quantile(tail: f64) -> f64 {
    let of = |tail: f64| f64::from(normal_quantile_of_tail(tail as f32));
    if tail <= 0.5 {
        of(tail)
    } else {
        -of(1.0 - tail)
    }
}

/// The number with the probability `tail` above it in the chi-square distribution, by Wilson and
/// Hilferty.
pub(super) fn chi_square_quantile(freedom: f64, tail: f64) -> f64 {
    let spread = 2.0 / (9.0 * freedom);
    let root = 1.0 - spread + normal_quantile(tail) * spread.sqrt();
    freedom * root.max(0.0).powi(3)
}

/// Clopper and Pearson's lower limit of a share of which `count` of `rows` are seen; it lies
/// above the truth with a probability of at most `tail`.
pub(super) fn lower_limit(count: usize, rows: usize, tail: f64) -> f64 {
    if count == 0 || rows == 0 {
        return 0.0;
    }
    beta_quantile(count as f64, (rows - count.min(rows)) as f64 + 1.0, tail)
}

#[cfg(test)]
mod tests {
    #[test]
    fn quantiles_of_chi_square_agree_with_tables() {
        // SciPy's chi2.isf.
        for (freedom, tail, exact) in [
            (1.0, 0.05, 3.841_459),
            (10.0, 1e-3, 29.588_3),
            (50.0, 0.95, 34.764_25),
            (95.0, 0.05, 118.751_6),
        ] {
            let found = super::chi_square_quantile(freedom, tail);
            assert!(
                (found / exact - 1.0).abs() < 0.03,
                "{freedom} {tail}: {found}"
            );
        }
    }

    #[test]
    fn a_lower_limit_by_hand() {
        // All of 29: 0.05^(1/29).
        let found = super::lower_limit(29, 29, 0.05);
        assert!((found - 0.05_f64.powf(1.0 / 29.0)).abs() < 1e-6);
        assert_eq!(super::lower_limit(0, 29, 0.05), 0.0);
    }

    use super::*;

    /// Against SciPy 1.17, stats.beta.ppf.
    #[test]
    fn quantiles_agree_with_the_tables() {
        for (a, b, p, expected) in [
            (29.0, 1.0, 0.05, 0.901_855_4),
            (95.0, 6.0, 0.05, 0.897_746_6),
            (1.0, 20.0, 0.95, 0.139_108_3),
            (0.5, 0.5, 0.3, 0.206_107_4),
            (2000.0, 30.0, 0.05, 0.980_562_8),
        ] {
            let found = beta_quantile(a, b, p);
            assert!((found - expected).abs() < 2e-6, "{a} {b} {p}: {found}");
        }
    }
}
