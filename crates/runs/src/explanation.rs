//! The explanation of a model as facts and tables for the terminal and the page, and as JSON.

use std::borrow::Cow;
use std::fmt::Write;

use crate::training;
use gleaner_document::names::cut;
use gleaner_document::numbers::count;
use gleaner_document::{Block, Fact, Grid, Head};
use gleaner_domain::Local;
use gleaner_domain::error::{Error, Result};
use gleaner_domain::words::{counted, printable};
use gleaner_predict::explanation::{
    EbmFacts, Explanation, Importance, Part, Prediction, Rule, Sum, TermFacts, TreeFacts, Way,
};

/// Maximum displayed length of a path, in characters.
const PATH: usize = 300;

/// The explanation as JSON.
///
/// # Errors
/// Returns an error if serialisation fails, which does not occur in practice.
pub fn json(explanation: &Explanation) -> Result<String> {
    let json = serde_json::to_string_pretty(explanation);
    json.map(|text| ascii_of_controls(&text) + "\n")
        .map_err(|error| Error::Run(error.to_string()))
}

/// JSON that is safe to print: characters that control a terminal are written as JSON escapes. Such characters occur
/// only in strings, whose meaning stays the same.
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

/// The output of `gleaner explain`: the requested terms and prediction, or the whole model if neither was requested.
pub fn printed(explanation: &Explanation) -> Vec<Block> {
    let terms = explanation.terms.iter();
    let mut blocks: Vec<Block> = terms.map(|term| Block::Grid(self::term(term))).collect();
    match &explanation.prediction {
        Some(Prediction::Sum(told)) => {
            blocks.push(Block::Grid(sum(told)));
            let seconds = told.seconds.map(|seconds| format!("{seconds:.0} s"));
            let predicted = seconds.map(|seconds| vec![Fact::main("predicted", seconds)]);
            blocks.extend(predicted.map(Block::Facts));
        }
        Some(Prediction::Way(told)) => blocks.push(Block::Grid(way(told))),
        Some(Prediction::Rule(told)) => blocks.push(Block::Facts(vec![rule(told)])),
        None if explanation.terms.is_empty() => blocks.extend(overview(explanation)),
        None => {}
    }
    blocks
}

fn overview(explanation: &Explanation) -> Vec<Block> {
    let mut blocks = vec![
        Block::Facts(facts(explanation)),
        Block::Grid(inputs(explanation)),
    ];
    if let Some(estimator) = &explanation.estimator {
        let trial = estimator.trial.as_ref();
        blocks.extend(
            trial
                .into_iter()
                .flat_map(|trial| training::trial(trial, estimator.chosen)),
        );
    }
    blocks.extend(without_terms(explanation).map(Block::Note));
    let machines = explanation.machines.iter().map(of_machine);
    blocks.extend(machines.map(Block::Grid));
    if let Some(facts) = &explanation.tree {
        blocks.extend([tree(facts), of_tree(facts)].map(Block::Grid));
    }
    blocks
}

/// A few facts that summarise the whole model.
pub fn facts(explanation: &Explanation) -> Vec<Fact> {
    let span = match (explanation.trained.from, explanation.trained.to) {
        (Some(from), Some(to)) => format!("from {} to {}", Local::from(from), Local::from(to)),
        _ => String::new(),
    };
    let kind = match (&explanation.tree, &explanation.estimator) {
        (Some(_), _) => "decision tree",
        (None, Some(facts)) => facts.name.title(),
        (None, None) => "explainable boosting machine",
    };
    let mut all = vec![
        Fact::main("model", explanation.kind.to_string()).remark(format!("({kind})")),
        Fact::main("training rows", count(explanation.trained.rows)).remark(span),
    ];
    let strongest = |term: &Importance| {
        Fact::main("strongest term", term.term.clone())
            .remark(format!("({})", number(term.importance)))
    };
    for machine in &explanation.machines {
        let label = format!("average of {}", machine.label.name());
        let average = Fact::main(label, number(machine.intercept));
        all.push(average.remark(format!("({})", machine.unit)));
        all.extend(machine.importances.first().map(|term| Fact {
            depth: 1,
            ..strongest(term)
        }));
    }
    if let Some(tree) = &explanation.tree {
        all.push(Fact::main("nodes", count(tree.nodes)).remark("leaves included"));
        all.extend(tree.importances.first().map(strongest));
    }
    all
}

/// The note about an estimator without terms; `None` for other models.
pub fn without_terms(explanation: &Explanation) -> Option<String> {
    let facts = explanation.estimator.as_ref()?;
    (!facts.learnt.is_empty()).then(|| {
        format!(
            "The {} has learnt {}. It has no terms. To see terms, choose a boosting machine, for example with \
             --estimator ebm.",
            facts.name.title(),
            facts.learnt
        )
    })
}

/// A table of the files on which the model was trained.
pub fn inputs(explanation: &Explanation) -> Grid {
    let heads = ["file", "SHA-256"].map(Head::text);
    Grid::of("Trained on", heads, &explanation.inputs, |input| {
        [&input.path, &input.sha256].map(|text| cut(&printable(text), PATH))
    })
}

/// A table of the importance of each term of an explainable boosting machine.
pub fn of_machine(facts: &EbmFacts) -> Grid {
    let title = format!(
        "The machine for {}: what each term adds or subtracts, on average",
        facts.label.name()
    );
    importances(
        title,
        format!("mean |score|, {}", facts.unit),
        &facts.importances,
    )
}

/// A table of the importance of each feature in a tree.
pub fn of_tree(facts: &TreeFacts) -> Grid {
    let head = "importance".to_owned();
    importances(
        "Importance of each feature in the splits, as a share".to_owned(),
        head,
        &facts.importances,
    )
}

fn importances(title: String, head: String, terms: &[Importance]) -> Grid {
    Grid::of(
        title,
        [Head::text("term"), Head::number(head)],
        terms,
        |term| [term.term.clone(), number(term.importance)],
    )
}

/// A tree as a table with a row for each node. Each node is indented further than its parent.
pub fn tree(facts: &TreeFacts) -> Grid {
    let head = Head::text("node: training rows (by sharing score 0, 1, 2) -> predicted score");
    Grid::of("The tree", [head], facts.text.lines(), |line| {
        [line.to_owned()]
    })
}

/// A table of the scores of a term, with a row for each bin.
pub fn term(term: &TermFacts) -> Grid {
    let title = format!(
        "{}, for {}: contribution to the prediction ({}), {} on average",
        term.term,
        term.label.name(),
        term.unit,
        number(term.importance)
    );
    let heads = ["score", "± over bags", "training rows"].map(Head::number);
    let heads = term.features.iter().map(Head::text).chain(heads);
    Grid::of(title, heads, &term.cells, |cell| {
        let numbers = [signed(cell.score), number(cell.deviation), count(cell.rows)];
        let bins = cell.bins.iter().map(|bin| printable(bin).into_owned());
        bins.chain(numbers).collect::<Vec<_>>()
    })
}

/// A table of the scores that add up to a prediction.
pub fn sum(told: &Sum) -> Grid {
    let factors = told.contributions.iter().any(|part| part.factor.is_some());
    let mut heads = vec![Head::text("term"), Head::text("bin"), Head::number("adds")];
    heads.extend(factors.then(|| Head::number("multiplies 1 + seconds by")));
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
    let title = format!(
        "The {} predicted for {}, in {}",
        told.label.name(),
        printable(&told.subject),
        told.unit
    );
    let rows = std::iter::once(line("on average", told.intercept))
        .chain(told.contributions.iter().map(row))
        .chain([line("sum", told.prediction)]);
    Grid {
        rows: rows.collect(),
        ..Grid::new(title, heads)
    }
}

/// The decisions on a prediction's path through a tree, and the number of training rows with each score in its leaf.
pub fn way(told: &Way) -> Grid {
    let title = format!(
        "The sharing score of {}: {}",
        printable(&told.subject),
        told.score
    );
    let rows: Vec<String> = told.rows.iter().map(usize::to_string).collect();
    let leaf = format!("training rows by score: {}", rows.join(", "));
    let steps = told.steps.iter().enumerate();
    let steps = steps.map(|(number, step)| [(number + 1).to_string(), step.clone()]);
    let heads = ["decision", "by"].map(Head::text);
    Grid::of(title, heads, steps.chain([[String::new(), leaf]]), |row| {
        row
    })
}

/// The duration that a rule estimates, and the number of past jobs whose durations it averages.
pub fn rule(told: &Rule) -> Fact {
    let label = format!("duration estimated for {}", printable(&told.subject));
    let alike = match printable(&told.alike) {
        none if none.is_empty() => "of all users".into(),
        alike => alike,
    };
    let jobs = told.jobs.map(|jobs| counted(jobs, "past job"));
    let remark = jobs.map_or(String::new(), |jobs| {
        format!("(the mean of {jobs}: {alike})")
    });
    Fact::main(label, format!("{:.0} s", told.seconds)).remark(remark)
}

/// A score, with a plus sign if it is positive.
fn signed(value: f64) -> String {
    let text = number(value);
    if value > 0.0 {
        format!("+{text}")
    } else {
        text
    }
}

/// A number with about four significant digits.
pub fn number(value: f64) -> String {
    match value.abs() {
        0.0 => "0".to_owned(),
        size if size >= 1000.0 => format!("{value:.0}"),
        size if size >= 10.0 => format!("{value:.2}"),
        size if size >= 1e-4 => format!("{value:.4}"),
        _ => format!("{value:.1e}"),
    }
}
