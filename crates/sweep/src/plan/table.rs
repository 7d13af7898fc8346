//! Reads the table of a plan. The table contains names of settings, each with a value or a list of values.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::Path;

use gleaner_domain::results::sweep::Field;
use gleaner_setup::settings::{Change, Form, Kind, Setting, Settings};
use toml::{Spanned, Value};

use super::axes::{Axes, Axis};

/// The table of a plan, with the position of each value.
pub(super) type Table = Spanned<BTreeMap<String, Spanned<Value>>>;

/// A fault of a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanFault {
    /// Byte offset in the plan at which the setting's value begins; `None` if the fault has no position.
    pub at: Option<usize>,
    /// Name of the setting.
    pub field: String,
    /// The faulty text.
    pub found: String,
    /// A description of the expected text.
    pub expected: String,
    /// Whether the fault concerns only the choice of the solver: the solver does not suit the other settings, or this
    /// build lacks it. The plan is otherwise valid.
    pub wrong_choice: bool,
}

impl PlanFault {
    pub(super) fn new(
        at: Option<usize>,
        field: &str,
        found: impl Into<String>,
        expected: impl Into<String>,
    ) -> Self {
        PlanFault {
            at,
            field: field.to_owned(),
            found: found.into(),
            expected: expected.into(),
            wrong_choice: false,
        }
    }
}

/// The faulty text, and a description of the expected text.
pub(super) type Mismatch = (String, String);

/// The settings that a plan may contain, and the format of their values.
pub(super) struct Grammar<S> {
    /// The columns of the sweep's table. Only settings with a column may have several values. Runs are in the order of
    /// these settings, of which the last varies fastest.
    pub columns: &'static [Field],
    /// Names that stand for several settings, such as the settings of a window.
    pub groups: &'static [Group],
    /// Settings that a plan must not contain.
    pub excluded: &'static [&'static str],
    /// Reads a value that is written differently in plans than on the command line. Returns `None` for any other value.
    pub special: Special<S>,
}

/// The type of [`Grammar::special`].
type Special<S> = fn(&Words<'_, S>, &str, &Value) -> Option<Result<Change<S>, Mismatch>>;

/// A name that stands for several settings. Its column in the sweep's table is the column of the first of these
/// settings.
pub(super) struct Group {
    pub name: &'static str,
    pub parts: &'static [&'static str],
}

/// The settings that a plan contains.
#[derive(Debug, Clone)]
pub(super) struct Given<S> {
    /// The settings that all runs share.
    pub base: S,
    /// The settings with a column, each with its values.
    pub axes: Axes<S>,
    /// Names of all settings in the plan.
    pub names: BTreeSet<String>,
}

/// Reads the values of settings. Relative paths start from the folder of the plan.
pub(super) struct Words<'f, S> {
    list: Vec<Setting<S>>,
    folder: &'f Path,
}

impl<S: Settings + Clone> Grammar<S> {
    /// Reads a table. Relative paths in the table start from `folder`.
    pub fn read(&self, table: &Table, folder: &Path) -> (Given<S>, Vec<PlanFault>) {
        let words = Words {
            list: S::list(),
            folder,
        };
        let (mut base, mut axes, mut faults) = (S::default(), Vec::new(), Vec::new());
        let names = self.names(&words);
        for (name, value) in table.get_ref() {
            let at = value.span().start;
            if !names.contains(&name.as_str()) {
                let expected = format!("some of {}", names.join(", "));
                faults.push(PlanFault::new(Some(at), name, "an unknown field", expected));
                continue;
            }
            let values = match (self.column(name), value.get_ref()) {
                (Some(_), Value::Array(values)) => values.as_slice(),
                (_, single) => std::slice::from_ref(single),
            };
            let changes = self.changes(&words, name, at, values, &mut faults);
            if let Some(column) = self.column(name) {
                let (name, values) = (name.clone(), changes);
                axes.push((column, Axis { name, at, values }));
            } else {
                changes.iter().for_each(|change| change.apply(&mut base));
            }
        }
        axes.sort_by_key(|(column, _)| *column);
        let given = Given {
            base,
            axes: Axes(axes.into_iter().map(|(_, axis)| axis).collect()),
            names: table.get_ref().keys().cloned().collect(),
        };
        (given, faults)
    }

    /// The names of all settings that a plan may contain.
    fn names(&self, words: &Words<'_, S>) -> Vec<&'static str> {
        let parts: Vec<&str> = self
            .groups
            .iter()
            .flat_map(|group| group.parts)
            .copied()
            .collect();
        let own = words.list.iter().map(|setting| setting.about.name);
        let mut names: Vec<&str> = own
            .filter(|name| !self.excluded.contains(name) && !parts.contains(name))
            .collect();
        names.extend(self.groups.iter().map(|group| group.name));
        names
    }

    /// The position of a setting's column; `None` if the setting has no column.
    fn column(&self, name: &str) -> Option<usize> {
        let first = self.parts(name).first().map_or(name, |first| *first);
        self.columns.iter().position(|column| column.name == first)
    }

    /// The settings of the group with this name; empty if the name stands for a single setting.
    fn parts(&self, name: &str) -> &'static [&'static str] {
        let group = self.groups.iter().find(|group| group.name == name);
        group.map_or(&[], |group| group.parts)
    }

    /// Returns the change that each value makes. Reports an empty list and repeated values as faults.
    fn changes(
        &self,
        words: &Words<'_, S>,
        name: &str,
        at: usize,
        values: &[Value],
        faults: &mut Vec<PlanFault>,
    ) -> Vec<Change<S>> {
        if values.is_empty() {
            let fault = PlanFault::new(Some(at), name, "an empty list", "at least one value");
            faults.push(fault);
        }
        // Values are compared by the resulting settings, because 60 and 60.0 are equal. Values seen so far are kept
        // in a set, because a list may have a million values.
        let parts = self.parts(name);
        let of = |setting: &&Setting<S>| {
            setting.about.name == name || parts.contains(&setting.about.name)
        };
        let changed: Vec<&Setting<S>> = words.list.iter().filter(of).collect();
        let mut seen = BTreeSet::new();
        let mut changes = Vec::with_capacity(values.len());
        for value in values {
            let special = (self.special)(words, name, value);
            match special.unwrap_or_else(|| words.change(name, value)) {
                Ok(change) if values.len() == 1 || seen.insert(shown(&changed, &change)) => {
                    changes.push(change);
                }
                Ok(_) => {
                    let found = format!("{value} a second time");
                    faults.push(PlanFault::new(Some(at), name, found, "every value once"));
                }
                Err((found, expected)) => {
                    faults.push(PlanFault::new(Some(at), name, found, expected));
                }
            }
        }
        changes
    }
}

impl<S: Settings> Words<'_, S> {
    /// Returns the change that sets the setting `name` to `value`, which is written as on the command line.
    pub fn change(&self, name: &str, value: &Value) -> Result<Change<S>, Mismatch> {
        let setting = self.list.iter().find(|setting| setting.about.name == name);
        let unknown = || (format!("an unknown field `{name}`"), String::new());
        let setting = setting.ok_or_else(unknown)?;
        let about = &setting.about;
        let texts = match value {
            Value::Array(values) if about.kind == Kind::List => {
                values.iter().map(|value| text(about.form, value)).collect()
            }
            value => text(about.form, value).map(|text| vec![text]),
        };
        let wrong = |expected: String| (value.to_string(), expected);
        let texts: Vec<OsString> = texts.map_err(|expected| wrong(expected.to_owned()))?;
        setting.read_in(&texts, self.folder).map_err(|fault| {
            match (fault.expected.strip_prefix("expected "), about.form) {
                (Some(expected), _) => wrong(expected.to_owned()),
                (None, Form::Whole) => wrong("a whole number of at least 0".to_owned()),
                (None, _) => (
                    format!("{value} ({})", fault.expected),
                    format!("a value of --{}", about.option()),
                ),
            }
        })
    }

    /// Reads the combined change of several settings from a table such as `{ nodes = 3 }`. The table may contain only
    /// settings that `names` lists.
    pub fn together(
        &self,
        names: &[&str],
        value: &toml::map::Map<String, Value>,
    ) -> Result<Change<S>, Mismatch> {
        let mut changes = Vec::new();
        for (name, value) in value {
            if !names.contains(&name.as_str()) {
                let found = format!("unknown field `{name}`");
                return Err((found, format!("some of {}", names.join(", "))));
            }
            let within = |(found, expected)| (format!("{name} = {found}"), expected);
            changes.push(self.change(name, value).map_err(within)?);
        }
        Ok(Change::new(move |settings| {
            changes.iter().for_each(|change| change.apply(settings));
        }))
    }
}

/// The values of these settings after a change, as text.
fn shown<S: Settings>(list: &[&Setting<S>], change: &Change<S>) -> Vec<Vec<String>> {
    let mut settings = S::default();
    change.apply(&mut settings);
    list.iter().map(|setting| setting.show(&settings)).collect()
}

/// Converts a value to text. If the value has the wrong type, returns a description of what was expected.
fn text(form: Form, value: &Value) -> Result<OsString, &'static str> {
    let text = match (form, value) {
        (Form::Truth, Value::Boolean(value)) => value.to_string(),
        (Form::Whole | Form::Number | Form::Any, Value::Integer(value)) => value.to_string(),
        (Form::Number | Form::Any, Value::Float(value)) => value.to_string(),
        (Form::Any, Value::Datetime(value)) => value.to_string(),
        (Form::Text | Form::Path | Form::Any, Value::String(value)) => value.clone(),
        (Form::Truth, _) => return Err("true or false"),
        (Form::Whole, _) => return Err("a whole number"),
        (Form::Number, _) => return Err("a number"),
        (Form::Text, _) => return Err("a string"),
        (Form::Path, _) => return Err("a path"),
        (Form::Any, _) => return Err("a string, a number or a time"),
    };
    Ok(text.into())
}
