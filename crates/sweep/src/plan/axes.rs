//! The settings of a plan that may have several values, and their combinations.

use gleaner_setup::settings::Change;

/// A setting of a plan with its values, in the order of the plan. `S` is the type of the settings of a run.
#[derive(Debug, Clone)]
pub(super) struct Axis<S> {
    pub name: String,
    /// Byte offset in the plan at which the values begin.
    pub at: usize,
    /// The change that each value makes.
    pub values: Vec<Change<S>>,
}

/// All axes of a plan. The last axis varies fastest.
#[derive(Debug, Clone)]
pub(super) struct Axes<S>(pub Vec<Axis<S>>);

impl<S: Clone + 'static> Axes<S> {
    /// The axis with this name; `None` if the plan does not contain the setting.
    pub fn named(&self, name: &str) -> Option<&Axis<S>> {
        self.0.iter().find(|axis| axis.name == name)
    }

    /// Number of combinations. This number cannot overflow, because the reader checks [`Axes::checked_count`].
    pub fn count(&self) -> usize {
        self.0.iter().map(|axis| axis.values.len()).product()
    }

    /// Number of combinations; `None` if it overflows.
    pub fn checked_count(&self) -> Option<usize> {
        let mut counts = self.0.iter().map(|axis| axis.values.len());
        counts.try_fold(1, usize::checked_mul)
    }

    /// For each setting, the position of its value in the combination with this index. The last setting varies fastest.
    pub fn places(&self, mut index: usize) -> Vec<usize> {
        let mut places = vec![0; self.0.len()];
        for (place, axis) in places.iter_mut().zip(&self.0).rev() {
            *place = index % axis.values.len();
            index /= axis.values.len();
        }
        places
    }

    /// The entry of `places` for the setting `name`; 0 if the plan does not contain this setting.
    pub fn place_of(&self, name: &str, places: &[usize]) -> usize {
        let found = self.0.iter().position(|axis| axis.name == name);
        found.map_or(0, |found| places[found])
    }

    /// An index that is the same for all combinations that differ from `places` only in settings that `keeps` rejects.
    /// It is the index of the combination in which these settings have their first values, and all other settings have
    /// the values at `places`.
    pub fn index_of(&self, places: &[usize], keeps: impl Fn(&str) -> bool) -> usize {
        let digits = self.0.iter().zip(places);
        digits.fold(0, |index, (axis, place)| {
            index * axis.values.len() + if keeps(&axis.name) { *place } else { 0 }
        })
    }

    /// The settings of a combination. Settings without an axis have their values in `base`.
    pub fn settings(&self, base: &S, places: &[usize]) -> S {
        let mut settings = base.clone();
        for (axis, place) in self.0.iter().zip(places) {
            axis.values[*place].apply(&mut settings);
        }
        settings
    }

    /// Calls `get` with the settings for each value of the axis `name`, and returns the results. If the plan does not
    /// set `name`, calls `get` only with `base`.
    pub fn each<T>(&self, base: &S, name: &str, get: impl Fn(&S) -> T) -> Vec<T> {
        let Some(axis) = self.named(name) else {
            return vec![get(base)];
        };
        let of = |change: &Change<S>| {
            let mut settings = base.clone();
            change.apply(&mut settings);
            get(&settings)
        };
        axis.values.iter().map(of).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axis(name: &str, values: usize) -> Axis<()> {
        Axis {
            name: name.to_owned(),
            at: 0,
            values: vec![Change::new(|()| {}); values],
        }
    }

    // Small fixed example.
    #[test]
    fn the_last_setting_varies_fastest() {
        let axes = Axes(vec![axis("a", 2), axis("b", 3)]);
        let all: Vec<Vec<usize>> = (0..axes.count()).map(|index| axes.places(index)).collect();
        assert_eq!(all, [[0, 0], [0, 1], [0, 2], [1, 0], [1, 1], [1, 2]]);
        assert_eq!(axes.place_of("b", &all[5]), 2);
        assert_eq!(axes.place_of("c", &all[5]), 0);
        let same: Vec<usize> = all
            .iter()
            .map(|places| axes.index_of(places, |name| name == "b"))
            .collect();
        assert_eq!(same, [0, 1, 2, 0, 1, 2]);
    }
}
