//! `gleaner evaluate`: measures the accuracy of models on held-out data.

use clap::Args as ClapArgs;
use gleaner_learn::lucid::packing::{Features, agreement, evaluate, shared};
use jiff::ToSpan;
use jiff::civil::DateTime;

use super::data::DataArgs;
use super::watch::watched;
use crate::cli::{print, print_json};
use gleaner_document::text;
use gleaner_domain::error::{Error, Result};
use gleaner_domain::{Local, Workload};
use gleaner_inputs::jobs::estimates;
use gleaner_predict::evaluate::{ThroughputScores, WorkloadScores, WorkloadTask};
use gleaner_predict::{self, known_jobs, learn_scores, packing_pairs, packing_profiles};
use gleaner_runs::evaluation::printed;
use gleaner_runs::evaluation::{EvaluationResults, PackingResults, PackingRow};

/// Measure the accuracy of models on held-out data.
///
/// Compares the models with simple rules, and with models from other libraries. The measures are
/// mean absolute error, R², rank correlation, and the time to fit and to predict.
#[derive(Debug, ClapArgs)]
#[command(before_help = "Examples:\n  \
    gleaner evaluate --data trace\n  \
    gleaner evaluate throughput --series cluster_throughput.csv --until 2020-09-01\n  \
    gleaner evaluate workload --data venus_sept --epoch 2020-04-01 --estimates published.csv")]
pub struct Args {
    /// Models to measure [default: all].
    #[arg(value_enum, value_name = "MODEL")]
    what: Vec<gleaner_predict::Kind>,
    /// Learn from the jobs submitted before this time, and test on all other jobs [default: for a
    /// series, the start of the last month; for jobs, two weeks after the day of the first job; for shorter data, the
    /// middle].
    #[arg(long, value_name = "TIME")]
    until: Option<Local>,
    /// For workload: also measure these estimates, a file with the columns job_id and priority.
    #[arg(long, value_name = "FILE")]
    estimates: Option<std::path::PathBuf>,
    /// Seed of the models and of random splits.
    #[arg(long, default_value_t = 0, value_name = "NUMBER")]
    seed: u64,
    /// Print JSON instead of text.
    #[arg(long)]
    json: bool,
    // This field is last, because its help heading applies to all options after it.
    #[command(flatten)]
    data: DataArgs,
}

/// Runs the subcommand.
///
/// # Errors
/// Data are missing or faulty, or there are no rows to learn from or to test on.
pub fn run(args: &Args) -> Result<()> {
    let asked = |kind: gleaner_predict::Kind| args.what.is_empty() || args.what.contains(&kind);
    let mut findings = EvaluationResults::default();
    if asked(gleaner_predict::Kind::Throughput) {
        findings.throughput = Some(args.throughput()?);
    }
    if asked(gleaner_predict::Kind::Packing) {
        findings.packing = Some(args.packing()?);
    }
    if asked(gleaner_predict::Kind::Workload) {
        findings.workload = Some(args.workload()?);
    }
    if args.json {
        let json = serde_json::to_string_pretty(&findings);
        let json = json.map_err(|error| Error::Run(error.to_string()))?;
        return print_json(&format!("{json}\n"));
    }
    print(&text(&printed(&findings)))
}

fn failed(error: impl std::fmt::Display) -> Error {
    Error::Run(error.to_string())
}

impl Args {
    fn until(&self) -> Option<DateTime> {
        self.until.and_then(Local::civil)
    }

    fn throughput(&self) -> Result<ThroughputScores> {
        let series = self.data.series(&mut Vec::new())?;
        let last_month = series.time(series.len() - 1).date().first_of_month();
        let split = series.steps_before(self.until().unwrap_or_else(|| last_month.into()));
        let train = if self.until.is_none() && split == 0 {
            series.len() / 2
        } else {
            split
        };
        both_parts(train, series.len())?;
        watched(|observer| {
            gleaner_predict::evaluate::throughput(&series, train, self.seed, observer)
                .map_err(failed)
        })
    }

    fn workload(&self) -> Result<WorkloadScores> {
        let mut sources = Vec::new();
        let jobs = self.data.jobs(&mut sources)?;
        let (trace, calendar) = (&jobs.trace, jobs.calendar);
        let before = |time: DateTime| {
            trace
                .jobs
                .partition_point(|job| job.submit < calendar.second(time))
        };
        let first = trace.jobs.first().map_or(0, |job| job.submit);
        let midnight: DateTime = calendar.civil(first).date().into();
        let mut train = before(
            self.until()
                .unwrap_or_else(|| midnight.saturating_add(14.days())),
        );
        if self.until.is_none() && train == trace.jobs.len() {
            train /= 2;
        }
        both_parts(train, trace.jobs.len())?;
        let given = self
            .estimates
            .as_ref()
            .map(|path| estimates::read(path, trace));
        let given = given.transpose()?.map(|loaded| loaded.value);
        let task = WorkloadTask {
            trace,
            known: &known_jobs(trace, &jobs.cluster, calendar),
            train,
            published: given.as_ref(),
            seed: self.seed,
        };
        watched(|observer| gleaner_predict::evaluate::workload(&task, observer).map_err(failed))
    }

    fn packing(&self) -> Result<PackingResults> {
        let mut sources = Vec::new();
        let profiles = self.data.scored(&mut sources)?;
        let pairs = packing_pairs(&self.data.pairs(&mut sources)?);
        let examples = packing_profiles(&profiles);
        let beside = shared(&examples, &pairs);
        let of = |features| evaluate(features, &examples, &beside, self.seed).map_err(failed);
        let evaluations = vec![of(Features::Profile)?, of(Features::WithPairs)?];
        let row = |(k, workload): (usize, &Workload)| PackingRow {
            workload: format!("{workload}"),
            by_hand: examples[k].score,
            by_pairs: beside[k].score(),
            left_out: evaluations[0].left_out[k],
            fitted: evaluations[0].fitted[k],
        };
        Ok(PackingResults {
            tree: learn_scores(&profiles).map_err(failed)?.tree().clone(),
            agreement: agreement(&examples, &beside),
            rows: profiles.keys().enumerate().map(row).collect(),
            evaluations,
        })
    }
}

/// Checks that there are rows to learn from and rows to test on.
fn both_parts(train: usize, rows: usize) -> Result<()> {
    if train > 0 && train < rows {
        return Ok(());
    }
    Err(Error::Usage(format!(
        "--until leaves {train} of {rows} rows to learn from and {} to test on: choose a time \
         within the data",
        rows - train
    )))
}
