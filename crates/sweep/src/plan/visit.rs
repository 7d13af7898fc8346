//! What is done with every setting of a plan: it is checked, and its values are combined with those of the
//! others.

use std::fmt::Debug;

use super::axis::Setting;

/// Visits the settings of a plan that may be lists. `S` is the settings of a run.
pub(super) trait Visitor<S> {
    /// A setting of which some values may be invalid. `set` puts a value into a run's settings.
    fn checked<T: Clone + Debug>(
        &mut self,
        name: &'static str,
        setting: &Setting<T>,
        expected: &str,
        is_valid: impl Fn(&T) -> bool,
        set: impl Fn(&mut S, T),
    );

    /// A setting whose every value is valid.
    fn axis<T: Clone + Debug>(
        &mut self,
        name: &'static str,
        setting: &Setting<T>,
        set: impl Fn(&mut S, T),
    ) {
        self.checked(name, setting, "", |_| true, set);
    }
}

/// The settings visited that the plan gives, each with its number of values.
#[derive(Debug, Clone, Default)]
pub(super) struct Axes(Vec<(&'static str, usize)>);

impl Axes {
    /// Number of combinations. The plan was checked, so it can be counted.
    pub fn count(&self) -> usize {
        self.0.iter().map(|(_, values)| values).product()
    }

    /// The place of each setting's value in the combination at `index`. The last setting varies
    /// fastest.
    pub fn places(&self, mut index: usize) -> Vec<usize> {
        let mut places = vec![0; self.0.len()];
        for (place, (_, values)) in places.iter_mut().zip(&self.0).rev() {
            *place = index % values;
            index /= values;
        }
        places
    }

    /// The place of the value of one setting among `places`; 0 if the plan does not give it.
    pub fn place_of(&self, name: &str, places: &[usize]) -> usize {
        let found = self.0.iter().position(|(other, _)| *other == name);
        found.map_or(0, |found| places[found])
    }

    /// The index of the combination that has the first value of all settings but those that `keeps`
    /// names: the same for all combinations that differ in the others only.
    pub fn index_of(&self, places: &[usize], keeps: impl Fn(&str) -> bool) -> usize {
        let digits = self.0.iter().zip(places);
        digits.fold(0, |index, ((name, values), place)| {
            index * values + if keeps(name) { *place } else { 0 }
        })
    }
}

impl<S> Visitor<S> for Axes {
    fn checked<T>(
        &mut self,
        name: &'static str,
        setting: &Setting<T>,
        _: &str,
        _: impl Fn(&T) -> bool,
        _: impl Fn(&mut S, T),
    ) {
        if let Some(setting) = setting {
            self.0.push((name, setting.get_ref().0.len()));
        }
    }
}

/// Puts one value of each setting visited into settings. A setting that the plan does not give stays
/// as it is.
pub(super) struct Pick<'a, S> {
    pub settings: S,
    /// The places of the values, as [`Axes::places`] gives them.
    pub places: &'a [usize],
}

impl<S> Visitor<S> for Pick<'_, S> {
    fn checked<T: Clone>(
        &mut self,
        _: &'static str,
        setting: &Setting<T>,
        _: &str,
        _: impl Fn(&T) -> bool,
        set: impl Fn(&mut S, T),
    ) {
        if let (Some(setting), Some((place, rest))) = (setting, self.places.split_first()) {
            set(&mut self.settings, setting.get_ref().0[*place].clone());
            self.places = rest;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Small fixed example.
    #[test]
    fn the_last_setting_varies_fastest() {
        let axes = Axes(vec![("a", 2), ("b", 3)]);
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
