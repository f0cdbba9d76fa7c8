//! Which entries of a table say nothing of a model, because a line of `[known]` holds the state
//! there. A mark stands beside the number and not in its place: a number that is not finite is
//! broken, marked or not.

/// Marks beside a table of a log, row by row; none where every entry says something.
///
/// ```
/// use hambo_base::Held;
///
/// let held = Held::new(&[false, true, false, false]);
/// assert!(held.at(1) && !held.at(2) && held.any());
/// // Of two columns the second says nothing in the first of two rows.
/// assert_eq!(held.least_told(2, 2), 1);
/// assert!(Held::NONE.fits(7) && !Held::NONE.any() && !held.fits(7));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Held<'a> {
    marks: &'a [bool],
}

impl<'a> Held<'a> {
    /// Every entry says something.
    pub const NONE: Held<'static> = Held { marks: &[] };

    /// A mark for each entry, true where it says nothing; none at all where all say something.
    #[must_use]
    pub const fn new(marks: &'a [bool]) -> Self {
        Self { marks }
    }

    /// Whether an entry says nothing.
    #[must_use]
    pub fn at(self, place: usize) -> bool {
        self.marks.get(place) == Some(&true)
    }

    /// Whether any entry says nothing.
    #[must_use]
    pub fn any(self) -> bool {
        self.marks.contains(&true)
    }

    /// Whether there are as many marks as entries, or none.
    #[must_use]
    pub fn fits(self, entries: usize) -> bool {
        self.marks.is_empty() || self.marks.len() == entries
    }

    /// Of a table of `rows` rows, how many say something of the column of which the fewest do.
    #[must_use]
    pub fn least_told(self, rows: usize, columns: usize) -> usize {
        let held = |column| self.of(column, columns).filter(|mark| **mark).count();
        let most = (0..columns).map(held).max().unwrap_or(0);
        rows.saturating_sub(most)
    }

    /// The marks of one column, the table having `columns` of them; none where the table has none.
    #[must_use]
    pub fn column(self, column: usize, columns: usize) -> Vec<bool> {
        self.of(column, columns).copied().collect()
    }

    fn of(self, column: usize, columns: usize) -> impl Iterator<Item = &'a bool> {
        self.marks.iter().skip(column).step_by(columns.max(1))
    }

    /// The marks of some entries, in their order; none where the table has none.
    #[must_use]
    pub fn take(self, places: impl Iterator<Item = usize>) -> Vec<bool> {
        if self.marks.is_empty() {
            return Vec::new();
        }
        places.map(|place| self.at(place)).collect()
    }

    /// The marks of at most `count` entries from `first` on.
    #[must_use]
    pub fn part(self, first: usize, count: usize) -> Self {
        let rest = self.marks.get(first..).unwrap_or_default();
        Self {
            marks: rest.get(..count).unwrap_or(rest),
        }
    }

    /// The marks themselves; none where every entry says something.
    #[must_use]
    pub fn marks(self) -> &'a [bool] {
        self.marks
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_keep_their_marks() {
        let marks = [false, true, true, false, true, false];
        let held = Held::new(&marks);
        assert_eq!(held.column(1, 2), [true, false, false]);
        assert_eq!(held.take([1, 0, 4].into_iter()), [true, false, true]);
        assert_eq!(held.part(2, 2).marks(), [true, false]);
        assert_eq!(held.part(4, 9).marks(), [true, false]);
        assert!(!held.at(6));
        // Without marks there is nothing to take along.
        let none = Held::NONE;
        assert!(none.column(0, 2).is_empty() && none.take([1, 2].into_iter()).is_empty());
        assert!(none.part(3, 2).marks().is_empty());
        assert_eq!(none.least_told(5, 2), 5);
        assert_eq!(held.least_told(3, 2), 1);
    }
}
