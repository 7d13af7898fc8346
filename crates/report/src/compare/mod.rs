//! The sections of a page about comparisons of solvers.

use super::names::slug;
use super::numbers::{count, number};
use super::{Block, Section};
use gleaner_runs::read::CompareRun;

mod figure;
mod tables;
mod way;

/// A comparison with its name on the page.
#[derive(Debug, Clone, Copy)]
pub(super) struct Named<'a> {
    pub name: &'a str,
    pub result: &'a CompareRun,
}

/// The sections about `runs`, one for each.
pub(super) fn sections(runs: &[Named<'_>]) -> Vec<Section> {
    let of = |(place, run): (usize, &Named<'_>)| section(run, place + 1, runs.len() > 1);
    runs.iter().enumerate().map(of).collect()
}

fn section(run: &Named<'_>, number: usize, several: bool) -> Section {
    let mut blocks = vec![Block::Grid(tables::solvers(run.result))];
    blocks.extend(tables::programs(run.result).map(Block::Grid));
    blocks.extend(tables::faults(run.result).map(Block::Note));
    blocks.extend(figure::figure(run).map(Block::figure));
    blocks.push(Block::Grid(tables::times(run.result)));
    Section {
        id: match several {
            true => format!("comparison-{number}-{}", slug(run.name)),
            false => "comparison".to_owned(),
        },
        title: match several {
            true => format!("Comparison {}", run.name),
            false => "Solvers compared".to_owned(),
        },
        lead: lead(run.result),
        blocks,
    }
}

/// How many problems there are, and what gaps are to.
fn lead(run: &CompareRun) -> String {
    let problems = run.solvers.iter().map(|row| row.problems + row.refused);
    let problems = match problems.max().unwrap_or(0) {
        1 => "1 problem".to_owned(),
        problems => format!("{} problems", count(problems)),
    };
    let interrupted = match run.complete {
        true => "",
        false => " The comparison was interrupted: answers are missing.",
    };
    format!(
        "{problems}. A gap is how far a plan is from the exact solver's optimum; over time, where that \
         is not known, from the best plan that a solver found.{interrupted}"
    )
}

/// Microseconds in the largest unit that fits: `12.3 µs`, `1.23 ms`, `4.56 s`.
fn time(micros: f64) -> String {
    let units = [(1e6, "s"), (1e3, "ms")];
    let unit = units.iter().find(|(size, _)| micros >= *size);
    let (size, unit) = unit.copied().unwrap_or((1.0, "µs"));
    format!("{} {unit}", number(micros / size))
}

#[cfg(test)]
mod tests {
    use super::*;

    // Small fixed examples.
    #[test]
    fn times_have_a_unit_that_fits() {
        let times = [0.25, 12.34, 1_230.0, 4.56e6, 7.2e9].map(time);
        assert_eq!(
            times,
            ["0.250 µs", "12.3 µs", "1.23 ms", "4.56 s", "7,200 s"]
        );
    }
}
