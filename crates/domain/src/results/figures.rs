//! Summaries: structs whose fields are the figures of a run. Some of the figures are used to
//! compare runs.

use serde::Serialize;

use super::Field;

/// The direction in which the values of a figure improve.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    /// The greatest value is the best.
    Max,
    /// The least value is the best.
    Min,
}

/// A figure of a summary of type `S` that is used to compare runs.
#[derive(Debug)]
pub struct Metric<S> {
    /// The figure's name in tables.
    pub name: &'static str,
    /// Whether the figure is a whole number.
    pub is_whole: bool,
    /// The direction in which values improve; `None` for figures that only describe the run.
    pub best: Option<Direction>,
    /// The figure's value in a summary; `None` if the run has no value.
    pub of: fn(&S) -> Option<f64>,
}

/// A type whose values can be figures.
pub trait Figure {
    /// Whether the figure is a whole number.
    const IS_WHOLE: bool;

    /// The value as a number; `None` if it is missing.
    fn number(&self) -> Option<f64>;
}

/// A summary of a run. The macro `summary!` declares types that implement this trait.
pub trait Figures: Sized + 'static {
    /// The summary's fields, in the order in which they appear in JSON.
    const FIELDS: &'static [Field];
    /// The figures used to compare runs, in order.
    const METRICS: &'static [Metric<Self>];
}

impl Figure for f64 {
    const IS_WHOLE: bool = false;

    fn number(&self) -> Option<f64> {
        Some(*self)
    }
}

impl<F: Figure> Figure for Option<F> {
    const IS_WHOLE: bool = F::IS_WHOLE;

    fn number(&self) -> Option<f64> {
        self.as_ref().and_then(F::number)
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

/// Declares a summary: a struct with fields `field: type ["unit"]`. The documentation of a field is
/// its doc comment. A field that is used to compare runs has a word after the unit. The word is
/// `most` if the greatest value is the best, `least` if the least value is the best, and `shown`
/// otherwise. If the figure's name in tables differs from the name of the field, the figure's name follows, for example
/// `shown as "task_count"`.
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

/// The direction that a word of `summary!` represents.
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
