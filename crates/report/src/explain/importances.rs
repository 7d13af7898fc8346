//! The importances of a model's terms or features as bars.

use crate::figure::{Axis, Colour, Marks, Part};
use crate::numbers::number;
use crate::{Figure, Grid};
use gleaner_predict::explanation::{EbmFacts, Importance, TreeFacts};
use gleaner_runs::explanation;

/// Maximum number of bars.
const BARS: usize = 15;

/// A bar for each term of a machine, as long as the term's mean absolute score.
pub(super) fn of_machine(facts: &EbmFacts) -> Figure {
    let label = facts.label.name();
    Figure {
        id: format!("importances-{label}"),
        title: format!("What the machine for {label} depends on"),
        text: format!(
            "The amount that each term adds or subtracts, on average over the training rows. a & b is \
             the joint effect of two features, beyond their separate effects. The chart shows {} of {} terms.",
            facts.importances.len().min(BARS),
            facts.importances.len()
        ),
        ..bars(&facts.importances, explanation::of_machine(facts))
    }
}

/// A bar for each feature of a tree, as long as the feature's importance.
pub(super) fn of_tree(facts: &TreeFacts) -> Figure {
    Figure {
        title: "What the tree depends on".to_owned(),
        text: "How much the splits by each feature reduce the impurity (how mixed the scores \
               of a node's rows are), as shares of the total reduction."
            .to_owned(),
        ..bars(&facts.importances, explanation::of_tree(facts))
    }
}

fn bars(terms: &[Importance], numbers: Grid) -> Figure {
    let shown = &terms[..terms.len().min(BARS)];
    let axis = numbers.heads[1].name.clone();
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
