//! `gleaner explain`: shows how a model computes its predictions.

use std::path::PathBuf;

use clap::Args as ClapArgs;
use gleaner_learn::lucid::packing::PackingModel;
use gleaner_learn::lucid::throughput::LEAD;
use gleaner_learn::lucid::workload::{EstimatorChoice, Fitted};
use serde::Serialize;

use super::data::DataArgs;
use super::predict::check_estimator;
use crate::cli::report::Drawn;
use crate::cli::terminal::Terminal;
use crate::cli::{print, print_json, remark};
use gleaner_document::text;
use gleaner_domain::error::{Error, Result};
use gleaner_inputs::model;
use gleaner_io::SourceId;
use gleaner_predict::explanation::{
    Explanation, Label, LabelledEbm, Prediction, TermFacts, machines, of_interval, of_job,
    of_profile,
};
use gleaner_predict::{Model, Trained, known_jobs};
use gleaner_runs::explanation::json;
use gleaner_runs::explanation::printed;
use gleaner_runs::read::RunInfo;

/// Explain a trained model and its predictions.
///
/// Shows the model's features, the contribution of each feature, and the composition of a single prediction. An
/// explainable boosting machine adds up one score for each feature and one score for each selected pair of features.
/// The model consists only of these scores, and all of them can be shown.
#[derive(Debug, ClapArgs, Serialize)]
#[command(before_help = "Examples:\n  \
    gleaner explain models/workload.json\n  \
    gleaner explain models/workload.json --term user --term 'gpu_num & hour'\n  \
    gleaner explain models/workload.json --job 17 --data trace\n  \
    gleaner explain models/throughput.json --label gpus -o throughput.html")]
pub struct Args {
    /// The model, a file written by `gleaner train`.
    #[arg(value_name = "MODEL")]
    model: PathBuf,
    /// Show the scores of this term by bin; a pair is named `a & b`. Can be given several times.
    #[arg(long, value_name = "NAME")]
    term: Vec<String>,
    /// For a throughput model: the explainable boosting machine to explain [default: jobs].
    #[arg(long, value_enum, value_name = "LABEL")]
    label: Option<Label>,
    /// For a workload model: the estimator to use, one of ebm, ebm-seconds, history, median and
    /// mean [default: best, the estimator that training chose].
    #[arg(long, value_name = "NAME")]
    estimator: Option<EstimatorChoice>,
    /// Explain the prediction for this row of the data; 1 is the first row.
    #[arg(long, value_name = "NUMBER", conflicts_with = "job")]
    row: Option<usize>,
    /// For a workload model: explain the prediction for the job with this id.
    #[arg(long, value_name = "ID")]
    job: Option<String>,
    /// Print JSON instead of text.
    #[arg(long)]
    json: bool,
    /// Write a page or pictures instead of printing the text.
    #[command(flatten)]
    #[serde(skip)]
    drawn: Drawn,
    // This field is last, because its help heading applies to all options after it.
    #[command(flatten)]
    #[serde(flatten)]
    data: DataArgs,
}

/// Runs the subcommand.
///
/// # Errors
/// The file is not a model, the usage is wrong, data are faulty, or an output cannot be written.
pub fn run(args: &Args) -> Result<()> {
    args.check()?;
    let loaded = model::read(&args.model)?;
    let (trained, mut sources) = (loaded.value, loaded.sources);
    check_estimator(args.estimator, &trained.model)?;
    let machine = args.machine(&trained.model)?;
    let mut explanation = Explanation::of(&trained, args.estimator.unwrap_or_default());
    for name in &args.term {
        explanation.terms.push(match &machine {
            Some(machine) => facts(machine, name)?,
            None => return Err(no_terms(&explanation)),
        });
    }
    explanation.prediction = args.prediction(&trained, machine.as_ref(), &mut sources)?;
    if !args.drawn.is_nothing() {
        let info = RunInfo::of_this("explain", &args.model, args, &sources)?;
        let report = gleaner_report::of_model(&explanation, machine.as_ref(), &info);
        args.drawn.write(&report, &Terminal::default())?;
        remark(&args.drawn.written());
    }
    match (args.json, args.drawn.is_nothing()) {
        (true, _) => print_json(&json(&explanation)?),
        (false, true) => print(&text(&printed(&explanation))),
        (false, false) => Ok(()),
    }
}

fn facts(machine: &LabelledEbm<'_>, name: &str) -> Result<TermFacts> {
    if let Some(term) = machine.term(name) {
        return Ok(machine.facts(term));
    }
    let names = machine.strongest().into_iter().map(|(term, _)| term.term);
    Err(Error::Usage(format!(
        "--term: unknown term {name:?}; the terms of the model, strongest first: {}",
        names.collect::<Vec<_>>().join(", ")
    )))
}

fn no_terms(explanation: &Explanation) -> Error {
    Error::Usage(match &explanation.estimator {
        Some(facts) => format!(
            "--term: the estimator {} has no terms; choose an explainable boosting machine, for \
             example with --estimator ebm",
            facts.name
        ),
        None => "--term: a packing model is a decision tree, which has no terms; leave --term out \
                 to show the tree"
            .to_owned(),
    })
}

fn out_of_range(row: usize, rows: usize, what: &str) -> Error {
    Error::Usage(format!(
        "--row {row}: there is no such row; the data contain {rows} {what}, numbered from 1"
    ))
}

impl Args {
    /// Performs the checks that do not require the model.
    fn check(&self) -> Result<()> {
        let asked = self.row.is_some() || self.job.is_some();
        if !asked && !self.data.is_nothing() {
            return Err(Error::Usage(
                "data are only needed to explain the prediction for one row: name the row with \
                 --row or --job"
                    .into(),
            ));
        }
        Ok(())
    }

    /// The explainable boosting machine to explain; `None` if the model or estimator has none.
    fn machine<'m>(&self, model: &'m Model) -> Result<Option<LabelledEbm<'m>>> {
        if self.label.is_some() && !matches!(model, Model::Throughput(_)) {
            let kind = model.kind();
            return Err(Error::Usage(format!(
                "--label is for throughput models; this is a {kind} model"
            )));
        }
        let mut machines = machines(model, self.estimator.unwrap_or_default()).into_iter();
        Ok(machines.find(|machine| self.label.is_none_or(|label| machine.label == label)))
    }

    fn prediction(
        &self,
        trained: &Trained,
        machine: Option<&LabelledEbm<'_>>,
        sources: &mut Vec<SourceId>,
    ) -> Result<Option<Prediction>> {
        if self.job.is_some() && !matches!(trained.model, Model::Workload(_)) {
            let kind = trained.model.kind();
            return Err(Error::Usage(format!(
                "--job is for workload models; this is a {kind} model: name a row with --row"
            )));
        }
        if self.row.is_none() && self.job.is_none() {
            return Ok(None);
        }
        let told = match (&trained.model, machine) {
            (Model::Workload(model), machine) => {
                let (_, fitted) = model.pick(self.estimator.unwrap_or_default());
                self.job(fitted, machine, sources)?
            }
            (Model::Packing(model), _) => self.profile(model, sources)?,
            (_, Some(machine)) => self.interval(machine, sources)?,
            (_, None) => return Ok(None),
        };
        Ok(Some(told))
    }

    /// The index, from 0, of the requested row among `rows` rows.
    fn place(&self, rows: usize, what: &str) -> Result<usize> {
        let row = self.row.unwrap_or_default();
        let place = row.checked_sub(1).filter(|place| *place < rows);
        place.ok_or_else(|| out_of_range(row, rows, what))
    }

    fn interval(
        &self,
        machine: &LabelledEbm<'_>,
        sources: &mut Vec<SourceId>,
    ) -> Result<Prediction> {
        let series = self.data.series(sources)?;
        // `gleaner predict` makes predictions for the same intervals: those of the series and the next `LEAD`.
        let step = self.place(series.len() + LEAD, "intervals that can be predicted")?;
        of_interval(machine, &series, step).map_err(|error| Error::Run(error.to_string()))
    }

    fn profile(&self, model: &PackingModel, sources: &mut Vec<SourceId>) -> Result<Prediction> {
        let profiles = self.data.profiles(sources)?;
        let place = self.place(profiles.len(), "profiles")?;
        let told = profiles.iter().nth(place);
        told.map(|(workload, profile)| of_profile(model, workload, profile))
            .ok_or_else(|| out_of_range(place + 1, profiles.len(), "profiles"))
    }

    fn job(
        &self,
        fitted: &Fitted,
        machine: Option<&LabelledEbm<'_>>,
        sources: &mut Vec<SourceId>,
    ) -> Result<Prediction> {
        let jobs = self.data.jobs(sources)?;
        let all = &jobs.trace.jobs;
        let place = match &self.job {
            None => self.place(all.len(), "jobs")?,
            Some(id) => all.iter().position(|job| job.id == *id).ok_or_else(|| {
                let (count, first) = (all.len(), all.first().map_or("", |job| job.id.as_str()));
                Error::Usage(format!(
                    "--job: unknown job {id:?}; the trace has {count} jobs, the first of which is \
                     {first:?}"
                ))
            })?,
        };
        let known = known_jobs(&jobs.trace, &jobs.cluster, jobs.calendar);
        of_job(machine, fitted, &all[place].id, &known[place])
            .map_err(|error| Error::Run(error.to_string()))
    }
}
