//! Reads the job tables that operators of public machines publish, as delimited text or Parquet with one row per job.
//!
//! Columns are found by their names in the published data sets, or by the names that the user gives (`columns.rs`).
//! Cells can have any of the formats that occur in these data sets (`values.rs`). The nodes of jobs can be in a
//! separate table (`members.rs`). Text and Parquet are read through one interface (`rows.rs`).

mod columns;
mod members;
mod rows;
mod values;

use std::borrow::Cow;
use std::hash::Hash;
use std::path::{Path, PathBuf};

use super::clock::SchedulerClock;
use super::cobalt::locations;
use super::collector::{At, Collector, Log, Sink};
use super::counts::Reason;
use super::duplicates::Duplicates;
use super::machines::Machine;
use super::reader::LogReader;
use super::record::{self, Moment, Queued, Record};
use super::select::Selection;
use super::settle::{Meaning, Settler, TableJob};
use super::slurm::no_time;
use gleaner_domain::Stamp;
use gleaner_domain::error::Result;
use gleaner_io::input::Input;

pub use columns::{Named, Role, parse as parse_columns};
pub(super) use members::Members;
pub(super) use rows::{Header, Row, TakeRows, read};
pub(super) use values::time;

use columns::{ALCF_START, Columns, LOCATION};

/// The source of such tables, as a phrase for messages.
pub const WHERE: &str = "a table of jobs with their starts, ends and nodes (`gleaner ingest table --list` names public ones)";

/// The reason why the times in ALCF's tables are treated as UTC, as a phrase for messages.
pub(super) const ALCF_UTC: &str = "ALCF's tables do not state their zone, but maintenance begins at 15:00 in winter \
                                   and at 14:00 in summer; if these times are UTC, both are 9:00 \
                                   in Chicago";

/// Options for reading tables of jobs.
#[derive(Debug, Clone, Default)]
pub struct TableOptions {
    /// Columns that the user names.
    pub columns: Vec<Named>,
    /// The machine that the data come from.
    pub machine: Option<&'static Machine>,
    /// A table of the nodes of the jobs, with one row for each node of each job.
    pub members: Option<PathBuf>,
    /// Number of cores per node. It is needed if jobs share nodes and the table states how many nodes and cores each
    /// job used. Default: the number in the description of the machine.
    pub cores_per_node: Option<u32>,
}

impl TableOptions {
    /// The name that the user gives to the column of a role.
    fn named(&self, role: Role) -> Option<&str> {
        let named = self.columns.iter().find(|(named, _)| *named == role);
        named.map(|(_, name)| name.as_str())
    }

    /// Number of cores per node, if it is known.
    pub(super) fn cores_per_node(&self) -> Option<u32> {
        let of_machine = self.machine.and_then(|machine| machine.cores_per_node);
        self.cores_per_node.or(of_machine)
    }

    /// Creates an empty table of members, set up with the columns that the options name.
    pub(super) fn members(&self) -> Members {
        let ids = self.named(Role::Id).into_iter();
        let ids = ids.chain(Role::Id.aliases().iter().copied());
        let ids = ids.map(str::to_owned).collect();
        Members::new(ids, self.named(Role::Nodes).map(str::to_owned))
    }
}

/// Reads tables of jobs.
pub(super) struct TableReader {
    options: TableOptions,
    delimiter: Option<String>,
    members: Option<Members>,
    /// The rows read so far, if the log has several files and a repeated row must be counted only once.
    duplicates: Option<Duplicates>,
    /// The columns of the current table.
    columns: Option<Columns>,
    settler: Option<Settler>,
}

impl TableReader {
    /// Creates a reader. `members` contains the nodes of jobs, if they are in a separate table. Set `are_several` if
    /// the log has several files, which may overlap.
    pub fn new(
        options: TableOptions,
        delimiter: Option<String>,
        members: Option<Members>,
        are_several: bool,
    ) -> Self {
        TableReader {
            options,
            delimiter,
            members,
            duplicates: are_several.then(Duplicates::default),
            columns: None,
            settler: None,
        }
    }

    /// Finds the columns of a table, and checks that no required column is missing.
    fn find(&self, header: &Header<'_>, selection: &Selection) -> Result<Columns> {
        let options = &self.options;
        let mut given = options.columns.clone();
        // The column that identifies jobs usually has the same name in the table of members.
        let id = self
            .members
            .as_ref()
            .map(|members| (Role::Id, members.id()));
        let of_user = options.named(Role::Id).map(|id| (Role::Id, id));
        let of_machine = options.machine.map_or(&[][..], |machine| machine.columns);
        let preferred = id.into_iter().chain(of_user);
        let preferred: Vec<(Role, &str)> = preferred.chain(of_machine.iter().copied()).collect();
        if self.members.is_some() {
            // The column of nodes that the user names is in the table of members.
            given.retain(|(role, _)| !matches!(role, Role::Nodes | Role::Id));
        }
        let mut columns = Columns::find(header, &given, &preferred)?;
        if self.members.is_some() {
            columns.drop(Role::Nodes);
            columns.require(header, &[Role::Id])?;
        } else {
            columns.drop(Role::Id);
            if !columns.has(Role::Count) {
                columns.require(header, &[Role::Nodes])?;
            }
        }
        if options.cores_per_node().is_none() {
            columns.drop(Role::Cores);
        }
        columns.require(header, &[Role::Start, Role::End])?;
        if selection.partitions.is_empty() {
            columns.drop(Role::Partition);
        } else {
            columns.require(header, &[Role::Partition])?;
        }
        if !selection.states.is_empty() {
            columns.require(header, &[Role::State])?;
        }
        Ok(columns)
    }

    /// Decides from the columns of the first table whether lists name nodes or contain counts.
    fn settler(&self, columns: &Columns) -> Settler {
        if self.members.is_some() {
            return Settler::of(Meaning::Named);
        }
        match (columns.has(Role::Nodes), columns.has(Role::Count)) {
            (true, true) => Settler::undecided(),
            (false, _) => Settler::of(Meaning::Counted),
            // In some tables, the column `nodes` contains node counts.
            (true, false) if self.options.named(Role::Nodes).is_none() => {
                Settler::of(Meaning::NamedOrNumbers)
            }
            (true, false) => Settler::of(Meaning::Named),
        }
    }
}

impl LogReader for TableReader {
    fn file(&mut self, input: &mut Input<'_>, collector: &mut Collector<'_>) -> Result<()> {
        let delimiter = self.delimiter.clone();
        read(input, delimiter.as_deref(), self, collector)
    }

    fn finish(&mut self, collector: &mut Collector<'_>) -> Result<()> {
        match &mut self.settler {
            Some(settler) => settler.settle(collector),
            None => Ok(()),
        }
    }
}

impl TakeRows for TableReader {
    fn columns(&mut self, header: &Header<'_>, log: &mut Log) -> Result<Vec<Option<usize>>> {
        let columns = self.find(header, &log.selection)?;
        let choice = format!("columns: {}", columns.choice());
        if !log.notes.contains(&choice) {
            log.notes.push(choice);
        }
        let start = columns.at(Role::Start).unwrap_or_default();
        if let Some(Some(zone)) = header.zones.get(start) {
            if let Ok(zone) = zone.parse() {
                log.clock.say_zone(zone);
            }
        } else if header.utc.get(start) == Some(&true) {
            log.clock.count_epochs();
        } else if columns.name(Role::Start).eq_ignore_ascii_case(ALCF_START) {
            log.clock.assume_utc(ALCF_UTC);
        }
        if self.settler.is_none() {
            self.settler = Some(self.settler(&columns));
        }
        let places = columns.clone().into_places();
        self.columns = Some(columns);
        Ok(places)
    }

    fn may_be_damaged(&self) -> Option<usize> {
        Some(Role::Nodes.index())
    }

    fn row(&mut self, row: &Row<'_>, at: At, collector: &mut Collector<'_>) -> Result<()> {
        let text = |role: Role| row.text(role.index());
        let (partition, state) = (text(Role::Partition), text(Role::State));
        if !collector
            .log
            .selects(|selection| selection.takes(&partition, &state))
        {
            return Ok(());
        }
        let [submit, start, end] = [Role::Submit, Role::Start, Role::End].map(|role| {
            let role = role.index();
            time(row.value(role), row.is_utc(role))
        });
        let wrong = [(Role::Start, start), (Role::End, end)];
        if let Some((role, _)) = wrong.into_iter().find(|(_, time)| time.is_err()) {
            return no_time(&text(role), at, &mut collector.log);
        }
        let (start, end) = (start.unwrap_or_default(), end.unwrap_or_default());
        let submit = submit.unwrap_or_default();
        let count = values::count(row.value(Role::Count.index()));
        if start.is_none() {
            let never = record::Job {
                submit,
                queued: end.map(|end| Queued {
                    until: Some(end),
                    nodes: count.map_or(1, |count| count as usize),
                }),
                ..record::Job::default()
            };
            return collector.take(at, &Record::Job(never));
        }
        let state = text(Role::State);
        let mut job = TableJob {
            submit,
            start,
            end,
            lists: Vec::new(),
            is_damaged: false,
            count,
            cores: values::count(row.value(Role::Cores.index())).unwrap_or(0),
            is_over: end.is_none() && has_ended(&state),
            state,
        };
        let nodes = text(Role::Nodes);
        let id = text(Role::Id);
        if let Some(members) = &self.members {
            members.find(&id, &mut job.lists);
        } else if let Err(found) = self.add_nodes(row, &nodes, &mut job.lists) {
            let found = format_args!("{found}: {:?}", nodes.chars().take(60).collect::<String>());
            collector.log.fault(Reason::DamagedList, at, found)?;
            // Keep the job, but mark it as damaged: the names of some of its nodes are unreadable.
            job.is_damaged = true;
            if self.columns.as_ref().is_some_and(Columns::is_count_last) {
                // The cells after the damaged list may be parts of the list.
                job.count = None;
            }
        }
        if let Some(duplicates) = &mut self.duplicates
            && duplicates.has(key(&id, &job))
        {
            collector.log.leave_out(Reason::Duplicate);
            return Ok(());
        }
        match &mut self.settler {
            Some(settler) => settler.take(at, &job, collector),
            None => Ok(()),
        }
    }
}

impl TableReader {
    /// Adds the lists of nodes in a row. `nodes` is the text of the cell, which is ignored if the cell is stored as a
    /// list.
    fn add_nodes<'r>(
        &self,
        row: &Row<'r>,
        nodes: &'r str,
        lists: &mut Vec<Cow<'r, str>>,
    ) -> Result<(), &'static str> {
        if row.list(Role::Nodes.index(), |name| lists.push(name)) {
            return Ok(());
        }
        if nodes.starts_with('"') {
            lists.push(Cow::Borrowed(nodes));
            return Err("a quote that is not closed before a delimiter");
        }
        let columns = self.columns.as_ref();
        let name = columns.map_or("", |columns| columns.name(Role::Nodes));
        if name.eq_ignore_ascii_case(LOCATION) {
            lists.extend(locations(nodes));
            return Ok(());
        }
        values::lists(nodes, lists)
    }
}

/// The values that identify a row. With them, duplicates in overlapping tables are recognised even if one table is text
/// and the other is Parquet.
fn key<'k>(id: &'k str, job: &'k TableJob<'_>) -> impl Hash + use<'k> {
    let second = |moment| match moment {
        Moment::Second(second) => (true, second),
        Moment::Written(Stamp::Local(local)) => (false, local.second()),
        Moment::Written(Stamp::Epoch(utc) | Stamp::Zoned { utc, .. }) => (true, utc.second()),
    };
    let times = [job.submit, job.start, job.end].map(|moment| moment.map(second));
    (id, times, job.count, job.lists.as_slice())
}

/// Whether a state shows that the job has ended; false for numbers and unknown words.
fn has_ended(state: &str) -> bool {
    const ENDED: [&str; 9] = [
        "COMPLETED",
        "CANCELLED",
        "FAILED",
        "TIMEOUT",
        "NODE_FAIL",
        "OUT_OF_MEMORY",
        "PREEMPTED",
        "BOOT_FAIL",
        "DEADLINE",
    ];
    let word = state.split(' ').next().unwrap_or_default();
    ENDED.iter().any(|ended| word.eq_ignore_ascii_case(ended))
}

/// Reads a table that accompanies the log, and returns notes on the rows that could not be used.
///
/// # Errors
/// The file cannot be read or lacks columns, or it has a fault and the reader is strict.
pub(super) fn read_aside(
    input: &mut Input<'_>,
    delimiter: Option<&str>,
    strict: bool,
    taker: &mut dyn TakeRows,
) -> Result<Vec<String>> {
    let mut sink = Ignored;
    let log = Log::new(SchedulerClock::default(), strict);
    let mut collector = Collector::new(log, &mut sink);
    collector.log.begin(input.path());
    read(input, delimiter, taker, &mut collector)?;
    let counts = collector.log.counts;
    let path = input.path().display();
    let remarks = counts.found.iter().map(|(reason, found)| {
        let (count, example) = (found.count, &found.example);
        format!(
            "{path}: {count} {}s {}; first {example}",
            counts.unit,
            reason.words()
        )
    });
    Ok(remarks.collect())
}

/// A sink that ignores all records. It is used to read tables that contain no records of jobs.
struct Ignored;

impl Sink for Ignored {
    fn take(&mut self, _: &mut Log, _: At, _: &Record<'_>) -> Result<()> {
        Ok(())
    }
}

/// Rejects a Parquet file that was given to a reader of another format.
///
/// # Errors
/// The input is in Parquet.
pub(super) fn refuse_parquet(input: &mut Input<'_>) -> Result<()> {
    if !gleaner_io::parquet::is_parquet(input.head()?) {
        return Ok(());
    }
    Err(parquet_fault(input.path()).into())
}

fn parquet_fault(path: &Path) -> gleaner_domain::error::Fault {
    let found = "a table in Parquet";
    let fault = gleaner_domain::error::Fault::of(path, found, "lines of text");
    fault.remedy("`gleaner ingest table` reads tables of jobs in Parquet")
}
