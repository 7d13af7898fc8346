//! docs/OUTPUTS.md against the types of results: the page's tables of columns and fields are
//! theirs.

use std::fmt::Write;
use std::fs;

use gleaner_core::results::replay::{
    AllocationRow, FragmentRow, StepRow, Summary, TaskRow, TimingRow,
};
use gleaner_core::results::simulate::{Delays, PolicyFigures};
use gleaner_core::results::states::{JobRow, PROFILER_JOBS, PROFILER_SCALING, SEQ};
use gleaner_core::results::{Field, Figures, Record};

/// If this variable is set, the tables are written instead of compared.
const WRITE: &str = "WRITE_DOCS";

fn table(first: &str, fields: &[Field]) -> String {
    let mut out = format!("| {first} | unit | meaning |\n|---|---|---|\n");
    for field in fields {
        let unit = match field.unit {
            "" => String::new(),
            unit => format!("{unit} "),
        };
        let _ = writeln!(
            out,
            "| `{}` | {unit}| {} |",
            field.name,
            field.meaning.trim()
        );
    }
    out
}

/// The page's tables, in its order. Each follows a heading or text that occurs only once.
fn tables() -> Vec<(&'static str, String)> {
    let columns = |fields: &[Field]| table("column", fields);
    let of_policy = [Delays::FIELDS, PolicyFigures::FIELDS].concat();
    vec![
        ("## `steps`", columns(StepRow::FIELDS)),
        ("## `tasks`", columns(TaskRow::FIELDS)),
        ("## `allocations`", columns(&AllocationRow::FIELDS)),
        ("## `fragments`", columns(FragmentRow::FIELDS)),
        ("## `timings`", columns(TimingRow::FIELDS)),
        (
            "## `summary.json` of a replay",
            table("field", Summary::FIELDS),
        ),
        ("## `<policy>_jobs`", columns(JobRow::FIELDS)),
        ("## `<policy>_seq`", columns(&SEQ)),
        ("`profiler_jobs` has", columns(&PROFILER_JOBS)),
        ("`profiler_scaling` has", columns(&PROFILER_SCALING)),
        (
            "## `summary.json` of a simulation",
            table("field", &of_policy),
        ),
    ]
}

/// The page with these tables in place of its own.
fn rewritten(page: &str) -> String {
    let (mut out, mut rest) = (String::new(), page);
    for (before, table) in tables() {
        assert_eq!(page.matches(&format!("\n{before}")).count(), 1, "{before}");
        let at = rest.find(&format!("\n{before}")).unwrap();
        let start = at + rest[at..].find("\n|").unwrap() + 1;
        let end = start + rest[start..].find("\n\n").unwrap() + 1;
        out += &rest[..start];
        out += &table;
        rest = &rest[end..];
    }
    out + rest
}

#[test]
fn documented_columns_are_those_of_the_results() {
    let path = gleaner_testing::workspace().join("docs/OUTPUTS.md");
    let page = fs::read_to_string(&path).unwrap();
    let expected = rewritten(&page);
    if std::env::var_os(WRITE).is_some() {
        fs::write(path, expected).unwrap();
        return;
    }
    let differs = page.lines().zip(expected.lines()).find(|(a, b)| a != b);
    assert!(
        page == expected,
        "{differs:?}: have the tables written by {WRITE}=1 cargo test --test cli outputs"
    );
}
