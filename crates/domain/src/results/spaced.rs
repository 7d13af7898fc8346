//! Columns of evenly spaced whole numbers.

use super::run_lengths::Cursor;

/// A column of whole numbers, stored as stretches. Within a stretch, the numbers increase by a constant step, like the
/// times of a regularly sampled state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spaced {
    step: i64,
    /// First number and length of each stretch; no stretch is empty.
    stretches: Vec<(i64, u32)>,
    rows: usize,
}

impl Spaced {
    /// Creates a column of stretches, each given by its first number and its length.
    pub fn new(step: i64, stretches: impl IntoIterator<Item = (i64, u32)>) -> Self {
        let stretches: Vec<_> = stretches
            .into_iter()
            .filter(|(_, count)| *count > 0)
            .collect();
        let rows = stretches.iter().map(|(_, count)| *count as usize).sum();
        Spaced {
            step,
            stretches,
            rows,
        }
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The numbers in order.
    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = i64> + '_ {
        let step = self.step;
        let stretches = self.stretches.iter();
        stretches.flat_map(move |&(first, count)| {
            (0..i64::from(count)).map(move |place| first + step * place)
        })
    }

    /// The number at a row. `cursor` must be at the row's stretch or before it.
    #[inline]
    pub fn at(&self, row: usize, cursor: &mut Cursor) -> i64 {
        let place = cursor.seek(row, |stretch| self.stretches[stretch].1 as usize);
        self.stretches[cursor.run()].0 + self.step * place as i64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stretches_are_listed_in_order() {
        let spaced = Spaced::new(60, [(0, 3), (7, 0), (180, 1), (0, 2)]);
        let expected = [0, 60, 120, 180, 0, 60];
        assert_eq!(spaced.rows(), 6);
        assert_eq!(spaced.iter().collect::<Vec<_>>(), expected);
        let mut cursor = Cursor::default();
        let rows: Vec<i64> = (0..6).map(|row| spaced.at(row, &mut cursor)).collect();
        assert_eq!(rows, expected);
    }
}
