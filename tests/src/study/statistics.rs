//! Counts of independent cases: how sure a share is, and whether it is above what was
//! promised.

use hambo_base::order::interpolated;

/// In how many of all cases something happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Count {
    /// Cases in which it happened.
    pub hits: usize,
    /// Cases.
    pub of: usize,
}

impl Count {
    /// Counts what holds.
    pub fn of(cases: impl IntoIterator<Item = bool>) -> Self {
        let mut count = Self { hits: 0, of: 0 };
        for case in cases {
            count.hits += usize::from(case);
            count.of += 1;
        }
        count
    }

    /// The share; NaN of nothing.
    #[must_use]
    pub fn share(&self) -> f64 {
        self.hits as f64 / self.of as f64
    }

    /// The probability of at least `hits` hits if each has probability `p`.
    #[must_use]
    pub fn at_least(&self, p: f64) -> f64 {
        (self.hits..=self.of).map(|k| binomial(self.of, k, p)).sum()
    }

    /// The probability of at most `hits` hits if each has probability `p`.
    #[must_use]
    pub fn at_most(&self, p: f64) -> f64 {
        (0..=self.hits).map(|k| binomial(self.of, k, p)).sum()
    }

    /// Whether there are significantly more hits than `p` allows: one-sided, 5 %.
    #[must_use]
    pub fn above(&self, p: f64) -> bool {
        self.of > 0 && self.at_least(p) < 0.05
    }

    /// Limits of Clopper and Pearson around the share, 95 % together.
    #[must_use]
    pub fn limits(&self) -> [f64; 2] {
        let low = match self.hits {
            0 => 0.0,
            _ => solve(|p| self.at_least(p) < 0.025),
        };
        let high = if self.hits == self.of {
            1.0
        } else {
            solve(|p| self.at_most(p) > 0.025)
        };
        [low, high]
    }

    /// `3 of 100 (0.6 to 8.5 %)`.
    #[must_use]
    pub fn text(&self) -> String {
        let [low, high] = self.limits().map(|limit| 100.0 * limit);
        format!("{} of {} ({low:.1} to {high:.1} %)", self.hits, self.of)
    }
}

/// The largest p in 0..1 at which `below` holds, where it holds up to some p.
fn solve(below: impl Fn(f64) -> bool) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if below(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    low
}

fn binomial(n: usize, k: usize, p: f64) -> f64 {
    if p <= 0.0 || p >= 1.0 {
        let certain = if p <= 0.0 { 0 } else { n };
        return f64::from(u8::from(k == certain));
    }
    // In logarithms: factorials of hundreds are beyond f64.
    let log_choose: f64 = (1..=k).map(|i| ((n - k + i) as f64 / i as f64).ln()).sum();
    (log_choose + k as f64 * p.ln() + (n - k) as f64 * (1.0 - p).ln()).exp()
}

/// The middle one; NaN of nothing.
#[must_use]
pub fn median(numbers: impl IntoIterator<Item = f64>) -> f64 {
    let mut numbers: Vec<f64> = numbers.into_iter().filter(|x| !x.is_nan()).collect();
    numbers.sort_by(f64::total_cmp);
    interpolated(&numbers, 0.5)
}
