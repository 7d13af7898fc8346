//! The suggested window for the replay, and how it is derived.

use crate::figure::{Axis, Colour, Curve, Marks, Shape};
use crate::numbers::{number, percent};
use crate::{Block, Figure, Grid, Head, Section};
use gleaner_domain::words::duration;
use gleaner_inspect::{Inspection, OtherWindow, Suggestion, Window};
use gleaner_runs::inspect::{CostSource, reasons};

/// The section about the suggested window.
pub(super) fn section(log: &Inspection, source: CostSource) -> Section {
    let suggestion = &log.suggestion;
    let mut blocks = Vec::new();
    if suggestion.others.len() > 1 {
        blocks.push(Block::figure(figure(suggestion)));
    }
    if let Some(window) = suggestion.window {
        blocks.push(Block::Grid(derivation(log, window)));
    }
    Section {
        id: "window".to_owned(),
        title: "A window to try".to_owned(),
        lead: reasons(suggestion, source),
        blocks,
    }
}

/// The share of the idle node-time that becomes work, by window.
fn figure(suggestion: &Suggestion) -> Figure {
    let point = |at: &OtherWindow| (at.t_fwd_s, 100.0 * at.useful_share.max(0.0));
    let label = |at: &OtherWindow| format!("--t-fwd {} s", number(at.t_fwd_s));
    let mut curves = vec![Curve {
        name: "Useful share".to_owned(),
        colour: Colour::Series(0),
        shape: Shape::Line,
        points: suggestion.others.iter().map(point).collect(),
        labels: suggestion.others.iter().map(label).collect(),
    }];
    curves.extend(suggestion.window.map(|window| Curve {
        name: "Suggested".to_owned(),
        colour: Colour::Series(1),
        shape: Shape::Points,
        points: vec![(window.t_fwd_s, 100.0 * window.useful_share)],
        labels: vec![format!("suggested: --t-fwd {} s", window.t_fwd_s)],
    }));
    let heads = ["--t-fwd (s)", "useful share of idle node-time"].map(Head::number);
    let mut numbers = Grid::new("Useful share by window", heads);
    for other in &suggestion.others {
        numbers.row([number(other.t_fwd_s), percent(other.useful_share)]);
    }
    Figure {
        id: "window-share".to_owned(),
        title: "Idle node-time that becomes work, by window".to_owned(),
        text: "According to the model below, for tasks whose speed is proportional to their number of nodes. The share is \
               0 where more would be lost than gained."
            .to_owned(),
        x: Axis::duration("--t-fwd"),
        y: Axis::linear("% of idle node-time"),
        numbers,
        marks: Marks::Curves(curves),
    }
}

/// The quantities of the model at the suggested window.
fn derivation(log: &Inspection, window: Window) -> Grid {
    let heads = [
        Head::text("quantity"),
        Head::number("value"),
        Head::text("meaning"),
    ];
    let mut grid = Grid::new("How the window is derived", heads);
    let costs = log.suggestion.costs;
    let loss = window.loss_every_s.map_or("never".to_owned(), duration);
    let rows: [(&str, String, &str); 8] = [
        (
            "L",
            duration(log.fragments.lengths.mean_s),
            "mean length of idle fragments",
        ),
        (
            "up",
            format!("{} s", number(costs.up_s)),
            "progress that a task loses when it grows",
        ),
        (
            "down",
            format!("{} s", number(costs.down_s)),
            "progress that a task loses when it loses nodes",
        ),
        (
            "τ",
            duration(window.growth_every_s),
            "interval at which a task grows, chosen to maximise p(τ)",
        ),
        (
            "F(τ)",
            percent(window.taken_within),
            "probability that an idle node is taken away within τ: Σ min(length, τ) ÷ Σ length",
        ),
        (
            "1 ÷ η",
            loss,
            "mean time between two events at which a task loses nodes",
        ),
        (
            "p(τ)",
            percent(window.useful_share),
            "idle node-time that becomes work: H(τ) · (1 − down · η) − up · (1 − F(τ)) ÷ τ, with \
             H(τ) the mean of 1 − F from 0 to τ",
        ),
        (
            "T",
            format!("{} s", window.t_fwd_s),
            "the shortest window at which taking the unused nodes pays off for a task: up · (1 − F(τ)) ÷ F(τ), \
             rounded to two digits",
        ),
    ];
    for (name, value, meaning) in rows {
        grid.row([name.to_owned(), value, meaning.to_owned()]);
    }
    grid
}
