//! Writes the delays by which policies are compared, as CSV and in `summary.json`.

use super::interval::Interval;
use csv::Writer;
use gleaner_domain::Trace;
use gleaner_domain::error::{Error, Result};
use gleaner_domain::results::simulate::{ByName, Delays, PolicyFigures, Summary};

/// Whether a job's speed in simulations depends on the nodes on which the job runs.
pub const PLACEMENT_AFFECTS_SPEED: bool = false;

/// A policy's name in files, and its figures.
pub type Entry<'a> = (&'a str, &'a PolicyFigures);

/// A measure of delay by which policies are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Figure {
    /// Average job completion time.
    AverageJct,
    /// Average time in queues.
    AverageQueue,
    /// 99.9th percentile of the time in queues.
    LongestQueue,
}

impl Figure {
    /// All figures, in the order of their tables.
    pub const ALL: [Figure; 3] = [
        Figure::AverageJct,
        Figure::AverageQueue,
        Figure::LongestQueue,
    ];

    /// The name of the figure's file without the extension. The first two names are from Lucid's
    /// simulator.
    pub fn name(self) -> &'static str {
        match self {
            Figure::AverageJct => "jct_avg",
            Figure::AverageQueue => "que_avg",
            Figure::LongestQueue => "que_p999",
        }
    }

    /// The figure's name with its unit, as shown in tables.
    pub fn title(self) -> &'static str {
        match self {
            Figure::AverageJct => "average JCT (h)",
            Figure::AverageQueue => "average queuing (h)",
            Figure::LongestQueue => "99.9 % queuing (h)",
        }
    }

    /// The value of this figure, in seconds.
    pub fn of(self, delays: &Delays) -> f64 {
        match self {
            Figure::AverageJct => delays.avg_jct_s,
            Figure::AverageQueue => delays.avg_queue_s,
            Figure::LongestQueue => delays.p999_queue_s,
        }
    }
}

/// Name of the row that covers all virtual clusters together.
pub(super) const ALL: &str = "all";

/// A figure by virtual cluster (rows) and policy (columns) as CSV. Values are in whole seconds, rounded down, as in the
/// published tables. Cells are empty if a virtual cluster had no jobs.
///
/// # Errors
/// Returns an error if the CSV writer fails, which does not occur in practice.
pub fn averages(figure: Figure, placer: &str, entries: &[Entry<'_>]) -> Result<Vec<u8>> {
    let mut csv = Writer::from_writer(Vec::new());
    let policies = entries
        .iter()
        .map(|(policy, _)| format!("{policy}_{placer}"));
    let header = std::iter::once(String::new()).chain(policies);
    csv.write_record(header).map_err(failed)?;
    for (vc, row) in by_vc(figure, entries) {
        let whole = |seconds: f64| (seconds as i64).to_string();
        let cells = row
            .into_iter()
            .map(|cell| cell.map_or(String::new(), whole));
        csv.write_record(std::iter::once(vc.to_owned()).chain(cells))
            .map_err(failed)?;
    }
    csv.into_inner().map_err(failed)
}

/// A figure in seconds by virtual cluster, then policy; `None` if the virtual cluster had no jobs.
pub(super) type ByVc<'a> = Vec<(&'a str, Vec<Option<f64>>)>;

/// The figure for each virtual cluster under each policy. The last row covers all jobs.
pub(super) fn by_vc<'a>(figure: Figure, entries: &[Entry<'a>]) -> ByVc<'a> {
    let names = entries
        .first()
        .map_or(&[][..], |(_, metrics)| &metrics.vcs.0);
    let row = |(place, (name, _)): (usize, &'a (String, Option<Delays>))| {
        let delays = entries.iter().map(|(_, metrics)| &metrics.vcs.0[place].1);
        let cells = delays.map(|delays| delays.as_ref().map(|delays| figure.of(delays)));
        (name.as_str(), cells.collect())
    };
    let all = entries
        .iter()
        .map(|(_, metrics)| Some(figure.of(&metrics.all)));
    let rows = names.iter().enumerate().map(row);
    rows.chain([(ALL, all.collect())]).collect()
}

/// All figures, as written to `summary.json`.
pub fn summary(trace: &Trace, entries: &[Entry<'_>], interval: Interval) -> Summary {
    let submissions = trace.submissions();
    let policies = entries.iter();
    let policies = policies.map(|(policy, figures)| ((*policy).to_owned(), (*figures).clone()));
    Summary {
        policies: ByName(policies.collect()),
        seq_step_s: interval.seconds(),
        first_submission: submissions.map(|(first, _)| first),
        last_submission: submissions.map(|(_, last)| last),
        placement_affects_speed: PLACEMENT_AFFECTS_SPEED,
    }
}

fn failed(error: impl std::fmt::Display) -> Error {
    Error::Run(error.to_string())
}
