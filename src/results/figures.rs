//! Summaries: a struct whose fields are the figures of a run, of which some compare runs.

use serde::Serialize;

use super::Field;

/// Which value of a figure is the best.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    /// The greatest.
    Max,
    /// The least.
    Min,
}

/// A figure of a summary of type `S` by which runs are compared.
#[derive(Debug)]
pub struct Metric<S> {
    /// Its name in tables.
    pub name: &'static str,
    /// Whether it is a whole number.
    pub is_whole: bool,
    /// Which value is the best; `None` of figures that are no goal, but describe the run.
    pub best: Option<Direction>,
    /// Its value, where the run has it.
    pub of: fn(&S) -> Option<f64>,
}

/// A value that is a figure.
pub trait Figure {
    /// Whether it is a whole number.
    const IS_WHOLE: bool;

    /// It as a number, where there is one.
    fn number(&self) -> Option<f64>;
}

/// A summary, which the macro `summary!` declares.
pub trait Figures: Sized + 'static {
    /// Its fields in order, as they are in JSON.
    const FIELDS: &'static [Field];
    /// Those by which runs are compared, in order.
    const METRICS: &'static [Metric<Self>];
}

impl Figure for f64 {
    const IS_WHOLE: bool = false;

    fn number(&self) -> Option<f64> {
        Some(*self)
    }
}

impl Figure for Option<f64> {
    const IS_WHOLE: bool = false;

    fn number(&self) -> Option<f64> {
        *self
    }
}

macro_rules! whole {
    ($($type:ty),+) => {$(
        impl Figure for $type {
            const IS_WHOLE: bool = true;

            fn number(&self) -> Option<f64> {
                Some(*self as f64)
            }
        }
    )+};
}

whole!(usize, u64, i64);

/// Declares a summary: a struct with `field: type ["unit"]`, whose doc comments are what
/// documentation says of the fields. Fields by which runs are compared have a word behind that:
/// `most` or `least` where that is best, `shown` where neither is; and the name that the figure
/// has in tables, where it is another, as in `shown as "task_count"`.
macro_rules! summary {
    (
        $(#[$attribute:meta])*
        pub struct $Summary:ident {
            $($(#[doc = $meaning:literal])+
            $field:ident: $type:ty [$unit:literal] $($goal:ident $(as $name:literal)?)?,)+
        }
    ) => {
        $(#[$attribute])*
        pub struct $Summary {
            $($(#[doc = $meaning])+ pub $field: $type,)+
        }

        impl $crate::results::Figures for $Summary {
            const FIELDS: &'static [$crate::results::Field] = &[$($crate::results::Field {
                name: stringify!($field),
                unit: $unit,
                meaning: concat!($($meaning),+),
            }),+];
            const METRICS: &'static [$crate::results::Metric<Self>] = &[$($(
                $crate::results::Metric {
                    name: metric_name!($field $($name)?),
                    is_whole: <$type as $crate::results::Figure>::IS_WHOLE,
                    best: best!($goal),
                    of: |summary| $crate::results::Figure::number(&summary.$field),
                },
            )?)+];
        }
    };
}

/// The name that a field of `summary!` has in tables.
macro_rules! metric_name {
    ($field:ident) => {
        stringify!($field)
    };
    ($field:ident $name:literal) => {
        $name
    };
}

/// The direction that a word of `summary!` names.
macro_rules! best {
    (most) => {
        Some($crate::results::Direction::Max)
    };
    (least) => {
        Some($crate::results::Direction::Min)
    };
    (shown) => {
        None
    };
}
