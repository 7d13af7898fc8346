//! The macro that declares settings.

/// Declares a struct of settings, with its defaults and its list of [`Setting`](crate::settings::Setting)s.
///
/// A field is `NAME: TYPE = DEFAULT => SPEC;`, or `NAME: TYPE;` for a part: a struct whose settings also become
/// settings of the declared struct. The doc comment of a setting is its help. [`Spec`](crate::settings::Spec)
/// lists the other properties that can be declared. With the feature `cli`, the struct is also a group of
/// command-line arguments.
///
/// ```
/// use gleaner_setup::settings::{Settings, Spec};
///
/// gleaner_setup::settings! {
///     /// How to wait.
///     #[derive(Debug, PartialEq)]
///     pub struct Waiting {
///         /// Seconds to wait.
///         pub seconds: f64 = 10.0 => Spec::of("SECONDS").within("at least 0", |seconds| *seconds >= 0.0);
///         /// Do not report.
///         pub quiet: bool = false => Spec::flag();
///     }
/// }
///
/// let mut waiting = Waiting::default();
/// assert_eq!(waiting.seconds, 10.0);
/// waiting.set("seconds", &["2.5".into()])?;
/// assert_eq!(waiting.seconds, 2.5);
/// let wrong = waiting.set("seconds", &["-1".into()]).unwrap_err();
/// assert_eq!(wrong.to_string(), "seconds is \"-1\": expected at least 0");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[macro_export]
macro_rules! settings {
    (
        $(#[$meta:meta])*
        pub struct $Name:ident $(under $heading:literal)? {
            $(
                $(#[$($attribute:tt)*])*
                pub $field:ident: $type:ty $(= $default:expr => $spec:expr)?;
            )*
        }
    ) => {
        $(#[$meta])*
        pub struct $Name {
            $( $(#[$($attribute)*])* pub $field: $type, )*
        }

        impl Default for $Name {
            fn default() -> Self {
                $Name {
                    $( $field: $crate::settings!(@default $($default)?), )*
                }
            }
        }

        impl $crate::settings::Settings for $Name {
            fn list() -> Vec<$crate::settings::Setting<Self>> {
                const HEADING: Option<&'static str> = $crate::settings!(@heading $($heading)?);
                let default = Self::default();
                let parts = [$(
                    $crate::settings!(
                        @list HEADING, default, $field: $type, [$([$($attribute)*])*] $(= $spec)?
                    ),
                )*];
                parts.into_iter().flatten().collect()
            }
        }

        $crate::arguments!($Name);
    };

    (@default) => { Default::default() };
    (@default $default:expr) => { $default };

    (@heading) => { None };
    (@heading $heading:literal) => { Some($heading) };

    // The settings of a field: all settings of a part, or a single setting.
    (@list $heading:ident, $all:ident, $field:ident: $type:ty, [$($attribute:tt)*]) => {{
        let part = <$type as $crate::settings::Settings>::list().into_iter();
        let within = |setting: $crate::settings::Setting<$type>| {
            setting.within(|all: &Self| &all.$field, |all: &mut Self| &mut all.$field)
        };
        part.map(within).collect::<Vec<_>>()
    }};
    (
        @list $heading:ident, $all:ident, $field:ident: $type:ty, [$($attribute:tt)*] = $spec:expr
    ) => {
        vec![$crate::settings::Setting::new(
            stringify!($field),
            $crate::settings!(@doc [] $($attribute)*),
            $heading,
            &$all.$field,
            $spec,
            |all: &Self| &all.$field,
            |all: &mut Self| &mut all.$field,
        )]
    };

    // Extracts the lines of the doc comment from a list of attributes.
    (@doc [$($line:expr),*]) => { &[$($line),*] };
    (@doc [$($line:expr),*] [doc = $next:expr] $($rest:tt)*) => {
        $crate::settings!(@doc [$($line,)* $next] $($rest)*)
    };
    (@doc [$($line:expr),*] [$($other:tt)*] $($rest:tt)*) => {
        $crate::settings!(@doc [$($line),*] $($rest)*)
    };
}

/// Makes the settings a group of command-line arguments.
#[cfg(feature = "cli")]
#[doc(hidden)]
#[macro_export]
macro_rules! arguments {
    ($Name:ident) => {
        impl $crate::settings::command_line::clap::Args for $Name {
            fn augment_args(
                command: $crate::settings::command_line::clap::Command,
            ) -> $crate::settings::command_line::clap::Command {
                $crate::settings::command_line::augment::<Self>(command)
            }

            fn augment_args_for_update(
                command: $crate::settings::command_line::clap::Command,
            ) -> $crate::settings::command_line::clap::Command {
                $crate::settings::command_line::augment::<Self>(command)
            }
        }

        impl $crate::settings::command_line::clap::FromArgMatches for $Name {
            fn from_arg_matches(
                matches: &$crate::settings::command_line::clap::ArgMatches,
            ) -> Result<Self, $crate::settings::command_line::clap::Error> {
                let mut settings = Self::default();
                settings.update_from_arg_matches(matches)?;
                Ok(settings)
            }

            fn update_from_arg_matches(
                &mut self,
                matches: &$crate::settings::command_line::clap::ArgMatches,
            ) -> Result<(), $crate::settings::command_line::clap::Error> {
                $crate::settings::command_line::update(self, matches)
            }
        }
    };
}

/// Without the feature `cli`, settings are not command-line arguments.
#[cfg(not(feature = "cli"))]
#[doc(hidden)]
#[macro_export]
macro_rules! arguments {
    ($Name:ident) => {};
}
