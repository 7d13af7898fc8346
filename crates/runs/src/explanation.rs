//! The explanation of a model as text and as JSON.

use std::borrow::Cow;
use std::fmt::Write;

use crate::training;
use gleaner_core::domain::Time;
use gleaner_core::error::{Error, Result};
use gleaner_core::words::{counted, printable};
use gleaner_io::text_table::TextTable;
use gleaner_predict::explanation::{
    EbmFacts, EstimatorFacts, Explanation, Importance, Part, Prediction, Rule, Sum, TermFacts,
    TreeFacts, Way,
};

/// The explanation as JSON.
///
/// # Errors
/// Never in practice. A failure of the serialiser is passed on.
pub fn json(explanation: &Explanation) -> Result<String> {
    let json = serde_json::to_string_pretty(explanation);
    json.map(|text| ascii_of_controls(&text) + "\n")
        .map_err(|error| Error::Run(error.to_string()))
}

/// JSON that is safe to print: characters that control a terminal are written as JSON escapes. Only
/// texts contain such characters, and their meaning stays the same.
fn ascii_of_controls(json: &str) -> String {
    let lines = json.lines().map(|line| {
        let mut out = String::with_capacity(line.len());
        for c in line.chars() {
            match printable(c.encode_utf8(&mut [0; 4])) {
                Cow::Borrowed(same) => out.push_str(same),
                Cow::Owned(_) => {
                    let _ = write!(out, "\\u{:04x}", u32::from(c));
                }
            }
        }
        out
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// The explanation as text: the terms and the prediction asked for, or else the whole model.
pub fn text(explanation: &Explanation) -> String {
    let mut out = String::new();
    for term in &explanation.terms {
        shape(&mut out, term);
    }
    match &explanation.prediction {
        Some(Prediction::Sum(told)) => sum(&mut out, told),
        Some(Prediction::Way(told)) => way(&mut out, told),
        Some(Prediction::Rule(told)) => rule(&mut out, told),
        None if explanation.terms.is_empty() => overview(&mut out, explanation),
        None => {}
    }
    out.trim_start().to_owned()
}

fn overview(out: &mut String, explanation: &Explanation) {
    let span = explanation.trained;
    let when = match (span.from, span.to) {
        (Some(from), Some(to)) => format!(", {} to {}", Time::from(from), Time::from(to)),
        _ => String::new(),
    };
    let kind = match (&explanation.tree, &explanation.estimator) {
        (Some(_), _) => "decision tree",
        (None, Some(facts)) => facts.name.title(),
        (None, None) => "explainable boosting machine",
    };
    let _ = writeln!(
        out,
        "A {} model ({kind}), trained on {} rows{when}",
        explanation.kind, span.rows
    );
    for input in &explanation.inputs {
        let [path, sha256] = [&input.path, &input.sha256].map(|text| printable(text));
        let _ = writeln!(out, "  {path}  SHA-256 {sha256}");
    }
    if let Some(facts) = &explanation.estimator {
        estimator(out, facts);
    }
    for facts in &explanation.machines {
        machine(out, facts);
    }
    if let Some(facts) = &explanation.tree {
        tree(out, facts);
    }
}

fn estimator(out: &mut String, facts: &EstimatorFacts) {
    if let Some(trial) = &facts.trial {
        let _ = write!(out, "\n{}", training::trial(trial, facts.chosen));
    }
    if !facts.learnt.is_empty() {
        let _ = writeln!(
            out,
            "\nThe {} has learnt {}. It has no terms; choose a machine, as with --estimator ebm.",
            facts.name.title(),
            facts.learnt
        );
    }
}

fn machine(out: &mut String, facts: &EbmFacts) {
    let _ = write!(
        out,
        "\nThe machine for {}: {} on average ({}).\nWhat each term adds or takes, on average:\n{}",
        facts.label.name(),
        number(facts.intercept),
        facts.unit,
        importances("mean |score|", &facts.importances)
    );
}

fn tree(out: &mut String, facts: &TreeFacts) {
    let _ = write!(
        out,
        "\nThe tree: rows of each node, in brackets by sharing score; after an arrow the score it \
         gives.\n{}\nWhat its splits use, as shares:\n{}",
        facts.text,
        importances("importance", &facts.importances)
    );
}

fn importances(head: &str, terms: &[Importance]) -> TextTable {
    let row = |term: &Importance| vec![term.term.clone(), number(term.importance)];
    TextTable::new(["term", head], terms.iter().map(row))
}

fn shape(out: &mut String, term: &TermFacts) {
    let heads = term.features.iter().map(String::as_str);
    let heads = heads.chain(["score", "± over bags", "training rows"]);
    let row = |cell: &gleaner_learn::ebm::Cell| {
        let numbers = [
            signed(cell.score),
            number(cell.deviation),
            cell.rows.to_string(),
        ];
        let bins = cell.bins.iter().map(|bin| printable(bin).into_owned());
        bins.chain(numbers).collect()
    };
    let _ = write!(
        out,
        "\n{}, for {}: what it adds to the prediction ({}), {} on average\n{}",
        term.term,
        term.label.name(),
        term.unit,
        number(term.importance),
        TextTable::new(heads, term.cells.iter().map(row))
    );
}

fn sum(out: &mut String, told: &Sum) {
    let factors = told.contributions.iter().any(|part| part.factor.is_some());
    let mut heads = vec!["term", "bin", "adds"];
    heads.extend(factors.then_some("factor"));
    let row = |part: &Part| {
        let mut cells = vec![
            part.contribution.term.clone(),
            printable(&part.contribution.bins.join(" & ")).into_owned(),
            signed(part.contribution.score),
        ];
        cells.extend(part.factor.map(|factor| format!("× {}", number(factor))));
        cells
    };
    let line = |name: &str, value: f64| {
        let mut cells = vec![name.to_owned(), String::new(), number(value)];
        cells.extend(factors.then(String::new));
        cells
    };
    let rows = std::iter::once(line("on average", told.intercept))
        .chain(told.contributions.iter().map(row))
        .chain([line("sum", told.prediction)]);
    let _ = write!(
        out,
        "\nThe {} predicted for {}, in {}\n{}",
        told.label.name(),
        printable(&told.subject),
        told.unit,
        TextTable::new(heads, rows)
    );
    if factors {
        out.push_str("A factor is what the term multiplies 1 + seconds by.\n");
    }
    if let Some(seconds) = told.seconds {
        let _ = writeln!(out, "Predicted: {seconds:.0} s");
    }
}

fn way(out: &mut String, told: &Way) {
    let _ = writeln!(out, "\nThe sharing score of {}", printable(&told.subject));
    for (depth, step) in told.steps.iter().enumerate() {
        let _ = writeln!(out, "{:indent$}{step}", "", indent = 2 * depth);
    }
    let rows: Vec<String> = told.rows.iter().map(usize::to_string).collect();
    let _ = writeln!(
        out,
        "score {}: where training rows by score are {}",
        told.score,
        rows.join(", ")
    );
}

fn rule(out: &mut String, told: &Rule) {
    let subject = printable(&told.subject);
    let _ = writeln!(
        out,
        "\nThe duration estimated for {subject}: {:.0} s",
        told.seconds
    );
    if let Some(jobs) = told.jobs {
        let jobs = counted(jobs, "past job");
        let alike = match printable(&told.alike) {
            none if none.is_empty() => "of all users".into(),
            alike => alike,
        };
        let _ = writeln!(out, "The mean of {jobs}: {alike}");
    }
}

/// A score, with a plus sign if it is positive.
fn signed(value: f64) -> String {
    let text = number(value);
    match value > 0.0 {
        true => format!("+{text}"),
        false => text,
    }
}

/// A number with about four significant digits.
fn number(value: f64) -> String {
    match value.abs() {
        0.0 => "0".to_owned(),
        size if size >= 1000.0 => format!("{value:.0}"),
        size if size >= 10.0 => format!("{value:.2}"),
        size if size >= 1e-4 => format!("{value:.4}"),
        _ => format!("{value:.1e}"),
    }
}
