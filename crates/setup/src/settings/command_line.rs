//! Settings as command-line arguments.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::sync::Arc;

use clap::builder::{PossibleValue, PossibleValuesParser, StringValueParser, TypedValueParser};
use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};

pub use clap;

use super::{About, Form, Kind, Setting, Settings, Value};

/// Adds the arguments for settings to a command.
pub fn augment<S: Settings>(command: Command) -> Command {
    S::list()
        .into_iter()
        .flat_map(arguments)
        .fold(command, Command::arg)
}

/// Updates `settings` with the values that were given on the command line.
///
/// # Errors
/// Returns an error if a value is invalid. This does not occur in practice, because clap has validated the values.
pub fn update<S: Settings>(settings: &mut S, matches: &ArgMatches) -> Result<(), clap::Error> {
    for setting in S::list() {
        let about = &setting.about;
        let is_given = |name: &str| matches.value_source(name) == Some(ValueSource::CommandLine);
        let texts: Vec<OsString> = match about.kind {
            // If a later `--NAME` turns the setting on again, clap has already removed this `--no-NAME`.
            Kind::Flag if is_given(&flag(about)) => vec![(!about.is_on).to_string().into()],
            Kind::One | Kind::List if is_given(about.name) => {
                let raw = matches.get_raw(about.name).into_iter().flatten();
                raw.map(OsStr::to_owned).collect()
            }
            _ => continue,
        };
        let change = setting.read(&texts);
        let failed = |wrong| clap::Error::raw(ErrorKind::ValueValidation, format!("{wrong}\n"));
        change.map_err(failed)?.apply(settings);
    }
    Ok(())
}

/// A parser for a type with only named values. The help lists each value with its meaning.
pub fn one_of<T: Value>() -> impl TypedValueParser<Value = T> {
    PossibleValuesParser::new(possible(&T::named())).try_map(|text| T::read(OsStr::new(&text)))
}

/// Name of a flag's argument. If the flag is on by default, the argument is `no_NAME` and turns it
/// off.
fn flag(about: &About) -> String {
    if about.is_on {
        format!("no_{}", about.name)
    } else {
        about.name.to_owned()
    }
}

fn possible(named: &[(String, &'static str)]) -> Vec<PossibleValue> {
    let named = named.iter();
    named
        .map(|(name, meaning)| {
            let value = PossibleValue::new(name.clone());
            if meaning.is_empty() {
                value
            } else {
                value.help(*meaning)
            }
        })
        .collect()
}

/// The arguments for a setting: two for a flag that is on by default, otherwise one.
fn arguments<S: Settings>(setting: Setting<S>) -> Vec<Arg> {
    let about = setting.about.clone();
    let style = &about.style;
    let name = flag(&about);
    let mut arg = Arg::new(name.clone())
        .long(name.replace('_', "-"))
        .help(style.off.map_or_else(|| about.help.clone(), str::to_owned))
        .conflicts_with_all(style.conflicts);
    if let Some(short) = style.short {
        arg = arg.short(short);
    }
    if let Some(alias) = style.alias {
        arg = arg.visible_alias(alias);
    }
    if let Some(alias) = style.hidden_alias {
        arg = arg.alias(alias);
    }
    if style.is_required {
        arg = arg.required(true);
    }
    if let Some(other) = style.requires {
        arg = arg.requires(other);
    }
    if let Some(heading) = about.heading {
        arg = arg.help_heading(heading);
    }
    if about.kind != Kind::Flag {
        return vec![with_value(arg, setting)];
    }
    let arg = arg.action(ArgAction::SetTrue);
    if !about.is_on {
        return vec![arg];
    }
    let on = Arg::new(about.name)
        .long(about.option())
        .help(about.help.clone())
        .action(ArgAction::SetTrue)
        .overrides_with(name);
    vec![arg.overrides_with(about.name), on]
}

/// Adds the properties of a setting's value to an argument.
fn with_value<S: Settings>(arg: Arg, setting: Setting<S>) -> Arg {
    let about = setting.about.clone();
    let style = &about.style;
    let mut arg = arg
        .value_name(style.placeholder)
        .allow_negative_numbers(style.is_signed)
        .action(match about.kind {
            Kind::List => ArgAction::Append,
            _ => ArgAction::Set,
        });
    if let Some(separator) = style.separator {
        arg = arg.value_delimiter(separator);
    }
    if let Some(alone) = style.alone {
        arg = arg
            .num_args(0..=1)
            .require_equals(true)
            .default_missing_value(alone);
    }
    if !about.default.is_empty() {
        arg = arg.default_values(about.default.clone());
    }
    if about.is_closed {
        arg.value_parser(PossibleValuesParser::new(possible(&about.named)))
    } else if about.form == Form::Path {
        arg.value_parser(value_parser!(PathBuf))
    } else {
        arg.value_parser(Checked {
            listed: possible(&about.named),
            check: Arc::new(move |text| {
                let read = setting.read(&[text.into()]);
                read.map(drop).map_err(|wrong| wrong.expected)
            }),
        })
    }
}

/// A parser that accepts the strings that a setting accepts. The help lists the named values.
#[derive(Clone)]
struct Checked {
    listed: Vec<PossibleValue>,
    check: Arc<Check>,
}

/// A function that checks a string.
type Check = dyn Fn(&str) -> Result<(), String> + Send + Sync;

impl TypedValueParser for Checked {
    type Value = String;

    fn parse_ref(
        &self,
        command: &Command,
        arg: Option<&Arg>,
        value: &OsStr,
    ) -> Result<String, clap::Error> {
        let check = Arc::clone(&self.check);
        let checked = move |text: String| check(&text).map(|()| text);
        StringValueParser::new()
            .try_map(checked)
            .parse_ref(command, arg, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        if self.listed.is_empty() {
            return None;
        }
        Some(Box::new(self.listed.iter().cloned()))
    }
}
