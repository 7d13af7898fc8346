//! The results of `gleaner reproduce`: published values and our values, side by side.

use serde::Deserialize;

use super::Named;

/// A system whose published results are reproduced here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum System {
    /// The scheduler of Hu et al., ASPLOS 2023.
    Lucid,
    /// A reproduction of Lucid at Sun Yat-sen University, based on the university's logs.
    Sysu,
    /// The allocator of Liu et al., 2021.
    Bftrainer,
    /// The inspector of Yang et al., SIGMETRICS 2022.
    Driple,
    /// The pilot jobs of Przybylski et al., SC 2022.
    Hpcwhisk,
    /// The scheduler of Jayaram Subramanya et al., SOSP 2023.
    Sia,
}

impl Named for System {
    const ALL: &'static [Self] = &[
        System::Lucid,
        System::Sysu,
        System::Bftrainer,
        System::Driple,
        System::Hpcwhisk,
        System::Sia,
    ];

    fn name(self) -> &'static str {
        match self {
            System::Lucid => "lucid",
            System::Sysu => "sysu",
            System::Bftrainer => "bftrainer",
            System::Driple => "driple",
            System::Hpcwhisk => "hpcwhisk",
            System::Sia => "sia",
        }
    }
}

impl System {
    /// The title of the system.
    pub fn title(self) -> &'static str {
        match self {
            System::Lucid => "Lucid",
            System::Sysu => "The reproduction of Lucid (SYSU)",
            System::Bftrainer => "BFTrainer",
            System::Driple => "Driple",
            System::Hpcwhisk => "HPC-Whisk",
            System::Sia => "Sia",
        }
    }
}

/// The result of comparing our value with the published value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// Our value, rounded to the published number of decimals, equals the published value.
    Equal,
    /// Our value differs from the published value by at most 1 %.
    Within1,
    /// Our value differs from the published value by at most 5 %.
    Within5,
    /// Our value differs from the published value by at most 10 %.
    Within10,
    /// Our value differs from the published value by more than 10 %.
    Differs,
    /// Our value cannot be computed from public data; the note states the reason.
    NotReproducible,
    /// Our value is not computed here although it could be; the note states the reason.
    LeftOut,
    /// No published value can be compared with our value.
    Unpublished,
}

impl Named for Verdict {
    const ALL: &'static [Self] = &[
        Verdict::Equal,
        Verdict::Within1,
        Verdict::Within5,
        Verdict::Within10,
        Verdict::Differs,
        Verdict::NotReproducible,
        Verdict::LeftOut,
        Verdict::Unpublished,
    ];

    fn name(self) -> &'static str {
        match self {
            Verdict::Equal => "equal",
            Verdict::Within1 => "within 1 %",
            Verdict::Within5 => "within 5 %",
            Verdict::Within10 => "within 10 %",
            Verdict::Differs => "differs",
            Verdict::NotReproducible => "not reproducible",
            Verdict::LeftOut => "left out",
            Verdict::Unpublished => "no published value",
        }
    }
}

/// The kind of values with which our values for an artifact are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Basis {
    /// Values that the authors published.
    Published,
    /// Values that the authors' code produces when it is run.
    ReferenceRun,
}

impl Named for Basis {
    const ALL: &'static [Self] = &[Basis::Published, Basis::ReferenceRun];

    fn name(self) -> &'static str {
        match self {
            Basis::Published => "published",
            Basis::ReferenceRun => "reference run",
        }
    }
}

/// The rounding of published values to their decimals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Rounding {
    /// To the nearest value.
    #[default]
    Nearest,
    /// Towards zero, like `astype(int)` in Python.
    Down,
}

impl Rounding {
    /// Rounds a value to `decimals` decimals.
    pub fn cut(self, value: f64, decimals: u32) -> f64 {
        let scale = 10f64.powi(decimals as i32);
        let scaled = value * scale;
        // A double of at least 2⁵³ is a whole number, so there is nothing to round, and the division would change the
        // value's last digit. For example, 0.9019098676495225 has 16 decimals, and multiplied by 10¹⁶ it exceeds 2⁵³.
        if scaled.abs() >= 2f64.powi(53) {
            return value;
        }
        let whole = match self {
            Rounding::Nearest => scaled.round(),
            Rounding::Down => scaled.trunc(),
        };
        whole / scale
    }
}

record! {
    /// A published value and our value: a row of `reproduced`.
    #[derive(Debug, Clone, PartialEq)]
    pub struct ReproducedRow {
        /// reproduced system: `lucid`, `sysu`, `bftrainer`, `driple`, `hpcwhisk` or `sia`
        system: System = "system" [""],
        /// name of the table or figure, such as `sysu-table-1`
        artifact: String = "artifact" [""],
        /// row of the table, or curve of the figure
        row: String = "row" [""],
        /// column of the table, or position along the curve
        column: String = "column" [""],
        /// unit of the values; empty if they have no unit
        unit: String = "unit" [""],
        /// `published`: value published by the authors; `reference run`: value computed by running the authors' code
        basis: Basis = "basis" [""],
        /// published value; empty if there is none, or if it is not available
        published: Option<f64> = "published" [""],
        /// our value; empty if it is not computed
        reproduced: Option<f64> = "reproduced" [""],
        /// number of decimals of the published value
        decimals: u32 = "decimals" [""],
        /// our value minus the published value, as a share of the published value; on curves that cross zero, as a
        /// share of the published curve's range; empty if either value is missing
        difference: Option<f64> = "difference" ["relative"],
        /// `equal`: equal when rounded to the published number of decimals; `within 1 %`, `within 5 %`, `within 10 %`,
        /// `differs`; `not reproducible`: cannot be computed from public data; `left out`: could be computed, but is
        /// not; `no published value`
        verdict: Verdict = "verdict" [""],
        /// notes on the value; the reason if it is not reproducible or left out
        note: String = "note" [""],
    }
}

/// A table or figure, with its description and its values.
#[derive(Debug, Clone, PartialEq)]
pub struct Artifact {
    /// The artifact's name in tables: letters, digits and hyphens.
    pub id: String,
    /// The system whose publication or code contains the artifact.
    pub system: System,
    /// The artifact's heading.
    pub title: String,
    /// A description of the figure or table, with notes.
    pub text: String,
    /// The source of the published values.
    pub source: String,
    /// The kind of values with which our values are compared.
    pub basis: Basis,
    /// The rounding of the published values to their decimals.
    pub rounding: Rounding,
    /// The kind of diagram; `None` for a table.
    pub drawing: Option<Drawing>,
    /// The artifact's values.
    pub rows: Vec<ReproducedRow>,
}

/// The kind of diagram in which a figure is drawn.
#[derive(Debug, Clone, PartialEq)]
pub enum Drawing {
    /// Groups of bars: a group for each row, and a bar for each column.
    Bars {
        /// The quantity along the vertical axis, with its unit.
        y: String,
    },
    /// A curve for each row; the columns are positions along the horizontal axis.
    Curves {
        /// The quantity along the horizontal axis, with its unit.
        x: String,
        /// Whether the horizontal axis is logarithmic.
        log: bool,
        /// The quantity along the vertical axis, with its unit.
        y: String,
    },
    /// Separate curves; [`Artifact::rows`] holds only values derived from the curves.
    Series {
        /// The quantity along the horizontal axis, with its unit.
        x: String,
        /// The quantity along the vertical axis, with its unit.
        y: String,
        /// The curves.
        curves: Vec<NamedCurve>,
    },
}

/// A curve of [`Drawing::Series`].
#[derive(Debug, Clone, PartialEq)]
pub struct NamedCurve {
    /// The curve's name.
    pub name: String,
    /// The curve's points as (x, y), ordered by x.
    pub points: Vec<(f64, f64)>,
}

/// The number of values with each verdict, in the order of [`Verdict::ALL`].
pub type VerdictCounts = [usize; Verdict::ALL.len()];

/// Counts the values of `rows` by verdict.
pub fn count_verdicts<'r>(rows: impl IntoIterator<Item = &'r ReproducedRow>) -> VerdictCounts {
    let mut counts = VerdictCounts::default();
    for row in rows {
        counts[row.verdict as usize] += 1;
    }
    counts
}
