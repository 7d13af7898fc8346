//! The sections of a page about a trained model.

use gleaner_learn::ebm::{Cell, Term};

use super::numbers::{count, number};
use super::{Block, Section, Tile};
use gleaner_core::domain::Time;
use gleaner_core::words::printable;
use gleaner_predict::explanation::{
    EbmFacts, EstimatorFacts, Explanation, Importance, LabelledEbm, Prediction,
};

mod estimators;
mod importances;
mod pair;
mod prediction;
mod shape;
mod tree;

/// Number of features with a curve if the user asks for no terms.
const SHAPES: usize = 8;
/// Number of pairs with a map if the user asks for no terms.
const PAIRS: usize = 4;

/// The sections about a model. The terms drawn are those of `machine`.
pub(super) fn sections(told: &Explanation, machine: Option<&LabelledEbm<'_>>) -> Vec<Section> {
    let mut sections = vec![model(told)];
    sections.extend(told.prediction.as_ref().map(one));
    if let Some(machine) = machine {
        sections.extend(terms(told, machine));
    }
    sections
}

/// The section about the whole model: tiles, importances, the tree, the trial of the estimators,
/// and the training files.
fn model(told: &Explanation) -> Section {
    let mut blocks = vec![Block::Tiles(tiles(told))];
    for facts in &told.machines {
        blocks.push(Block::figure(importances::of_machine(facts)));
    }
    if let Some(facts) = &told.tree {
        blocks.push(Block::figure(importances::of_tree(facts)));
        blocks.push(Block::Grid(tree::grid(facts)));
    }
    let trial = told.estimator.as_ref().and_then(estimators::grid);
    blocks.extend(trial.map(Block::Grid));
    let note = told.estimator.as_ref().and_then(estimators::note);
    blocks.extend(note.map(Block::Note));
    blocks.push(Block::Folded(importances::inputs(told)));
    Section {
        id: "model".to_owned(),
        title: "What it depends on".to_owned(),
        lead: lead(told),
        blocks,
    }
}

fn lead(told: &Explanation) -> String {
    match (&told.tree, told.machines.is_empty(), &told.estimator) {
        (Some(_), ..) => "Decisions, one after the other, lead to a sharing score.".to_owned(),
        (None, true, Some(facts)) => estimators::lead(facts),
        _ => "A prediction is the average over the training rows plus a score from each term, a \
              feature or a pair of them."
            .to_owned(),
    }
}

/// Cells with printable names of bins: names of categories come from files.
fn shown(mut cells: Vec<Cell>) -> Vec<Cell> {
    for bin in cells.iter_mut().flat_map(|cell| &mut cell.bins) {
        *bin = printable(bin).into_owned();
    }
    cells
}

fn tiles(told: &Explanation) -> Vec<Tile> {
    let tile = |name: &str, value: String, remark: String| Tile {
        name: name.to_owned(),
        value,
        remark,
    };
    let span = match (told.trained.from, told.trained.to) {
        (Some(from), Some(to)) => format!("{} to {}", Time::from(from), Time::from(to)),
        _ => String::new(),
    };
    let mut tiles = vec![tile("Training rows", count(told.trained.rows as u64), span)];
    let estimator = |facts: &EstimatorFacts| {
        let title = facts.name.title().to_owned();
        tile("Estimator", title, facts.learnt.clone())
    };
    tiles.extend(told.estimator.as_ref().map(estimator));
    let mean = |facts: &EbmFacts| {
        let name = format!("Average of {}", facts.label.name());
        tile(&name, number(facts.intercept), facts.unit.to_owned())
    };
    tiles.extend(told.machines.iter().map(mean));
    let strongest =
        |name: String, term: &Importance| tile(&name, term.term.clone(), number(term.importance));
    for facts in &told.machines {
        let name = format!("Strongest for {}", facts.label.name());
        tiles.extend(facts.importances.first().map(|term| strongest(name, term)));
    }
    if let Some(tree) = &told.tree {
        let first = tree.importances.first();
        tiles.push(tile(
            "Nodes",
            count(tree.nodes as u64),
            "leaves included".to_owned(),
        ));
        tiles.extend(first.map(|term| strongest("Strongest".to_owned(), term)));
    }
    tiles
}

/// The section about one prediction.
fn one(told: &Prediction) -> Section {
    let (subject, block) = match told {
        Prediction::Sum(sum) => (&sum.subject, Block::figure(prediction::figure(sum))),
        Prediction::Way(way) => (&way.subject, Block::Grid(prediction::way(way))),
        Prediction::Rule(rule) => (&rule.subject, Block::Grid(prediction::rule(rule))),
    };
    Section {
        id: "one".to_owned(),
        title: "One prediction".to_owned(),
        lead: format!("How the prediction for {} comes about.", printable(subject)),
        blocks: vec![block],
    }
}

/// The sections with the terms that the user asked for, or else with the strongest ones.
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
