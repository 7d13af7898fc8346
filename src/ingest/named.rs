//! Settings with a fixed list of values.

/// Implements `Value` for a `Copy` type with a fixed list of values, each with its name and meaning.
macro_rules! named {
    ($type:ty: $($value:expr, $name:literal => $meaning:expr);* $(;)?) => {
        impl gleaner_setup::settings::Value for $type {
            const FORM: gleaner_setup::settings::Form = gleaner_setup::settings::Form::Text;
            const IS_CLOSED: bool = true;

            fn read(text: &std::ffi::OsStr) -> Result<Self, String> {
                let values = [$(($value, $name)),*];
                let found = values.iter().find(|(_, name)| text == *name);
                found.map(|(value, _)| *value).ok_or_else(|| {
                    format!("expected one of {}", values.map(|(_, name)| name).join(", "))
                })
            }

            fn show(&self) -> String {
                let values = [$(($value, $name)),*];
                let found = values.iter().find(|(value, _)| value == self);
                found.map_or(String::new(), |(_, name)| (*name).to_owned())
            }

            fn named() -> Vec<(String, &'static str)> {
                vec![$(($name.to_owned(), $meaning)),*]
            }
        }
    };
}

pub(super) use named;
