//! Run directories as frames.

use std::path::Path;

use gleaner_domain::results::classes::ClassOutcome;
use gleaner_domain::results::replay::{AllocationRow, Summary};
use gleaner_domain::results::run::fields;
use gleaner_domain::results::search::SearchOutcome;
use gleaner_domain::results::states::JobRow;
use gleaner_domain::results::{Column, Figures, Table};
use gleaner_runs::read as runs;
use gleaner_runs::read::{Hour, PolicyRun, ReplayRun, RunInfo, RunResult, SimulateRun};
use gleaner_runs::simulate::{policies, vcs};
use polars::prelude::{Column as FrameColumn, DataFrame, DataType};
use serde_json::Value;

use crate::{Error, Result, Sweep, frame};

/// A run directory.
#[derive(Debug, Clone)]
pub struct Run {
    /// The content of `run.json`: the arguments and inputs of the run, and whether the run reached its end.
    pub info: RunInfo,
    /// The results of the run.
    pub frames: Frames,
}

/// The results of a run, by subcommand.
#[derive(Debug, Clone)]
pub enum Frames {
    /// Results of `gleaner replay`.
    Replay(Box<ReplayFrames>),
    /// Results of `gleaner simulate`.
    Simulate(SimulateFrames),
    /// Results of `gleaner sweep`.
    Sweep(Sweep),
}

/// The results of a replay.
#[derive(Debug, Clone)]
pub struct ReplayFrames {
    /// The content of `summary.json`, in one row.
    pub summary: DataFrame,
    /// The table `steps`: a row for each event after the first.
    pub steps: DataFrame,
    /// The table `tasks`: a row for each task.
    pub tasks: DataFrame,
    /// The table `allocations`: a row for each span during which a task held a node.
    pub allocations: DataFrame,
    /// The table `fragments`: the idle fragments of the log by length. `None` if an earlier version of the program made
    /// the run.
    pub fragments: Option<DataFrame>,
    /// The results by class of nodes; `None` if the log has only one class.
    pub classes: Option<ClassFrames>,
    /// The outcome of the search's trials; `None` if the replay had no search.
    pub search: Option<SearchFrames>,
}

/// The results of a replay by class of nodes.
#[derive(Debug, Clone)]
pub struct ClassFrames {
    /// The table `classes`: a row for each class at each event after the first.
    pub events: DataFrame,
    /// The table `moves`: a row for each move of a task to another class.
    pub moves: DataFrame,
    /// The table `class_totals`: a row for each class.
    pub totals: DataFrame,
}

/// The results of a search that a replay ran.
#[derive(Debug, Clone)]
pub struct SearchFrames {
    /// The table `search`: a row for each event of a trial.
    pub events: DataFrame,
    /// The table `trials`: a row for each trial.
    pub trials: DataFrame,
    /// The table `rungs`: a row for each resource, such as a number of epochs, that at least one trial reached.
    pub rungs: DataFrame,
}

/// The results of a simulation.
#[derive(Debug, Clone)]
pub struct SimulateFrames {
    /// A row for each policy, in the order in which the user named the policies. The columns are `policy`, `gpus` and
    /// the metrics by which policies are compared, such as `avg_jct_s`. The metrics of small jobs are null if there are
    /// no small jobs, and those of large jobs if there are no large jobs.
    pub policies: DataFrame,
    /// A row for each policy and virtual cluster. The columns are `policy`, `vc` and the delays of the virtual
    /// cluster's jobs. The delays are null if the virtual cluster had no jobs.
    pub vcs: DataFrame,
    /// The tables of each policy, in the order of the rows of `policies`.
    pub tables: Vec<PolicyFrames>,
}

/// The tables of a simulated policy.
#[derive(Debug, Clone)]
pub struct PolicyFrames {
    /// Name of the policy.
    pub name: String,
    /// The table `<policy>_jobs` without `duration`: a row for each job, in the order of the trace. Job ids are
    /// strings. Times are in seconds on the trace's clock.
    pub jobs: DataFrame,
    /// A row for each hour: `start` (in seconds on the trace's clock), `busy_gpus` and `pending_jobs`. `busy_gpus` and
    /// `pending_jobs` are hourly means of the totals over all virtual clusters and the profiler.
    pub hours: DataFrame,
}

/// Reads a run directory of `gleaner replay`, `gleaner simulate` or `gleaner sweep`.
///
/// # Errors
/// [`Error::Run`] if the directory is not a run directory, or if its files are missing, damaged or contradict each
/// other. [`Error::Command`] if the directory holds a run of `gleaner compare`. [`Error::Setting`] if a setting of a
/// sweep has a value of the wrong type.
pub fn open(dir: impl AsRef<Path>) -> Result<Run> {
    let runs::Run { info, result } = runs::read(dir.as_ref())?;
    let frames = match result {
        RunResult::Replay(replay) => Frames::Replay(Box::new(ReplayFrames::of(&replay)?)),
        RunResult::Simulate(simulation) => {
            Frames::Simulate(SimulateFrames::of(&info, &simulation)?)
        }
        RunResult::Sweep(sweep) => {
            Frames::Sweep(Sweep::new(sweep.mode, sweep.by, sweep.over, &sweep.runs)?)
        }
        RunResult::Compare(_) => return Err(other_than("replay, simulate or sweep", info)),
    };
    Ok(Run { info, frames })
}

impl Run {
    /// The results of a replay.
    ///
    /// # Errors
    /// [`Error::Command`] if the run was made by another subcommand.
    pub fn into_replay(self) -> Result<ReplayFrames> {
        match self.frames {
            Frames::Replay(replay) => Ok(*replay),
            _ => Err(other_than("replay", self.info)),
        }
    }

    /// The results of a simulation.
    ///
    /// # Errors
    /// Same as [`Run::into_replay`].
    pub fn into_simulation(self) -> Result<SimulateFrames> {
        match self.frames {
            Frames::Simulate(simulation) => Ok(simulation),
            _ => Err(other_than("simulate", self.info)),
        }
    }

    /// The results of a sweep.
    ///
    /// # Errors
    /// Same as [`Run::into_replay`].
    pub fn into_sweep(self) -> Result<Sweep> {
        match self.frames {
            Frames::Sweep(sweep) => Ok(sweep),
            _ => Err(other_than("sweep", self.info)),
        }
    }
}

fn other_than(expected: &'static str, info: RunInfo) -> Error {
    Error::Command {
        found: info.command,
        expected,
    }
}

impl ReplayFrames {
    fn of(run: &ReplayRun) -> Result<Self> {
        let class_of_node = run.class_of_node.as_ref();
        let class_of_node =
            class_of_node.map(|classes| classes.iter().map(String::as_str).collect());
        let (tasks, nodes) = (&run.tasks, &run.nodes);
        let allocations = AllocationRow::table(&run.allocations, tasks, nodes, class_of_node);
        let fragments = run.fragments.as_ref();
        let fragments = fragments.map(|rows| frame(&Table::of("fragments", rows)));
        Ok(ReplayFrames {
            summary: one_row(&run.summary)?,
            steps: frame(&Table::of("steps", &run.steps))?,
            tasks: frame(&Table::of("tasks", &run.tasks))?,
            allocations: frame(&allocations)?,
            fragments: fragments.transpose()?,
            classes: run.classes.as_ref().map(ClassFrames::of).transpose()?,
            search: run.search.as_ref().map(SearchFrames::of).transpose()?,
        })
    }
}

impl ClassFrames {
    fn of(classes: &ClassOutcome) -> Result<Self> {
        Ok(ClassFrames {
            events: frame(&Table::of("classes", &classes.rows))?,
            moves: frame(&Table::of("moves", &classes.moves))?,
            totals: frame(&Table::of("class_totals", &classes.totals))?,
        })
    }
}

impl SearchFrames {
    fn of(search: &SearchOutcome) -> Result<Self> {
        Ok(SearchFrames {
            events: frame(&Table::of("search", &search.events))?,
            trials: frame(&Table::of("trials", &search.trials))?,
            rungs: frame(&Table::of("rungs", &search.rungs))?,
        })
    }
}

impl SimulateFrames {
    fn of(info: &RunInfo, run: &SimulateRun) -> Result<Self> {
        let tables = run.policies.iter();
        let tables = tables.map(|policy| PolicyFrames::of(info, policy));
        let figures = run.policies.iter();
        let figures: Vec<_> = figures
            .map(|run| (run.name.as_str(), &run.figures))
            .collect();
        Ok(SimulateFrames {
            policies: frame(&policies(&figures))?,
            vcs: frame(&vcs(&figures))?,
            tables: tables.collect::<Result<_>>()?,
        })
    }

    /// The tables of the policy with this name; `None` if it was not simulated.
    pub fn policy(&self, name: &str) -> Option<&PolicyFrames> {
        self.tables.iter().find(|policy| policy.name == name)
    }
}

impl PolicyFrames {
    fn of(info: &RunInfo, run: &PolicyRun) -> Result<Self> {
        Ok(PolicyFrames {
            name: run.name.clone(),
            jobs: jobs(&runs::job_rows(info, &run.name)?)?,
            hours: hours(&run.hours)?,
        })
    }
}

/// The jobs of a policy. Job ids are strings, even if all of them are numbers.
fn jobs(rows: &[JobRow]) -> Result<DataFrame> {
    let mut jobs = frame(&Table::of("jobs", rows))?;
    let ids = jobs.column("job_id")?.cast(&DataType::String)?;
    jobs.with_column(ids)?;
    Ok(jobs)
}

/// The load of the cluster by hour.
fn hours(hours: &[Hour]) -> Result<DataFrame> {
    let floats = |of: fn(&Hour) -> f64| Column::Fixed(hours.iter().map(of).collect());
    let starts = hours.iter().map(|hour| hour.start);
    frame(&Table {
        name: "hours",
        columns: vec![
            ("start", Column::Whole(starts.collect())),
            ("busy_gpus", floats(Hour::busy)),
            ("pending_jobs", floats(|hour| hour.pending)),
        ],
    })
}

/// A summary as a frame with one row. The columns have the same types as the fields in JSON.
fn one_row(summary: &Summary) -> Result<DataFrame> {
    let is_figure = |name: &str| Summary::METRICS.iter().any(|metric| metric.name == name);
    let values = fields(summary)?;
    let columns = values.iter().map(|(name, value)| {
        let named = name.as_str().into();
        match value {
            Value::Bool(value) => FrameColumn::new(named, [*value]),
            Value::Number(number) => match number.as_i64() {
                Some(whole) => FrameColumn::new(named, [whole]),
                None => FrameColumn::new(named, [number.as_f64()]),
            },
            Value::Null if is_figure(name) => FrameColumn::new(named, [None::<f64>]),
            Value::Null => FrameColumn::new(named, [None::<&str>]),
            Value::String(text) => FrameColumn::new(named, [text.as_str()]),
            other => FrameColumn::new(named, [other.to_string()]),
        }
    });
    Ok(DataFrame::new_infer_height(columns.collect())?)
}
