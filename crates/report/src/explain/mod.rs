//! The sections of a page about a trained model.

use gleaner_learn::ebm::{Cell, Term};

use super::{Block, Section};
use gleaner_domain::words::printable;
use gleaner_predict::explanation::{Explanation, LabelledEbm, Prediction};
use gleaner_runs::{explanation, training};

mod importances;
mod pair;
mod prediction;
mod shape;

/// Maximum number of features with a curve if the user names no terms.
const SHAPES: usize = 8;
/// Maximum number of pairs with a heat map if the user names no terms.
const PAIRS: usize = 4;

/// The sections about a model. Figures of terms are drawn for `machine`, if there is one.
pub(super) fn sections(told: &Explanation, machine: Option<&LabelledEbm<'_>>) -> Vec<Section> {
    let mut sections = vec![model(told)];
    sections.extend(told.prediction.as_ref().map(one));
    if let Some(machine) = machine {
        sections.extend(terms(told, machine));
    }
    sections
}

/// The section about the whole model: facts, importances, the tree, the estimators' scores on
/// held-out jobs, and the training files.
fn model(told: &Explanation) -> Section {
    let mut blocks = vec![Block::Facts(explanation::facts(told))];
    for facts in &told.machines {
        blocks.push(Block::figure(importances::of_machine(facts)));
    }
    if let Some(facts) = &told.tree {
        blocks.push(Block::figure(importances::of_tree(facts)));
        blocks.push(Block::Grid(explanation::tree(facts)));
    }
    if let Some(facts) = &told.estimator {
        let trial = facts.trial.as_ref();
        blocks.extend(
            trial
                .into_iter()
                .flat_map(|trial| training::trial(trial, facts.chosen)),
        );
    }
    blocks.push(Block::Folded(explanation::inputs(told)));
    Section {
        id: "model".to_owned(),
        title: "What the model depends on".to_owned(),
        lead: lead(told),
        blocks,
    }
}

fn lead(told: &Explanation) -> String {
    match (&told.tree, explanation::without_terms(told)) {
        (Some(_), _) => "A sequence of decisions leads to a sharing score.".to_owned(),
        (None, Some(without)) => without,
        (None, None) => {
            "A prediction is the average over the training rows plus a score from each term. \
             A term is a feature or a pair of features."
                .to_owned()
        }
    }
}

/// Escapes control characters in the names of bins, because the names of categories come from files.
fn shown(mut cells: Vec<Cell>) -> Vec<Cell> {
    for bin in cells.iter_mut().flat_map(|cell| &mut cell.bins) {
        *bin = printable(bin).into_owned();
    }
    cells
}

/// The section about one prediction.
fn one(told: &Prediction) -> Section {
    let (subject, block) = match told {
        Prediction::Sum(sum) => (&sum.subject, Block::figure(prediction::figure(sum))),
        Prediction::Way(way) => (&way.subject, Block::Grid(explanation::way(way))),
        Prediction::Rule(rule) => (&rule.subject, Block::Facts(vec![explanation::rule(rule)])),
    };
    Section {
        id: "one".to_owned(),
        title: "One prediction".to_owned(),
        lead: format!(
            "This section explains the prediction for {}.",
            printable(subject)
        ),
        blocks: vec![block],
    }
}

/// The sections about the terms that the user named, or about the strongest terms if the user named none.
fn terms(told: &Explanation, machine: &LabelledEbm<'_>) -> Vec<Section> {
    let (features, pairs) = chosen(told, machine);
    let section = |id: &str, title: &str, blocks: Vec<Block>| Section {
        id: id.to_owned(),
        title: format!("{title} for {}", machine.label.name()),
        lead: format!("Scores are in {}.", machine.unit),
        blocks,
    };
    let shapes = features
        .into_iter()
        .map(|term| shape::figure(machine, term));
    let maps = pairs.into_iter().map(|term| pair::figure(machine, term));
    let sections = [
        section("features", "Features", shapes.map(Block::figure).collect()),
        section(
            "pairs",
            "Pairs of features",
            maps.map(Block::figure).collect(),
        ),
    ];
    let drawn = |section: &Section| !section.blocks.is_empty();
    sections.into_iter().filter(drawn).collect()
}

fn chosen<'m>(told: &Explanation, machine: &LabelledEbm<'m>) -> (Vec<&'m Term>, Vec<&'m Term>) {
    let asked = |name: &str| told.terms.iter().any(|term| term.term == name);
    let all = told.terms.is_empty();
    let terms = machine.strongest().into_iter();
    let terms = terms.filter(|(importance, _)| all || asked(&importance.term));
    let (mut features, mut pairs): (Vec<&Term>, Vec<&Term>) = terms
        .map(|(_, term)| term)
        .partition(|term| term.axes().len() == 1);
    if all {
        features.truncate(SHAPES);
        pairs.truncate(PAIRS);
    }
    (features, pairs)
}
