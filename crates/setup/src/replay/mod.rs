//! The inputs of a replay: log, slice, tasks and rules.

mod class_checks;
mod classes;
mod fit;
mod rules;
pub mod t_fwd;
mod topology;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use gleaner_domain::Slice;
use gleaner_domain::clock::Occurrence;
use gleaner_domain::error::{Error, Fault, Faults, Result};
use gleaner_domain::objective::Situation;
use gleaner_domain::stamp::{as_text, from_text};
use gleaner_domain::words::counted;
use gleaner_domain::{EventLog, NodeOrder, Stamp, TrainingTask, Utc};
use gleaner_inputs::tasks::TaskSet;
use gleaner_io::{Loaded, SourceId};
use gleaner_logs::zone::Zone;
use gleaner_replay::Options;
use gleaner_replay::rounds::check_repeatable;

use gleaner_domain::Observer;

use crate::settings;
use crate::settings::Spec;
use crate::solver::SolverArgs;
pub use classes::ClassArgs;
pub use rules::Rules;
pub use t_fwd::{ChosenWindow, TFwd};
pub use topology::{check_topology, read_topology};

settings! {
    /// All settings of a replay.
    #[derive(Debug, Clone, Serialize)]
    pub struct ReplaySettings {
        /// The inputs and the rules of the replay.
        #[serde(flatten)]
        pub log: LogArgs;
        /// Leave out faulty tasks, and list them in skipped.csv.
        pub skip_invalid: bool = false => Spec::flag();
        /// Apply the allocations in this alloc.jsonl file instead of calling a solver. The replay ends after the last
        /// allocation.
        pub scripted: Option<PathBuf> = None => Spec::of("FILE").conflicts(&[
            "solver",
            "initial",
            "completion_events",
            "repeat_tasks",
            "topology",
        ]);
        /// Check every decision with a checker that shares no code with the solvers.
        pub check: bool = false => Spec::flag();
        /// The solver and its limits.
        #[serde(flatten)]
        pub solver: SolverArgs;
    }
}

settings! {
    /// The inputs of a replay, and its rules.
    #[derive(Debug, Clone, Serialize, Deserialize)]
    pub struct LogArgs {
        /// Event log: a pandas pickle (also .gz or .tar.gz), CSV, Parquet or .gev (-ndmap).
        pub events: Option<PathBuf> = None => Spec::of("LOG");
        /// Tasks: TOML, JSON, CSV, Parquet, or the original's pickle of bounds (-bdfn).
        pub tasks: Option<PathBuf> = None => Spec::of("FILE");
        /// Scaling curves: the original's pickle of curves (-scfn).
        pub curves: Option<PathBuf> = None => Spec::of("FILE");
        /// Network of the log's nodes, for --node-choice: Slurm's topology.conf, or the output of
        /// `scontrol show topology`. The order of nodes in the topology replaces the order of
        /// names.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub topology: Option<PathBuf> = None => Spec::of("FILE");
        /// The classes of the log's nodes.
        #[serde(flatten)]
        pub classes: ClassArgs;
        /// The part of the log to use.
        #[serde(flatten)]
        pub slice: SliceArgs;
        /// The rules of the replay.
        #[serde(flatten)]
        pub rules: Rules;
    }
}

settings! {
    /// The part of a log to use.
    #[derive(Debug, Clone, Serialize, Deserialize)]
    pub struct SliceArgs {
        /// Keep a copy that loads faster, LOG.gev, next to the log. The copy is rebuilt when the log changes.
        pub cache: bool = false => Spec::flag();
        /// Number of rows to drop at the start of the log; the original always drops 1000.
        pub skip_rows: usize = 0 => Spec::of("ROWS");
        /// Index of the first node (column) of the log to use, from 0 (-nis).
        pub first_node: usize = 0 => Spec::of("INDEX");
        /// Number of nodes to use (-nN) [default: all].
        pub nodes: Option<usize> = None => Spec::of("COUNT");
        /// Start of the part of the log to use, such as "2026-01-31 08:00": in the local time of the log, or with an
        /// offset from UTC. Earlier rows only determine which nodes are idle at that time.
        #[serde(default, serialize_with = "as_text", deserialize_with = "from_text")]
        pub from: Option<Stamp> = None => Spec::of("TIME");
        /// End of the part of the log to use.
        #[serde(default, serialize_with = "as_text", deserialize_with = "from_text")]
        pub to: Option<Stamp> = None => Spec::of("TIME");
        /// Drop the last row if it changes no nodes, as the original does. By default, it is kept as the end
        /// of the log. Implied by the original's flags.
        #[serde(default)]
        pub drop_end_row: bool = false => Spec::flag();
        /// Keep the rows in which no selected node changes. In scripts of `gleaner harvest`, allocations can also
        /// change at these rows.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        pub all_rows: bool = false => Spec::flag();
        /// Time zone of the log, such as America/Chicago or +01:00 [default: the zone that the log states].
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub timezone: Option<String> = None => Spec::of("ZONE");
    }
}

impl SliceArgs {
    /// The slice of the log.
    pub fn slice(&self) -> Slice {
        Slice {
            skip_rows: self.skip_rows,
            first_node: self.first_node,
            nodes: self.nodes,
            from: self.from,
            to: self.to,
            drop_end_row: self.drop_end_row,
            all_rows: self.all_rows,
        }
    }

    /// Reads the whole log, or its fast copy if the settings allow it, and the classes of its nodes.
    fn read_log(
        &self,
        events: &Path,
        classes: &ClassArgs,
        observer: &dyn Observer,
    ) -> Result<Loaded<EventLog>> {
        let log = match &self.timezone {
            None => read_log(events, self.cache, observer)?,
            Some(zone) => read_log_in(events, zone, observer)?,
        };
        classes.apply(log, observer)
    }

    /// Reads the log `events`, sets the classes of its nodes, and cuts the slice. Drops every row that equals the
    /// previous row, except the last row.
    ///
    /// # Errors
    /// A file cannot be read or has faults, or the slice is empty.
    pub fn read(
        &self,
        events: &Path,
        classes: &ClassArgs,
        observer: &dyn Observer,
    ) -> Result<Loaded<EventLog>> {
        let log = self.read_log(events, classes, observer)?;
        let expected =
            "rows after --skip-rows and from --from to --to, and nodes starting at --first-node";
        Ok(Loaded {
            value: cut(&log.value, self.slice(), events, expected, observer)?
                .with_clock_from_start(),
            ..log
        })
    }

    /// Like [`SliceArgs::read`], but keeps the rows that change nothing if the whole log is used. These rows show that
    /// the log's collector was working.
    ///
    /// # Errors
    /// Same as [`SliceArgs::read`].
    pub fn read_with_still_rows(
        &self,
        events: &Path,
        classes: &ClassArgs,
        observer: &dyn Observer,
    ) -> Result<Loaded<EventLog>> {
        if self.slice() == Slice::default() {
            self.read_log(events, classes, observer)
        } else {
            self.read(events, classes, observer)
        }
    }
}

/// The inputs of the replay engine.
#[derive(Debug)]
pub struct Replay {
    /// The slice of the log.
    pub log: EventLog,
    /// The tasks.
    pub tasks: Vec<TrainingTask>,
    /// Faults in the skipped tasks.
    pub skipped: Faults,
    /// Every file that was read.
    pub sources: Vec<SourceId>,
    /// The options of the engine.
    pub options: Options,
    /// Choices that were made automatically, one sentence each. They require no action.
    pub notes: Vec<String>,
}

/// Checks that a set of tasks can be repeated: the tasks must not belong to a search.
///
/// # Errors
/// Returns [`Error::Usage`] if the tasks belong to a search.
pub fn check_no_search(set: &TaskSet) -> Result<()> {
    match set.search {
        None => Ok(()),
        Some(_) => Err(Error::Usage(
            "--repeat-tasks resubmits tasks, but a search trains these tasks: omit the option, or \
             give the search more trials"
                .to_owned(),
        )),
    }
}

/// Checks that the objective's values are in range for tasks that will be replayed on `log`.
///
/// # Errors
/// Returns [`Error::Usage`] if a value is out of range.
pub fn check_objective(options: &Options, tasks: &[TrainingTask], log: &EventLog) -> Result<()> {
    if options.objective.is_function() {
        return Err(Error::Usage(format!(
            "the objective {} is a Python function: pass the function itself to gleaner.replay",
            options.objective
        )));
    }
    let (Some(&start), Some(&end)) = (log.times().first(), log.times().last()) else {
        return Ok(());
    };
    let situation = Situation {
        start,
        end,
        max_tasks: options.max_tasks,
    };
    let classes = options.classes(log, tasks)?;
    class_checks::check_objective_in(classes.as_ref(), &options.objective, tasks, situation)
}

const NEEDS: &str = "\
a log of idle nodes and a set of training tasks are needed:

  --events LOG    the idle nodes over time: the original's pickle (also .tar.gz),
                  CSV or Parquet (a column per node, or time,node,state), or .gev
  --tasks FILE    the tasks: one TOML, JSON, CSV or Parquet file (dataset/README.md),
                  or the original's bounds pickle together with --curves FILE

No data yet? Generate some, and replay it:

  gleaner synth events --nodes 100 --days 2 -o idle.csv
  gleaner synth tasks --count 20 -o tasks.toml
  gleaner replay --events idle.csv --tasks tasks.toml --t-fwd 120 --out run

`gleaner replay --help` lists all other options";

/// Reads a log, from its fast copy if `cache` is set.
///
/// # Errors
/// The file cannot be read or has faults.
pub fn read_log(file: &Path, cache: bool, observer: &dyn Observer) -> Result<Loaded<EventLog>> {
    let log = if cache {
        gleaner_inputs::events::read_cached(file)?
    } else {
        gleaner_inputs::events::read(file)?
    };
    observer.remark(&log.notes);
    Ok(log)
}

/// Reads a log whose times are in the time zone `zone`. The times in a fast copy are on the log's own clock, so the log
/// itself is read.
fn read_log_in(file: &Path, zone: &str, observer: &dyn Observer) -> Result<Loaded<EventLog>> {
    let log = gleaner_inputs::events::read_in(file, Some(&Zone::of_flag(zone)?))?;
    observer.remark(&log.notes);
    Ok(log)
}

/// Cuts the slice from the log that was read from `file`.
///
/// # Errors
/// The slice has no rows or no nodes (`expected` states what it should contain), or its times have offsets from UTC
/// although the log's clock is unknown.
pub fn cut(
    log: &EventLog,
    slice: Slice,
    file: &Path,
    expected: &str,
    observer: &dyn Observer,
) -> Result<EventLog> {
    let sliced = log.slice(slice);
    let sliced = sliced.map_err(|error| Error::Usage(error.to_string()))?;
    if sliced.is_empty() || sliced.nodes().is_empty() {
        let (rows, nodes) = (
            counted(log.len(), "row"),
            counted(log.nodes().len(), "node"),
        );
        let found = format!("{rows}{} and {nodes}", span(log));
        return Err(Fault::of(file, found, expected).into());
    }
    observer.remark(&beyond(log, slice));
    Ok(sliced)
}

/// Formats the time span of a log, such as ` from 2026-01-01 00:00:00 to 2026-01-02 00:00:00`; empty for a log without
/// rows.
fn span(log: &EventLog) -> String {
    let ends = log.times().first().zip(log.times().last());
    let shown = ends.map(|(&from, &to)| (log.clock().show(from), log.clock().show(to)));
    shown.map_or(String::new(), |(from, to)| format!(" from {from} to {to}"))
}

/// Notes about a slice that extends beyond the log; empty if the slice is within the log.
fn beyond(log: &EventLog, slice: Slice) -> Vec<String> {
    let mut remarks = Vec::new();
    let left = log.nodes().len().saturating_sub(slice.first_node);
    if let Some(asked) = slice.nodes.filter(|asked| *asked > left) {
        let after = match slice.first_node {
            0 => String::new(),
            first => format!(" starting at node {first}"),
        };
        remarks.push(format!(
            "{asked} nodes are requested, but the log has only {left}{after}, so all of these are used"
        ));
    }
    let time = |stamp: Option<Stamp>| log.clock().instant(stamp?, Occurrence::First).ok();
    let is_early = |time: Utc| log.times().first().is_some_and(|first| time < *first);
    let is_late = |time: Utc| log.times().last().is_some_and(|last| time > *last);
    let (early, late) = (time(slice.from).filter(|t| is_early(*t)), time(slice.to));
    if early.is_some() || late.is_some_and(is_late) {
        let span = span(log);
        remarks.push(format!(
            "the requested time span extends beyond the log, which runs{span}"
        ));
    }
    remarks
}

impl Replay {
    /// Reads the tasks and the log, and cuts the slice. If `skip_invalid` is set, faulty tasks are skipped.
    ///
    /// # Errors
    /// Returns [`Error::Usage`] if a file is not named. It is also an error if a file cannot be read or has faults, or
    /// if the slice is empty. All other errors are those of [`Replay::of`].
    pub fn open(args: &LogArgs, skip_invalid: bool, observer: &dyn Observer) -> Result<Self> {
        let (Some(events), Some(tasks)) = (&args.events, &args.tasks) else {
            return Err(Error::Usage(NEEDS.into()));
        };
        let log = args.slice.read(events, &args.classes, observer)?;
        let (curves, clock) = (args.curves.as_deref(), log.value.clock());
        let tasks = gleaner_inputs::tasks::read_on(tasks, curves, skip_invalid, clock)?;
        observer.remark(&tasks.notes);
        let sources = log.sources.into_iter().chain(tasks.sources).collect();
        let mut replay = Self::of(log.value, tasks.value, &args.rules, skip_invalid, observer)?;
        replay.sources = sources;
        if let Some(order) = args.read_topology(&replay.log, observer)? {
            replay.options.node_order = Some(Arc::new(order.value));
            replay.sources.extend(order.sources);
        }
        Ok(replay)
    }

    /// A replay of `tasks` on `log` under `rules`. If `skip_invalid` is set, tasks that do not fit the
    /// forward window are skipped.
    ///
    /// # Errors
    /// Returns [`Error::Usage`] if the rules request a repetition or a search that the tasks do not allow, or if a
    /// value of the objective is out of range. The same holds if the options do not support the classes. Tasks that do
    /// not fit the forward window are an error without `skip_invalid`, if no task remains, or if the tasks belong to a
    /// search. Returns [`Error::Stopped`] if the observer stops the choice of the window.
    pub fn of(
        log: EventLog,
        tasks: TaskSet,
        rules: &Rules,
        skip_invalid: bool,
        observer: &dyn Observer,
    ) -> Result<Self> {
        let log = match rules.min_fragment {
            Some(seconds) => log.without_short_fragments(seconds),
            None => log,
        };
        let (window, notes) = rules.window(&log, &tasks, observer)?;
        let set = tasks.within_window(window, skip_invalid)?;
        if rules.repeat_tasks {
            check_repeatable(&set.tasks)?;
            check_no_search(&set)?;
        }
        observer.remark(&late(&set.tasks, &log));
        // Many trials of a search can train the same task, so the tasks do not limit the number of nodes that can be
        // used.
        let at_once = set.search.is_none().then(|| set.at_once(rules.max_tasks));
        observer.remark(&fit::notes(&set.tasks, &log, window, at_once));
        let mut options = rules.options(window);
        options.groups = set.groups.into();
        options.search = rules.search(set.search.as_ref())?;
        observer.remark(&class_checks::check_classes(&options, &set.tasks, &log)?);
        check_objective(&options, &set.tasks, &log)?;
        Ok(Replay {
            options,
            log,
            tasks: set.tasks,
            skipped: set.skipped,
            sources: Vec::new(),
            notes,
        })
    }
}

impl LogArgs {
    /// The order of the log's nodes in the topology file, if the file is given and has an effect.
    fn read_topology(
        &self,
        log: &EventLog,
        observer: &dyn Observer,
    ) -> Result<Option<Loaded<NodeOrder>>> {
        let file = self.topology.as_deref();
        let order = read_topology(file, "--topology", [self.rules.node_choice], observer)?;
        if let (Some(file), Some(order)) = (file, &order) {
            check_topology(&order.value, file, log, observer)?;
        }
        Ok(order)
    }
}

/// A note if tasks are submitted after the end of the log.
fn late(tasks: &[TrainingTask], log: &EventLog) -> Vec<String> {
    let (Some(&end), Some(first)) = (log.times().last(), tasks.iter().map(|t| t.submit).min())
    else {
        return Vec::new();
    };
    let late = tasks.iter().filter(|task| task.submit > end).count();
    let [end, first] = [end, first].map(|time| log.clock().steady(time));
    let remark = match late {
        0 => return Vec::new(),
        late if late == tasks.len() => format!(
            "no task is submitted within the log: it ends at {end}, and the first task is \
             submitted at {first}"
        ),
        late => format!(
            "{} of {} are submitted after the log's end, {end}",
            late,
            counted(tasks.len(), "task")
        ),
    };
    vec![remark]
}
