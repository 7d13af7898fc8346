//! The results of an evaluation of models, as text.

use std::fmt::Write;

use gleaner_learn::lucid::packing::Evaluation;
use gleaner_learn::metrics::is_near_chance;
use gleaner_learn::tree::Tree;
use serde::Serialize;

use crate::training::{NEAR_CHANCE, RANK_CORRELATION};
use gleaner_core::words::printable;
use gleaner_io::text_table::TextTable;
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

/// How well sharing scores are predicted.
#[derive(Debug, Clone, Serialize)]
pub struct PackingResults {
    /// The tree trained on all profiles.
    #[serde(serialize_with = "as_text")]
    pub tree: Tree,
    /// Share of profiles whose score by measured pairs is the same as the score set by hand.
    pub agreement: f64,
    /// Evaluations with the profile's features alone, and with features of pairs, which leak the
    /// answer.
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
    /// The score by its mean speed in measured pairs.
    pub by_pairs: u8,
    /// The score from a tree that was trained without it.
    pub left_out: u8,
    /// The score from the tree that was trained with it.
    pub fitted: u8,
}

fn as_text<S: serde::Serializer>(tree: &Tree, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(tree)
}

/// The findings as text tables.
pub fn text(findings: &EvaluationResults) -> String {
    let mut out = String::new();
    if let Some(found) = &findings.throughput {
        let rows = format!(
            "learnt from {} intervals, tested on {}",
            found.train, found.test
        );
        section(
            &mut out,
            &format!("Throughput, GPU jobs an interval: {rows}"),
            "jobs",
            &found.jobs,
        );
        section(
            &mut out,
            "Throughput, GPUs an interval",
            "GPUs",
            &found.gpus,
        );
    }
    if let Some(found) = &findings.packing {
        packing(&mut out, found);
    }
    if let Some(found) = &findings.workload {
        workload(&mut out, found);
    }
    if BASELINES == 0 {
        out.push_str(
            "\nModels from libraries are left out: build with --features baselines to compare.\n",
        );
    }
    out.trim_start().to_owned()
}

fn workload(out: &mut String, found: &WorkloadScores) {
    let rows = format!("learnt from {} jobs, tested on {}", found.train, found.test);
    let title = format!("Workload, durations estimated by models with the profile: {rows}");
    section(out, &title, "s", &found.with_profile);
    section(
        out,
        "Workload, by models without the profile",
        "s",
        &found.without_profile,
    );
    section(out, "Workload, by rules", "s", &found.rules);
    if found.weekly_test > 0 {
        let title = format!(
            "Workload, learnt again each week from the jobs that could have ended, {} jobs",
            found.weekly_test
        );
        section(out, &title, "s", &found.weekly);
    }
    let named = |name: &Option<String>| name.clone().unwrap_or_else(|| "none".to_owned());
    let _ = writeln!(
        out,
        "\nBest by rank correlation, because schedulers use ranks; with profiles: {}; \
         without: {}.\n{RANK_CORRELATION}.",
        named(&found.best.with_profile),
        named(&found.best.without_profile)
    );
    let scores = [&found.with_profile, &found.without_profile, &found.rules];
    let ranks = scores.into_iter().flatten().map(|score| score.spearman);
    if is_near_chance(ranks.fold(0.0, f64::max), found.test) {
        out.push_str(NEAR_CHANCE);
    }
    out.push_str(
        "In published traces the profiles were made up from the durations: there, only the models\n\
         without the profile show how well durations are estimated.\n",
    );
}

fn section(out: &mut String, title: &str, unit: &str, scores: &[Score]) {
    let mae = format!("mean error ({unit})");
    let header = [
        "model",
        &mae,
        "R²",
        "rank correlation",
        "fit (s)",
        "predict (s)",
    ];
    let row = |score: &Score| {
        vec![
            score.model.clone(),
            number(score.mae),
            decimals(score.r2),
            decimals(score.spearman),
            score.fit_s.map_or_else(String::new, |s| format!("{s:.2}")),
            score
                .predict_s
                .map_or_else(String::new, |s| format!("{s:.3}")),
        ]
    };
    let _ = write!(
        out,
        "\n{title}\n{}",
        TextTable::new(header, scores.iter().map(row))
    );
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
        "-".to_owned()
    } else {
        format!("{value:.3}")
    }
}

fn packing(out: &mut String, found: &PackingResults) {
    let header = [
        "features",
        "leave one out",
        "200 splits",
        "±",
        "worst",
        "best",
    ];
    let row = |evaluation: &Evaluation| {
        let splits = evaluation.splits;
        let shares = [
            evaluation.accuracy,
            splits.mean,
            splits.deviation,
            splits.min,
            splits.max,
        ];
        let name = match evaluation.features {
            gleaner_learn::lucid::packing::Features::Profile => "profile",
            gleaner_learn::lucid::packing::Features::WithPairs => {
                "profile and pairs (leaks the answer)"
            }
        };
        let mut cells = vec![name.to_owned()];
        cells.extend(shares.map(|share| format!("{share:.3}")));
        cells
    };
    let _ = write!(
        out,
        "\nPacking, share of scores predicted correctly: {} profiles\n{}",
        found.rows.len(),
        TextTable::new(header, found.evaluations.iter().map(row))
    );
    let _ = write!(
        out,
        "\nScores by measured pairs equal those by hand for {:.3} of them.\n\nThe tree by \
         profiles\n{}",
        found.agreement, found.tree
    );
    let header = ["workload", "by hand", "by pairs", "leave one out", "fitted"];
    let row = |row: &PackingRow| {
        let scores = [row.by_hand, row.by_pairs, row.left_out, row.fitted];
        let mut cells = vec![printable(&row.workload).into_owned()];
        cells.extend(scores.map(|score| score.to_string()));
        cells
    };
    let _ = write!(
        out,
        "\nScores\n{}",
        TextTable::new(header, found.rows.iter().map(row))
    );
}
