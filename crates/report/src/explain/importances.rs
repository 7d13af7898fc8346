//! The importances of a model's terms or features as bars, and its training files.

use crate::figure::{Axis, Colour, Marks, Part};
use crate::names::cut;
use crate::numbers::number;
use crate::{Figure, Grid, Head};
use gleaner_core::words::printable;
use gleaner_predict::explanation::{EbmFacts, Explanation, Importance, TreeFacts};

/// Maximum number of bars.
const BARS: usize = 15;
/// Maximum number of characters of a path.
const PATH: usize = 300;

/// Bars of the mean absolute scores of a machine's terms.
pub(super) fn of_machine(facts: &EbmFacts) -> Figure {
    let label = facts.label.name();
    Figure {
        id: format!("importances-{label}"),
        title: format!("What the machine for {label} depends on"),
        text: format!(
            "How much each term adds or takes, on average over the training rows; a & b is what \
             two features do together, beyond what each does alone. {} of {} terms.",
            facts.importances.len().min(BARS),
            facts.importances.len()
        ),
        ..bars(
            &facts.importances,
            format!("mean absolute score, {}", facts.unit),
        )
    }
}

/// Bars of the importances of a tree's features.
pub(super) fn of_tree(facts: &TreeFacts) -> Figure {
    Figure {
        title: "What the tree depends on".to_owned(),
        text: "What the splits by each feature take away of the impurity (how mixed the scores \
               of a node's rows are), as shares of all that is taken away."
            .to_owned(),
        ..bars(&facts.importances, "share".to_owned())
    }
}

fn bars(terms: &[Importance], axis: String) -> Figure {
    let shown = &terms[..terms.len().min(BARS)];
    let mut numbers = Grid::new("All terms", [Head::text("term"), Head::number(&axis)]);
    for term in terms {
        numbers.row([term.term.clone(), number(term.importance)]);
    }
    Figure {
        id: "importances".to_owned(),
        title: String::new(),
        text: String::new(),
        x: Axis::spread(axis),
        y: Axis::names("", shown.iter().map(|term| term.term.clone()).collect()),
        marks: Marks::Bars(vec![Part {
            name: "Importance".to_owned(),
            colour: Colour::Series(0),
            values: shown.iter().map(|term| term.importance).collect(),
            labels: shown.iter().map(|term| number(term.importance)).collect(),
        }]),
        numbers,
    }
}

/// The files that the model was trained on.
pub(super) fn inputs(told: &Explanation) -> Grid {
    let heads = [Head::text("file"), Head::text("SHA-256")];
    let mut grid = Grid::new("Trained on", heads);
    for input in &told.inputs {
        let [path, sha256] = [&input.path, &input.sha256].map(|text| cut(&printable(text), PATH));
        grid.row([path, sha256]);
    }
    grid
}
