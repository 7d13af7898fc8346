//! The text of `gleaner train` about a model.

use std::fmt::Write as _;
use std::path::Path;

use gleaner_learn::ebm::Ebm;
use gleaner_learn::lucid::workload::{
    Estimator, EstimatorChoice, Trial, TrialScore, WorkloadModel,
};

use gleaner_core::domain::Time;
use gleaner_core::words::counted;
use gleaner_io::text_table::TextTable;
use gleaner_predict::{Model, Span, Trained};

/// Maximum number of terms that a summary names.
const SHOWN: usize = 5;

/// One-line explanation of the rank correlation.
pub const RANK_CORRELATION: &str =
    "Rank correlation with the true durations: 1 is the same order, 0 is chance";
/// Conclusion if the best estimator is hardly better than chance.
pub const NEAR_CHANCE: &str = "Near chance: no estimator orders these jobs much better than a random order would. Policies that\n\
                               rely on estimates gain little here.\n";

/// A summary: what was trained, on what, in how many seconds, and where it is saved.
pub fn summary(trained: &Trained, seconds: f64, path: &Path) -> String {
    let Span { rows, from, to } = trained.span;
    let mut text = format!("{}: {rows} rows", trained.model.kind());
    if let (Some(from), Some(to)) = (from, to) {
        let _ = write!(text, " from {} to {}", Time::from(from), Time::from(to));
    }
    let _ = writeln!(
        text,
        ", {} features, {seconds:.2} s",
        trained.model.features().len()
    );
    match &trained.model {
        Model::Throughput(model) => {
            let _ = writeln!(text, "  jobs by {}", strongest(model.jobs()));
            let _ = writeln!(text, "  GPUs by {}", strongest(model.gpus()));
        }
        Model::Workload(model) => workload(&mut text, model),
        Model::Packing(model) => {
            let (leaves, depth) = (model.tree().leaves(), model.tree().depth());
            let _ = writeln!(text, "  a tree of {leaves} leaves, {depth} deep");
        }
    }
    let _ = writeln!(text, "  saved as {}", path.display());
    text
}

fn workload(text: &mut String, model: &WorkloadModel) {
    let (chosen, fitted) = model.pick(EstimatorChoice::Best);
    if let Some(ebm) = fitted.ebm() {
        let _ = writeln!(text, "  durations by {}", strongest(ebm.machine()));
    }
    match model.trial() {
        Some(held_out) => text.push_str(&indented(&trial(held_out, chosen))),
        None => {
            let _ = writeln!(
                text,
                "  too few jobs to hold some out and compare estimators: {chosen} is used"
            );
        }
    }
}

fn indented(text: &str) -> String {
    text.lines().map(|line| format!("  {line}\n")).collect()
}

/// A table of how estimators did on jobs held out, and which of them is used.
pub fn trial(trial: &Trial, chosen: Estimator) -> String {
    let score = |score: &TrialScore| {
        let rank = score.rank_correlation;
        vec![
            format!("{} ({})", score.estimator, score.estimator.title()),
            rank.map_or_else(|| "-".to_owned(), |rank| format!("{rank:.3}")),
            format!("{:.0}", score.mae),
        ]
    };
    let best = trial.best();
    let used = match best == chosen {
        true => String::new(),
        false => format!("; {chosen} is used, as asked for"),
    };
    let chance = if trial.is_near_chance() {
        NEAR_CHANCE
    } else {
        ""
    };
    format!(
        "Estimators on the {} from {} to {}, trained on {} that had ended before:\n{}\
         Best by rank correlation, because schedulers use ranks: {best}{used}\n\
         {RANK_CORRELATION}\n{chance}",
        counted(trial.held_out as u64, "job"),
        Time::from(trial.from),
        Time::from(trial.to),
        trial.learnt,
        TextTable::new(
            ["estimator", "rank correlation", "mean error (s)"],
            trial.scores.iter().map(score)
        )
    )
}

/// The names of the most important terms.
fn strongest(machine: &Ebm) -> String {
    let mut terms: Vec<_> = machine.terms().iter().collect();
    terms.sort_by(|a, b| b.importance().total_cmp(&a.importance()));
    let names: Vec<String> = terms
        .iter()
        .take(SHOWN)
        .map(|term| machine.name(term))
        .collect();
    names.join(", ")
}
