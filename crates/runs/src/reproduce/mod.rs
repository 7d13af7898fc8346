//! Published values and our values, side by side, as a table and as a Markdown document.

mod cells;

use std::fmt::Write;

use gleaner_document::numbers::count;
use gleaner_document::{Fact, Grid, Head, Kind};
use gleaner_domain::results::reproduce::{
    Artifact, Basis, ReproducedRow, System, Verdict, count_verdicts,
};
use gleaner_domain::results::{Named, Table};

pub use cells::grid;

/// The rows of all artifacts, in order.
pub fn rows(artifacts: &[Artifact]) -> Vec<ReproducedRow> {
    artifacts
        .iter()
        .flat_map(|artifact| artifact.rows.clone())
        .collect()
}

/// The table `reproduced` with these rows.
pub fn table(rows: &[ReproducedRow]) -> Table<'_> {
    Table::of("reproduced", rows)
}

/// The text of the document before the tables.
const HEAD: &str = "\
# Published values, reproduced

`gleaner reproduce all --data DIR -o DIR` generates this page and computes every value on it.
`gleaner reproduce all --list` lists the files for DIR and their sources. A test compares this page with a new run.

Each value is shown next to the published value. The verdict depends only on these two values:

- **equal**: our value, rounded to the published number of decimals, equals the published value.
- **within 1 %**, **within 5 %**, **within 10 %**: the difference as a share of the published value. For curves that
  cross zero, the difference is a share of the range of the published curve.
- **differs**: the difference is more than 10 %.
- **not reproducible**: the value requires information that is not public. The note states what is missing.
- **left out**: the value could be computed, but is not. The note gives the reason.
- **no published value**: only our value is shown, because no published value exists or is available.

Simulations, replays and optima are deterministic: every verdict other than *equal* needs an explanation. The
results of trained models vary: their last digits depend on seeds, library versions and rounding. For such models,
read *equal* and *within 1 %* as *within 5 %*. A *reference run* is a run of the authors' code or of
another program that the source names. *Published* values come from the authors' papers and files. Each table names its
source.
";

/// The heading of the table of counts.
const COUNTS: &str = "\nNumber of values by verdict:\n\n";

/// The Markdown document with all artifacts.
pub fn markdown(artifacts: &[Artifact]) -> String {
    let mut out = HEAD.to_owned();
    out.push_str(COUNTS);
    out += &text(&counts(artifacts));
    for system in System::ALL {
        let mut own = artifacts
            .iter()
            .filter(|artifact| artifact.system == *system)
            .peekable();
        if own.peek().is_some() {
            let _ = write!(out, "\n## {}\n", system.title());
        }
        own.for_each(|artifact| section(artifact, &mut out));
    }
    out
}

/// Counts the values by system, by basis (published or reference run), and by verdict.
pub fn counts(artifacts: &[Artifact]) -> Grid {
    let verdicts = Verdict::ALL
        .iter()
        .map(|verdict| Head::number(verdict.name()));
    let heads = ["system", "compared with"].map(Head::text);
    let heads = heads.into_iter().chain(verdicts);
    let mut grid = Grid::new("Values by system and verdict", heads);
    for system in System::ALL {
        for basis in Basis::ALL {
            let of = |row: &&ReproducedRow| row.system == *system && row.basis == *basis;
            let own: Vec<_> = artifacts.iter().flat_map(|a| &a.rows).filter(of).collect();
            if !own.is_empty() {
                let names = [system.title().to_owned(), basis.name().to_owned()];
                let counts = count_verdicts(own).map(|count| count.to_string());
                grid.row(names.into_iter().chain(counts));
            }
        }
    }
    grid
}

/// The number of values with each verdict.
pub fn verdicts(artifacts: &[Artifact]) -> Vec<Fact> {
    let totals = count_verdicts(artifacts.iter().flat_map(|artifact| &artifact.rows));
    let fact = |verdict: &Verdict| Fact::main(verdict.name(), count(totals[*verdict as usize]));
    Verdict::ALL.iter().map(fact).collect()
}

fn section(artifact: &Artifact, out: &mut String) {
    let source = source(artifact);
    let _ = write!(
        out,
        "\n### {}\n\n{}\n\n{source}\n\n{}",
        artifact.title,
        artifact.text,
        text(&grid(artifact))
    );
}

/// A sentence that names the source of the published values.
pub fn source(artifact: &Artifact) -> String {
    let what = match artifact.basis {
        Basis::Published => "Published",
        Basis::ReferenceRun => "Reference run",
    };
    format!("{what}: {}.", artifact.source)
}

/// A table in Markdown.
fn text(grid: &Grid) -> String {
    let line = |cells: Vec<&String>| {
        let cells: Vec<String> = cells.iter().map(|cell| cell.replace('|', "\\|")).collect();
        format!("| {} |\n", cells.join(" | "))
    };
    let mut out = line(grid.heads.iter().map(|head| &head.name).collect());
    let rules = grid.heads.iter().map(|head| match head.kind {
        Kind::Number => "---:",
        Kind::Text | Kind::Bar => "---",
    });
    let _ = writeln!(out, "|{}|", rules.collect::<Vec<_>>().join("|"));
    out.extend(grid.rows.iter().map(|cells| line(cells.iter().collect())));
    out
}

#[cfg(test)]
mod tests;
