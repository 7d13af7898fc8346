//! What is done with every setting of a plan: it is checked, and its values are combined with those of the
//! others.

use std::fmt::Debug;

use super::axis::Setting;

/// Visits the settings of a plan that may be lists. `S` is the settings of a run.
pub(super) trait Visitor<S> {
    /// A setting of which some values may be invalid. `set` puts a value into a run's settings.
    fn checked<T: Clone + PartialEq + Debug>(
        &mut self,
        name: &'static str,
        setting: &Setting<T>,
        expected: &str,
        is_valid: impl Fn(&T) -> bool,
        set: impl Fn(&mut S, T),
    );

    /// A setting whose every value is valid.
    fn axis<T: Clone + PartialEq + Debug>(
        &mut self,
        name: &'static str,
        setting: &Setting<T>,
        set: impl Fn(&mut S, T),
    ) {
        self.checked(name, setting, "", |_| true, set);
    }
}

/// All combinations of the settings visited. The last varies fastest. A setting that the plan
/// does not give stays as it is.
pub(super) struct Combinations<S>(pub Vec<S>);

impl<S: Clone> Visitor<S> for Combinations<S> {
    fn checked<T: Clone>(
        &mut self,
        _: &'static str,
        setting: &Setting<T>,
        _: &str,
        _: impl Fn(&T) -> bool,
        set: impl Fn(&mut S, T),
    ) {
        let Some(setting) = setting else { return };
        let values = &setting.get_ref().0;
        let with_each = |settings: &S| {
            let with = |value: &T| {
                let mut next = settings.clone();
                set(&mut next, value.clone());
                next
            };
            values.iter().map(with).collect::<Vec<_>>()
        };
        self.0 = self.0.iter().flat_map(with_each).collect();
    }
}
