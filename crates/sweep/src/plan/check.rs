//! Checks of the values of a plan that could be parsed.

use std::collections::BTreeSet;
use std::fmt::Debug;

use toml::Spanned;

use super::axis::Setting;
use super::visit::Visitor;

/// A fault of a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanFault {
    /// Byte of the plan at which the setting's value begins; `None` for one that is missing.
    pub at: Option<usize>,
    /// Name of the setting.
    pub field: &'static str,
    /// What was found.
    pub found: String,
    /// What was expected.
    pub expected: String,
    /// Whether the fault is the choice of the solver: it is the wrong one, or this build lacks it,
    /// but the plan is valid.
    pub wrong_choice: bool,
}

/// Collects a plan's faults, and counts the combinations of its settings.
#[derive(Debug)]
pub(super) struct Checker {
    pub faults: Vec<PlanFault>,
    /// Number of combinations of the settings visited; `None` if it cannot be counted.
    pub runs: Option<usize>,
}

impl Default for Checker {
    fn default() -> Self {
        Checker {
            faults: Vec::new(),
            runs: Some(1),
        }
    }
}

impl Checker {
    pub fn add(
        &mut self,
        at: Option<usize>,
        field: &'static str,
        found: impl Into<String>,
        expected: impl Into<String>,
    ) {
        self.faults.push(PlanFault {
            at,
            field,
            found: found.into(),
            expected: expected.into(),
            wrong_choice: false,
        });
    }

    /// Marks the faults that `find` adds as wrong choices of a solver.
    pub fn choices(&mut self, find: impl FnOnce(&mut Self)) {
        let before = self.faults.len();
        find(self);
        for fault in &mut self.faults[before..] {
            fault.wrong_choice = true;
        }
    }

    /// Checks that `is_sound` holds for a single value.
    pub fn single<T: Debug>(
        &mut self,
        field: &'static str,
        value: &Option<Spanned<T>>,
        expected: &str,
        is_sound: impl Fn(&T) -> bool,
    ) {
        if let Some(value) = value.as_ref().filter(|value| !is_sound(value.get_ref())) {
            let found = format!("{:?}", value.get_ref());
            self.add(Some(value.span().start), field, found, expected);
        }
    }
}

/// Checks that a list has at least one value and none twice, and that each is valid.
impl<S> Visitor<S> for Checker {
    fn checked<T: Clone + Debug>(
        &mut self,
        field: &'static str,
        setting: &Setting<T>,
        expected: &str,
        is_valid: impl Fn(&T) -> bool,
        _: impl Fn(&mut S, T),
    ) {
        let Some(setting) = setting else { return };
        let (at, values) = (Some(setting.span().start), &setting.get_ref().0);
        self.runs = self.runs.and_then(|runs| runs.checked_mul(values.len()));
        if values.is_empty() {
            self.add(at, field, "an empty list", "at least one value");
        }
        // By their text, as there may be a million of them.
        let mut seen = BTreeSet::new();
        for value in values {
            let text = format!("{value:?}");
            if !is_valid(value) {
                self.add(at, field, text, expected);
            } else if seen.contains(&text) {
                let found = format!("{text} a second time");
                self.add(at, field, found, "every value once");
            } else {
                seen.insert(text);
            }
        }
    }
}
