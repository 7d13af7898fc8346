//! Compares docs/OUTPUTS.md, docs/OBJECTIVES.md and docs/PROFILING.md with the code. The tables of columns and fields
//! must match the types of results. The tables of objectives must match the objectives of the program.

use std::fmt::Write;

use gleaner_domain::Objective;
use gleaner_domain::objective::{NAMED, Variable};
use gleaner_domain::results::classes::{ClassRow, ClassTotal, MoveRow};
use gleaner_domain::results::compare::{AnswerRow, IncumbentRow, SolverRow};
use gleaner_domain::results::profile::{FailureRow, PairRow, SingleRow};
use gleaner_domain::results::replay::{
    AllocationRow, DelayRow, FragmentRow, StepRow, Summary, TaskRow, TimingRow,
};
use gleaner_domain::results::reproduce::ReproducedRow;
use gleaner_domain::results::search::{RungRow, SearchRow, TrialRow};
use gleaner_domain::results::simulate::{Delays, PolicyFigures};
use gleaner_domain::results::states::{JobRow, ProfilerJobRow, RunRow, SEQ, ScalingRow};
use gleaner_domain::results::{Field, Figures, Record};
use gleaner_expression::FUNCTIONS;

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

/// A heading or other text that occurs only once on a page, and the table that follows it.
type Placed = (&'static str, String);

/// The tables of objectives, in the order of docs/OBJECTIVES.md.
fn objectives() -> Vec<Placed> {
    let mut names = "| name | expression | what is maximised |\n|---|---|---|\n".to_owned();
    for named in NAMED {
        let expression = named.name.parse::<Objective>().unwrap().expression();
        // An expression may span several lines, but a table row must be a single line.
        let words: Vec<&str> = expression.split_whitespace().collect();
        let _ = writeln!(
            names,
            "| `{}` | `{}` | {} |",
            named.name,
            words.join(" "),
            named.meaning
        );
    }
    let mut variables = "| variable | unit | meaning |\n|---|---|---|\n".to_owned();
    for variable in Variable::ALL {
        let (unit, meaning) = variable.meaning();
        let _ = writeln!(variables, "| `{}` | {unit} | {meaning} |", variable.name());
    }
    let mut functions = "| function |\n|---|\n".to_owned();
    for function in FUNCTIONS {
        let _ = writeln!(functions, "| `{function}` |");
    }
    vec![
        ("## Names", names),
        ("## Expressions", variables),
        ("functions are:", functions),
    ]
}

/// The tables of results, in the order of docs/OUTPUTS.md.
fn results() -> Vec<Placed> {
    let columns = |fields: &[Field]| table("column", fields);
    let of_policy = [Delays::FIELDS, PolicyFigures::FIELDS].concat();
    vec![
        ("## `steps`", columns(StepRow::FIELDS)),
        ("## `tasks`", columns(TaskRow::FIELDS)),
        ("## `allocations`", columns(&AllocationRow::FIELDS)),
        ("## `classes`", columns(ClassRow::FIELDS)),
        ("## `moves`", columns(MoveRow::FIELDS)),
        ("## `class_totals`", columns(ClassTotal::FIELDS)),
        ("## `fragments`", columns(FragmentRow::FIELDS)),
        ("## `delays`", columns(DelayRow::FIELDS)),
        ("## `search`", columns(SearchRow::FIELDS)),
        ("## `trials`", columns(TrialRow::FIELDS)),
        ("## `rungs`", columns(RungRow::FIELDS)),
        ("## `timings`", columns(TimingRow::FIELDS)),
        (
            "## `summary.json` of a replay",
            table("field", Summary::FIELDS),
        ),
        ("## `<policy>_jobs`", columns(JobRow::FIELDS)),
        ("## `<policy>_runs`", columns(RunRow::FIELDS)),
        ("## `<policy>_seq`", columns(&SEQ)),
        ("`profiler_jobs` has", columns(ProfilerJobRow::FIELDS)),
        ("`profiler_scaling` has", columns(ScalingRow::FIELDS)),
        (
            "## `summary.json` of a simulation",
            table("field", &of_policy),
        ),
        ("## `answers`", columns(AnswerRow::FIELDS)),
        ("## `solvers`", columns(SolverRow::FIELDS)),
        ("## `incumbents`", columns(IncumbentRow::FIELDS)),
        ("## `reproduced`", columns(ReproducedRow::FIELDS)),
    ]
}

/// The tables of measurements, in the order of docs/PROFILING.md.
fn profiles() -> Vec<Placed> {
    vec![
        ("`single_data` (CSV", table("column", SingleRow::FIELDS)),
        ("`colocate_info` has", table("column", PairRow::FIELDS)),
        ("`errors.csv` is", table("column", FailureRow::FIELDS)),
    ]
}

#[test]
fn documented_tables_are_those_of_the_code() {
    for (page, tables) in [
        ("docs/OUTPUTS.md", results()),
        ("docs/OBJECTIVES.md", objectives()),
        ("docs/PROFILING.md", profiles()),
    ] {
        gleaner_testing::check_tables(page, &tables, "cargo test --test cli outputs");
    }
}
