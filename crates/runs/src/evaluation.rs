//! The report of `gleaner evaluate` on models.

use gleaner_document::{Block, Grid, Head};
use gleaner_learn::lucid::packing::{Evaluation, Features};
use gleaner_learn::metrics::is_near_chance;
use gleaner_learn::tree::Tree;
use serde::Serialize;

use crate::training::{NEAR_CHANCE, RANK_CORRELATION};
use gleaner_domain::words::printable;
use gleaner_predict::evaluate::{BASELINES, Score, ThroughputScores, WorkloadScores};

/// The results of an evaluation; `None` for a kind of model that was not evaluated.
#[derive(Debug, Clone, Default, Serialize)]
pub struct EvaluationResults {
    /// Results for the forecast of submissions.
    pub throughput: Option<ThroughputScores>,
    /// Results for the sharing scores.
    pub packing: Option<PackingResults>,
    /// Results for the estimated durations.
    pub workload: Option<WorkloadScores>,
}

/// The evaluation of predicted sharing scores.
#[derive(Debug, Clone, Serialize)]
pub struct PackingResults {
    /// The tree trained on all profiles.
    #[serde(serialize_with = "as_text")]
    pub tree: Tree,
    /// Share of profiles for which the score derived from measured pairs equals the score set by hand.
    pub agreement: f64,
    /// Evaluations with the profile's features alone, and with additional features from measured pairs. The
    /// additional features leak the answer.
    pub evaluations: Vec<Evaluation>,
    /// Every workload with its scores.
    pub rows: Vec<PackingRow>,
}

/// A workload's sharing scores, from four sources.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PackingRow {
    /// The workload as text.
    pub workload: String,
    /// The score set by hand.
    pub by_hand: u8,
    /// The score derived from the workload's mean speed in measured pairs.
    pub by_pairs: u8,
    /// The score predicted by a tree that was trained without this workload.
    pub left_out: u8,
    /// The score predicted by the tree that was trained on all workloads.
    pub fitted: u8,
}

fn as_text<S: serde::Serializer>(tree: &Tree, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(tree)
}

/// The output of `gleaner evaluate`.
pub fn printed(findings: &EvaluationResults) -> Vec<Block> {
    let mut blocks = Vec::new();
    if let Some(found) = &findings.throughput {
        let title = format!(
            "Throughput, GPU jobs per interval: trained on {} intervals, tested on {}",
            found.train, found.test
        );
        blocks.push(scores(title, "jobs", &found.jobs));
        blocks.push(scores("Throughput, GPUs per interval", "GPUs", &found.gpus));
    }
    if let Some(found) = &findings.packing {
        blocks.extend(packing(found));
    }
    if let Some(found) = &findings.workload {
        blocks.extend(workload(found));
    }
    if BASELINES == 0 {
        let note = "Models from libraries are not compared; build with --features baselines to include them.";
        blocks.push(Block::Note(note.to_owned()));
    }
    blocks
}

fn workload(found: &WorkloadScores) -> Vec<Block> {
    let title = format!(
        "Workload, durations estimated by models with the profile: trained on {} jobs, tested on {}",
        found.train, found.test
    );
    let mut blocks = vec![
        scores(title, "s", &found.with_profile),
        scores(
            "Workload, durations estimated by models without the profile",
            "s",
            &found.without_profile,
        ),
        scores("Workload, durations estimated by rules", "s", &found.rules),
    ];
    if found.weekly_test > 0 {
        let title = format!(
            "Workload, durations estimated by models retrained each week on jobs that would have ended before that \
             week if no job had waited: tested on {} jobs",
            found.weekly_test
        );
        blocks.push(scores(title, "s", &found.weekly));
    }
    let named = |name: &Option<String>| name.clone().unwrap_or_else(|| "none".to_owned());
    blocks.push(Block::Note(format!(
        "Best by rank correlation, because schedulers use ranks: {} with profiles, {} without profiles.",
        named(&found.best.with_profile),
        named(&found.best.without_profile)
    )));
    blocks.push(Block::Note(format!("{RANK_CORRELATION}.")));
    let all = [&found.with_profile, &found.without_profile, &found.rules];
    let ranks = all.into_iter().flatten().map(|score| score.spearman);
    if is_near_chance(ranks.fold(0.0, f64::max), found.test) {
        blocks.push(Block::Note(NEAR_CHANCE.to_owned()));
    }
    let note = "In published traces, the profiles were derived from the durations. There, only the models \
                without the profile show how well durations can be estimated.";
    blocks.push(Block::Note(note.to_owned()));
    blocks
}

fn scores(title: impl Into<String>, unit: &str, scores: &[Score]) -> Block {
    let heads = [
        Head::text("model"),
        Head::number(format!("mean error ({unit})")),
        Head::number("R²"),
        Head::number("rank correlation"),
        Head::number("fit (s)"),
        Head::number("predict (s)"),
    ];
    Block::Grid(Grid::of(title, heads, scores, |score| {
        [
            score.model.clone(),
            number(score.mae),
            decimals(score.r2),
            decimals(score.spearman),
            score.fit_s.map_or_else(String::new, |s| format!("{s:.2}")),
            score
                .predict_s
                .map_or_else(String::new, |s| format!("{s:.3}")),
        ]
    }))
}

fn number(value: f64) -> String {
    if value >= 1000.0 {
        format!("{value:.0}")
    } else {
        format!("{value:.2}")
    }
}

fn decimals(value: f64) -> String {
    if value.is_nan() {
        "–".to_owned()
    } else {
        format!("{value:.3}")
    }
}

fn packing(found: &PackingResults) -> Vec<Block> {
    let heads = ["leave-one-out", "200 splits", "±", "worst", "best"].map(Head::number);
    let heads = std::iter::once(Head::text("features")).chain(heads);
    let title = format!(
        "Packing, share of scores predicted correctly: {} profiles",
        found.rows.len()
    );
    let evaluations = Grid::of(title, heads, &found.evaluations, |evaluation| {
        let splits = evaluation.splits;
        let shares = [
            evaluation.accuracy,
            splits.mean,
            splits.deviation,
            splits.min,
            splits.max,
        ];
        let name = match evaluation.features {
            Features::Profile => "profile",
            Features::WithPairs => "profile and pairs (leaks the answer)",
        };
        let shares = shares.map(|share| format!("{share:.3}"));
        std::iter::once(name.to_owned())
            .chain(shares)
            .collect::<Vec<_>>()
    });
    let note = format!(
        "Share of profiles for which the score from measured pairs equals the score set by hand: {:.3}.",
        found.agreement
    );
    let tree = found.tree.to_string();
    let tree = tree.lines().map(|line| [line.to_owned()]);
    let tree = Grid::of("", [Head::text("The fitted tree")], tree, |line| line);
    let heads = ["by hand", "by pairs", "leave-one-out", "fitted"].map(Head::number);
    let heads = std::iter::once(Head::text("workload")).chain(heads);
    let rows = Grid::of("Scores", heads, &found.rows, |row| {
        let scores = [row.by_hand, row.by_pairs, row.left_out, row.fitted];
        let scores = scores.map(|score| score.to_string());
        let workload = printable(&row.workload).into_owned();
        std::iter::once(workload).chain(scores).collect::<Vec<_>>()
    });
    vec![
        Block::Grid(evaluations),
        Block::Note(note),
        Block::Grid(tree),
        Block::Grid(rows),
    ]
}
