//! Settings, each declared once: name, type, range, default and help.
//!
//! [`settings!`](crate::settings!) declares a struct of settings. The command line, Python's keyword arguments,
//! sweep plans and range checks are derived from its list of [`Setting`]s.

#[cfg(feature = "cli")]
pub mod command_line;
mod declare;
mod spec;
pub(crate) mod value;

use std::ffi::OsString;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

use gleaner_domain::error::{Error, Result};

use crate::experiment::Use;
pub use spec::{Spec, Style};
pub use value::{Field, Form, Kind, Value};

/// A struct of settings.
pub trait Settings: Default + 'static {
    /// All settings, in the order of the help.
    fn list() -> Vec<Setting<Self>>;

    /// Sets the value of a setting from strings. A list requires one string per value, and any other setting requires
    /// one string. The string of a flag is `true` or `false`.
    ///
    /// # Errors
    /// The setting is unknown, or the value is invalid.
    fn set(&mut self, name: &str, texts: &[OsString]) -> std::result::Result<(), Wrong> {
        let list = Self::list();
        let Some(setting) = list.iter().find(|setting| setting.about.name == name) else {
            let names: Vec<&str> = list.iter().map(|setting| setting.about.name).collect();
            return Err(Wrong {
                name: name.to_owned(),
                found: None,
                expected: format!("expected one of {}", names.join(", ")),
            });
        };
        setting.read(texts)?.apply(self);
        Ok(())
    }

    /// Checks that all values are in range. Values that were read from strings are always in range.
    ///
    /// # Errors
    /// Returns [`Error::Usage`] if a value is out of range. The message names the option and its range.
    fn check(&self) -> Result<()> {
        let fault = Self::list()
            .iter()
            .find_map(|setting| (setting.fault)(self));
        fault.map_or(Ok(()), |fault| Err(Error::Usage(fault)))
    }
}

/// Reads settings from pairs, each of which has a name and the values as strings (see [`Settings::set`]). All other
/// settings keep their defaults.
///
/// # Errors
/// Returns [`Error::Usage`] if a setting is unknown, missing or invalid, or if it conflicts with another setting.
pub fn read<S: Settings>(given: &[(String, Vec<OsString>)]) -> Result<S> {
    let mut settings = S::default();
    for (name, texts) in given {
        let set = settings.set(name, texts);
        set.map_err(|wrong| Error::Usage(wrong.to_string()))?;
    }
    // A flag that is set to `false` counts as not given.
    let is_given = |name: &str| {
        let mut named = given.iter().filter(|(given, _)| given == name);
        named.any(|(_, texts)| texts != &["false"])
    };
    for About { name, style, .. } in S::list().into_iter().map(|setting| setting.about) {
        if !is_given(name) {
            if style.is_required {
                return Err(Error::Usage(format!(
                    "{name} is missing: this setting is required"
                )));
            }
            continue;
        }
        if let Some(other) = style.requires.filter(|other| !is_given(other)) {
            return Err(Error::Usage(format!("{name} also needs {other}")));
        }
        if let Some(other) = style.conflicts.iter().find(|other| is_given(other)) {
            let message = format!("{name} cannot be used with {other}: leave one of them out");
            return Err(Error::Usage(message));
        }
    }
    Ok(settings)
}

/// An unknown setting, or an invalid value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wrong {
    /// Name of the setting.
    pub name: String,
    /// The invalid value; `None` if the setting is unknown.
    pub found: Option<String>,
    /// Description of the fault, such as `expected at least 1`.
    pub expected: String,
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.found {
            Some(found) => write!(f, "{} is {found:?}: {}", self.name, self.expected),
            None => write!(f, "unknown setting {:?}, {}", self.name, self.expected),
        }
    }
}

impl std::error::Error for Wrong {}

/// Everything about a setting that does not depend on its type.
#[derive(Debug, Clone)]
pub struct About {
    /// Name of the setting, with underscores between words.
    pub name: &'static str,
    /// Purpose of the setting in one or more sentences, without the final full stop.
    pub help: String,
    /// Heading under which the help lists the setting.
    pub heading: Option<&'static str>,
    /// Whether the setting is a flag, a single value or a list.
    pub kind: Kind,
    /// The form of a value in files.
    pub form: Form,
    /// The default as strings; empty for flags, for required settings and for settings without a default.
    pub default: Vec<String>,
    /// Whether a flag is on by default.
    pub is_on: bool,
    /// Named values, each with its meaning.
    pub named: Vec<(String, &'static str)>,
    /// Whether only `named` values are valid.
    pub is_closed: bool,
    /// The condition under which the setting has an effect on a simulation.
    pub used_for: Use,
    /// The properties of the setting on the command line.
    pub style: Style,
}

/// A setting of `S`.
pub struct Setting<S> {
    /// Everything about the setting that does not depend on its type.
    pub about: About,
    read: Read<S>,
    /// Returns the setting's values as strings.
    show: Of<S, Vec<String>>,
    /// Returns an error message if a value is out of range.
    fault: Of<S, Option<String>>,
}

/// A function that computes a value from settings.
type Of<S, T> = Box<dyn Fn(&S) -> T + Send + Sync>;

/// A function that reads a value from strings. Paths in the value are relative to the given folder.
type Read<S> = Box<
    dyn Fn(&[OsString], &Path) -> std::result::Result<Change<S>, (OsString, String)> + Send + Sync,
>;

/// A change to one or more settings.
pub struct Change<S>(Arc<dyn Fn(&mut S) + Send + Sync>);

impl<S> Clone for Change<S> {
    fn clone(&self) -> Self {
        Change(Arc::clone(&self.0))
    }
}

impl<S> fmt::Debug for Change<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Change")
    }
}

impl<S: 'static> Change<S> {
    /// Creates a change from the function that applies it.
    pub fn new(apply: impl Fn(&mut S) + Send + Sync + 'static) -> Self {
        Change(Arc::new(apply))
    }

    /// Applies the change to `settings`.
    pub fn apply(&self, settings: &mut S) {
        (self.0)(settings);
    }
}

impl<S: 'static> Setting<S> {
    /// Creates the setting for a field of `S`. `doc` contains the lines of its help.
    pub fn new<T: Field>(
        name: &'static str,
        doc: &[&str],
        heading: Option<&'static str>,
        default: &T,
        spec: Spec<T::Value>,
        get: fn(&S) -> &T,
        get_mut: fn(&mut S) -> &mut T,
    ) -> Self {
        let about = About::of(name, doc, heading, default, &spec);
        let rule = Arc::new(spec.rule);
        let checks = Arc::clone(&rule);
        Setting {
            about,
            read: Box::new(move |texts, folder| {
                let read = |text: &OsString| {
                    let value = rule.read(text).map_err(|why| (text.clone(), why))?;
                    Ok(value.seen_from(folder))
                };
                let values = texts
                    .iter()
                    .map(read)
                    .collect::<std::result::Result<_, _>>()?;
                let value = T::of(values)
                    .ok_or_else(|| (OsString::new(), "expected a value".to_owned()))?;
                Ok(Change::new(move |settings| {
                    *get_mut(settings) = value.clone();
                }))
            }),
            show: Box::new(move |settings| shown(get(settings))),
            fault: Box::new(move |settings| {
                let values = get(settings).values();
                let (value, expected) = values.into_iter().find_map(|value| {
                    checks.fault(value).map(|expected| (value.show(), expected))
                })?;
                Some(format!(
                    "--{} is {value}, {expected}",
                    name.replace('_', "-")
                ))
            }),
        }
    }

    /// Turns a setting of `S` into a setting of `O`, which contains `S` as a part.
    pub fn within<O: 'static>(
        self,
        get: fn(&O) -> &S,
        get_mut: fn(&mut O) -> &mut S,
    ) -> Setting<O> {
        let Setting {
            about,
            read,
            show,
            fault,
        } = self;
        Setting {
            about,
            read: Box::new(move |texts, folder| {
                let change = read(texts, folder)?;
                Ok(Change::new(move |settings| change.apply(get_mut(settings))))
            }),
            show: Box::new(move |settings| show(get(settings))),
            fault: Box::new(move |settings| fault(get(settings))),
        }
    }

    /// Returns the change that assigns the value in `texts` to this setting. The strings are the
    /// same as for [`Settings::set`].
    ///
    /// # Errors
    /// The value is invalid.
    pub fn read(&self, texts: &[OsString]) -> std::result::Result<Change<S>, Wrong> {
        self.read_in(texts, Path::new(""))
    }

    /// Like [`Setting::read`], with paths relative to `folder`. The empty path is the current folder.
    ///
    /// # Errors
    /// Same as [`Setting::read`].
    pub fn read_in(
        &self,
        texts: &[OsString],
        folder: &Path,
    ) -> std::result::Result<Change<S>, Wrong> {
        (self.read)(texts, folder).map_err(|(text, expected)| Wrong {
            name: self.about.name.to_owned(),
            found: Some(text.to_string_lossy().into_owned()),
            expected,
        })
    }
}

impl<S> Setting<S> {
    /// Values of the setting as strings.
    pub fn show(&self, settings: &S) -> Vec<String> {
        (self.show)(settings)
    }
}

impl<S: Settings> Setting<S> {
    /// Whether the value of the setting differs from the default.
    pub fn is_changed(&self, settings: &S) -> bool {
        self.show(settings) != self.show(&S::default())
    }
}

impl About {
    fn of<T: Field>(
        name: &'static str,
        doc: &[&str],
        heading: Option<&'static str>,
        default: &T,
        spec: &Spec<T::Value>,
    ) -> Self {
        let (kind, style, shown) = (T::KIND, spec.style.clone(), shown(default));
        About {
            name,
            help: help(doc),
            heading: style.heading.or(heading),
            kind,
            form: T::Value::FORM,
            is_on: kind == Kind::Flag && shown == ["true"],
            default: if kind == Kind::Flag || style.is_required {
                Vec::new()
            } else {
                shown
            },
            named: T::Value::named(),
            is_closed: T::Value::IS_CLOSED,
            used_for: spec.used_for,
            style,
        }
    }

    /// Name of the setting on the command line, without the leading hyphens.
    pub fn option(&self) -> String {
        self.name.replace('_', "-")
    }
}

/// The values of a setting as strings.
fn shown<T: Field>(setting: &T) -> Vec<String> {
    setting.values().into_iter().map(Value::show).collect()
}

/// Converts a doc comment to help: its lines become one paragraph without the final full stop.
fn help(doc: &[&str]) -> String {
    let lines: Vec<&str> = doc.iter().map(|line| line.trim()).collect();
    let text = lines.join(" ");
    text.strip_suffix('.').unwrap_or(&text).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ReplaySettings, SimulationSettings};

    fn defaults_are_read_again<S: Settings>() {
        let (mut settings, list) = (S::default(), S::list());
        let mut names: Vec<&str> = list.iter().map(|setting| setting.about.name).collect();
        for setting in &list {
            let texts: Vec<OsString> = setting
                .show(&settings)
                .into_iter()
                .map(Into::into)
                .collect();
            assert!(!setting.about.help.is_empty() && !setting.is_changed(&settings));
            if !texts.is_empty() {
                setting.read(&texts).unwrap().apply(&mut settings);
                assert!(!setting.is_changed(&settings), "{}", setting.about.name);
            }
        }
        names.sort_unstable();
        assert!(names.windows(2).all(|pair| pair[0] != pair[1]), "{names:?}");
        settings.check().unwrap();
    }

    #[test]
    fn defaults_are_those_of_their_texts() {
        defaults_are_read_again::<ReplaySettings>();
        defaults_are_read_again::<SimulationSettings>();
    }

    fn given(pairs: &[(&str, &str)]) -> Result<ReplaySettings> {
        let pairs = pairs.iter();
        let pairs = pairs.map(|(name, text)| ((*name).to_owned(), vec![text.into()]));
        read(&pairs.collect::<Vec<_>>())
    }

    // Small fixed examples of valid and invalid settings.
    #[test]
    fn settings_are_given_by_name() {
        let settings = given(&[("max_tasks", "3"), ("gap", "0.5"), ("seed", "7")]).unwrap();
        assert_eq!(settings.log.rules.max_tasks, 3);
        assert_eq!((settings.solver.gap, settings.log.rules.seed), (0.5, 7));
        for (pairs, message) in [
            (
                &[("max_tasks", "0")][..],
                "max_tasks is \"0\": expected at least 1",
            ),
            (&[("initial", "x")], "expected one of random, solve, empty"),
            (&[("maxtasks", "1")], "unknown setting \"maxtasks\""),
            (
                &[("scripted", "s"), ("repeat_tasks", "true")],
                "scripted cannot be used with repeat_tasks",
            ),
        ] {
            let error = given(pairs).unwrap_err();
            assert_eq!(error.exit_code(), 2);
            assert!(error.to_string().contains(message), "{error}");
        }
        given(&[("scripted", "s"), ("repeat_tasks", "false")]).unwrap();
        let models = vec![("series".to_owned(), vec!["s".into()])];
        let error = read::<SimulationSettings>(&models).unwrap_err();
        assert!(
            error.to_string().contains("series also needs models"),
            "{error}"
        );
    }

    #[test]
    fn values_of_programs_are_checked_too() {
        let mut settings = ReplaySettings::default();
        settings.log.rules.max_tasks = 0;
        let error = settings.check().unwrap_err();
        assert_eq!(error.to_string(), "--max-tasks is 0, expected at least 1");
    }

    #[test]
    fn paths_are_relative_to_a_folder() {
        let list = ReplaySettings::list();
        let events = list.iter().find(|setting| setting.about.name == "events");
        let mut settings = ReplaySettings::default();
        let change = events
            .unwrap()
            .read_in(&["log.csv".into()], Path::new("at"));
        change.unwrap().apply(&mut settings);
        assert_eq!(
            settings.log.events.as_deref(),
            Some(Path::new("at/log.csv"))
        );
    }

    #[cfg(feature = "cli")]
    #[test]
    fn the_command_line_changes_what_it_names() {
        use clap::{Args, Command, FromArgMatches};

        let parse = |line: &str| {
            let command = ReplaySettings::augment_args(Command::new("replay"));
            let matches = command.try_get_matches_from(line.split(' ')).unwrap();
            ReplaySettings::from_arg_matches(&matches).unwrap()
        };
        let changed = |line: &str| {
            let settings = parse(line);
            let list = ReplaySettings::list();
            let changed = list.iter().filter(|setting| setting.is_changed(&settings));
            changed
                .map(|setting| setting.about.name)
                .collect::<Vec<_>>()
        };
        assert_eq!(changed("replay"), [""; 0]);
        let line = "replay --t-fwd -0 --no-completion-events --completion-events";
        assert!(
            ReplaySettings::augment_args(Command::new("replay"))
                .try_get_matches_from(line.split(' '))
                .is_err()
        );
        assert_eq!(
            changed("replay --no-completion-events --seed 3"),
            ["seed", "completion_events"]
        );
        assert_eq!(
            changed("replay --no-completion-events --completion-events"),
            [""; 0]
        );
        assert_eq!(
            changed("replay --search asha --strict"),
            ["search", "strict"]
        );
    }

    #[cfg(feature = "cli")]
    #[test]
    fn a_flag_that_is_on_has_a_help_for_each_direction() {
        use clap::{Args, Command};

        let command = ReplaySettings::augment_args(Command::new("replay"));
        let help = |name: &str| {
            let arg = command.get_arguments().find(|arg| arg.get_id() == name);
            arg.unwrap().get_help().unwrap().to_string()
        };
        let list = ReplaySettings::list();
        let all = list.iter().map(|setting| &setting.about);
        for about in all.filter(|about| about.is_on) {
            assert_eq!(help(about.name), about.help);
            assert_ne!(help(&format!("no_{}", about.name)), about.help);
        }
        assert!(help("no_completion_events").starts_with("Let a finished task keep its nodes"));
        assert!(help("completion_events").starts_with("Reallocate the nodes"));
    }
}
