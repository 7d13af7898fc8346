//! The section that states how the runs on a page were made.

use super::names::{cut, short};
use super::numbers::count;
use super::{Block, Grid, Head, Section};
use gleaner_runs::read::RunInfo;

/// Maximum number of arguments, and of inputs, that are listed for a run.
const MAX_ROWS: usize = 200;
/// Maximum displayed length of a value or path, in characters.
const SHOWN: usize = 300;

/// The section with the arguments and inputs of each run.
pub(super) fn section<'a>(runs: impl Iterator<Item = (&'a RunInfo, &'a String)>) -> Section {
    Section {
        id: "made".to_owned(),
        title: "How these results were made".to_owned(),
        lead: "The same inputs, arguments and version give the same results, except for measured times.".to_owned(),
        blocks: runs.flat_map(|(info, name)| of(info, name)).collect(),
    }
}

fn of(info: &RunInfo, name: &str) -> [Block; 2] {
    let title = format!(
        "{name}: gleaner {} {}, arguments",
        short(&info.command),
        short(&info.version)
    );
    let mut arguments = Grid::new(title, [Head::text("argument"), Head::text("value")]);
    if !info.complete {
        arguments.row([
            "(state)".to_owned(),
            "interrupted before it finished".to_owned(),
        ]);
    }
    for (argument, value) in info.given().take(MAX_ROWS) {
        arguments.row([short(argument).replace('_', "-"), cut(&value, SHOWN)]);
    }
    let heads = [
        Head::text("file"),
        Head::number("bytes"),
        Head::text("SHA-256"),
    ];
    let mut inputs = Grid::new(format!("{name}: inputs"), heads);
    for input in info.inputs.iter().take(MAX_ROWS) {
        inputs.row([
            cut(&input.path, SHOWN),
            count(input.bytes),
            short(&input.sha256),
        ]);
    }
    [Block::Folded(arguments), Block::Folded(inputs)]
}
