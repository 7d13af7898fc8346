//! The report of `gleaner train` on a model.

use std::path::Path;

use gleaner_learn::ebm::Ebm;
use gleaner_learn::lucid::workload::{Estimator, EstimatorChoice, Trial};

use gleaner_document::{Block, Fact, Grid, Head};
use gleaner_domain::Local;
use gleaner_domain::words::counted;
use gleaner_predict::{Model, Span, Trained};

/// Maximum number of terms that a summary names.
const SHOWN: usize = 5;

/// One-line explanation of the rank correlation.
pub const RANK_CORRELATION: &str =
    "Rank correlation with the true durations: 1 means the same order, 0 means chance";
/// Conclusion if the best estimator is hardly better than chance.
pub const NEAR_CHANCE: &str = "Near chance: no estimator orders these jobs much better than a random order would. Policies \
                               that rely on estimates gain little here.";

/// The kind of model, its training data, the training time, its main parts, and the path of its file.
pub fn trained(trained: &Trained, seconds: f64, path: &Path) -> Vec<Block> {
    let Span { rows, from, to } = trained.span;
    let span = match (from, to) {
        (Some(from), Some(to)) => format!(" from {} to {}", Local::from(from), Local::from(to)),
        _ => String::new(),
    };
    let features = trained.model.features().len();
    let rows = format!("{rows} rows{span}, {features} features, {seconds:.2} s");
    let mut facts = vec![Fact::new(trained.model.kind().to_string(), rows)];
    let mut blocks = Vec::new();
    let part = |label: &str, value: String| Fact {
        depth: 1,
        ..Fact::new(label, value)
    };
    match &trained.model {
        Model::Throughput(model) => facts.extend([
            part("jobs by", strongest(model.jobs())),
            part("GPUs by", strongest(model.gpus())),
        ]),
        Model::Workload(model) => {
            let (chosen, fitted) = model.pick(EstimatorChoice::Best);
            let machine = fitted.ebm().map(|ebm| strongest(ebm.machine()));
            facts.extend(machine.map(|terms| part("durations by", terms)));
            match model.trial() {
                Some(held_out) => blocks.extend(trial(held_out, chosen)),
                None => facts.push(part(
                    "estimator",
                    format!("{chosen}: too few jobs to hold some out and compare estimators"),
                )),
            }
        }
        Model::Packing(model) => {
            let (leaves, depth) = (model.tree().leaves(), model.tree().depth());
            facts.push(part("a tree of", format!("{leaves} leaves, {depth} deep")));
        }
    }
    facts.push(part("saved as", path.display().to_string()));
    blocks.insert(0, Block::Facts(facts));
    blocks
}

/// A table of the estimators' scores on held-out jobs, and a note that names the estimator in use.
pub fn trial(trial: &Trial, chosen: Estimator) -> Vec<Block> {
    let title = format!(
        "Estimators on the {} from {} to {}, trained on {} that had ended before",
        counted(trial.held_out as u64, "job"),
        Local::from(trial.from),
        Local::from(trial.to),
        trial.learnt
    );
    let heads = [
        Head::text("estimator"),
        Head::number("rank correlation"),
        Head::number("mean error (s)"),
    ];
    let scores = Grid::of(title, heads, &trial.scores, |score| {
        let rank = score.rank_correlation;
        [
            format!("{} ({})", score.estimator, score.estimator.title()),
            rank.map_or_else(|| "–".to_owned(), |rank| format!("{rank:.3}")),
            format!("{:.0}", score.mae),
        ]
    });
    let best = trial.best();
    let used = if best == chosen {
        String::new()
    } else {
        format!("; {chosen} is used, as requested")
    };
    let mut notes = vec![
        format!("Best by rank correlation, because schedulers use ranks: {best}{used}."),
        format!("{RANK_CORRELATION}."),
    ];
    notes.extend(trial.is_near_chance().then(|| NEAR_CHANCE.to_owned()));
    let notes = notes.into_iter().map(Block::Note);
    std::iter::once(Block::Grid(scores)).chain(notes).collect()
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
