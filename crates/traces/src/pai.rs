//! Reads the trace of Alibaba PAI, 2020: a table of jobs and a table of their tasks, both without
//! headers.

use indexmap::IndexMap;

use gleaner_domain::error::{Fault, Result};
use gleaner_domain::words::counted;
use gleaner_io::delimited::{Dialect, Layout, LogTable, Row};
use gleaner_io::input::{Line, Place};
use gleaner_logs::scheduler;
use gleaner_logs::scheduler::{
    At, Collector, LineReader, Log, Moment, Nodes, Reason, Record, Run, epoch, is_unknown,
};

/// The tables of PAI and their source, for messages.
pub const WHERE: &str = "pai_job_table.csv and pai_task_table.csv from \
                         https://github.com/alibaba/clusterdata, cluster-trace-gpu-v2020";

/// The content of the file pai_job_table.header.
const JOB_HEADER: &str = "job_name,inst_id,user,status,start_time,end_time";
const JOBS: Layout = Layout {
    columns: &[&["job_name"], &["user"], &["status"], &["start_time"]],
    required: &[JOB, USER, STATUS, SUBMIT],
    quoted: true,
    remedy: || format!("the columns are {JOB_HEADER}"),
};
const JOB: usize = 0;
const USER: usize = 1;
const STATUS: usize = 2;
const SUBMIT: usize = 3;

/// The content of the file pai_task_table.header.
const TASK_HEADER: &str =
    "job_name,task_name,inst_num,status,start_time,end_time,plan_cpu,plan_mem,plan_gpu,gpu_type";
const TASKS: Layout = Layout {
    columns: &[
        &["job_name"],
        &["inst_num"],
        &["start_time"],
        &["end_time"],
        &["plan_cpu"],
        &["plan_gpu"],
        &["gpu_type"],
    ],
    required: &[JOB, INSTANCES, START, END, CPU, GPU, TYPE],
    quoted: true,
    remedy: || format!("the columns are {TASK_HEADER}"),
};
const INSTANCES: usize = 1;
const START: usize = 2;
const END: usize = 3;
const CPU: usize = 4;
const GPU: usize = 5;
const TYPE: usize = 6;

/// Maximum number of instances of a task, and maximum percentage of a resource that a task requests.
const MOST: f64 = 1e9;

/// The virtual cluster of jobs whose type of GPU is unknown.
const UNKNOWN_TYPE: &str = "unknown";

/// Reads both tables, in any order. Jobs are complete only after both tables have been read.
#[derive(Default)]
pub(super) struct PaiReader {
    known: Known,
    /// The table that the current file contains; `None` before its first line.
    current: Option<(Table, LogTable)>,
}

/// The contents of the rows read so far.
#[derive(Default)]
struct Known {
    /// The jobs by name.
    jobs: IndexMap<Box<str>, Job>,
    /// Number of rows read from each [`Table`].
    rows: [u64; 2],
}

/// The rows of both tables that describe a job.
#[derive(Default)]
struct Job {
    row: Option<JobRow>,
    tasks: Option<Tasks>,
}

/// The row of a job. `submit` is in seconds on the trace's own clock.
struct JobRow {
    user: Box<str>,
    state: &'static str,
    submit: Option<i64>,
    at: At,
}

/// The total resources and the time span of a job's tasks.
struct Tasks {
    /// Requested share of a GPU in percent, summed over all instances.
    gpu: f64,
    /// Number of requested CPU cores, summed over all instances.
    cpus: f64,
    kind: Box<str>,
    /// First start of a task with GPUs.
    start: Option<i64>,
    /// Last end of a task with GPUs.
    end: Option<i64>,
    /// Whether a task with GPUs has started but not ended.
    open: bool,
    at: At,
}

/// The table that a file contains.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Table {
    Jobs,
    Tasks,
}

impl LineReader for PaiReader {
    fn begin(&mut self) {
        self.current = None;
    }

    fn line(&mut self, line: &Line<'_>, collector: &mut Collector<'_>) -> Result<()> {
        let (table, rows) = match &mut self.current {
            Some(current) => current,
            None => self.current.insert(find(line)?),
        };
        match rows.row(line)? {
            Some(row) => self.known.row(
                *table,
                row,
                collector.log.at(line.place),
                &mut collector.log,
            ),
            None => Ok(()),
        }
    }

    fn finish(&mut self, collector: &mut Collector<'_>) -> Result<()> {
        for (rows, name) in self
            .known
            .rows
            .iter()
            .zip(["pai_job_table", "pai_task_table"])
        {
            if *rows == 0 && !self.known.jobs.is_empty() {
                let found = format!("no row of {name}.csv");
                return Err(Fault::of(collector.log.first_file(), found, WHERE).into());
            }
        }
        let mut rounded = Rounded::default();
        for (name, job) in std::mem::take(&mut self.known.jobs) {
            finish(&name, &job, &mut rounded, collector)?;
        }
        collector.log.notes.extend(rounded.note());
        Ok(())
    }
}

/// Recognises the table by the first line of its file. Returns the table and a reader of its rows.
fn find(line: &Line<'_>) -> Result<(Table, LogTable)> {
    let text = &*line.text;
    let cells = Dialect::Csv.split(text);
    let headed = cells.get(0) == Some("job_name");
    let table = match cells.count() {
        _ if headed && text.contains("plan_gpu") => Table::Tasks,
        _ if headed && text.contains("user") => Table::Jobs,
        10 => Table::Tasks,
        6 => Table::Jobs,
        cells => return Err(other_table(cells, line.place).into()),
    };
    let (header, layout) = match table {
        Table::Jobs => (JOB_HEADER, JOBS),
        Table::Tasks => (TASK_HEADER, TASKS),
    };
    let mut rows = LogTable::new(layout, None);
    if !headed {
        rows.take_header(header, line)?;
    }
    Ok((table, rows))
}

/// The fault for a file that contains neither table.
fn other_table(cells: usize, place: Place<'_>) -> Fault {
    let found = format!("{cells} cells");
    let expected = format!("{JOB_HEADER} or {TASK_HEADER}");
    let fault = Fault::of(place.file, found, expected).at(place.within());
    fault.remedy(format!("use {WHERE}"))
}

impl Known {
    /// Adds a row of either table.
    fn row(
        &mut self,
        table: Table,
        row: Result<Row<'_, '_>, String>,
        at: At,
        log: &mut Log,
    ) -> Result<()> {
        let row = match row {
            Ok(row) if row.text(JOB).is_empty() => Err("no job_name".to_owned()),
            other => other,
        };
        self.rows[table as usize] += 1;
        let taken = match (row, table) {
            (Ok(row), Table::Jobs) => {
                let job = self.job(row.text(JOB));
                if job.row.is_some() {
                    return log.fault(Reason::Repeated, at, row.text(JOB));
                }
                job_row(&row, at).map(|row| job.row = Some(row))
            }
            (Ok(row), Table::Tasks) => self.task(&row, at, log)?,
            (Err(found), _) => Err(found),
        };
        match taken {
            Ok(()) => Ok(()),
            Err(found) => log.fault(Reason::Unreadable, at, found),
        }
    }

    fn job(&mut self, name: &str) -> &mut Job {
        // The name is copied only if it is new.
        let index = match self.jobs.get_index_of(name) {
            Some(index) => index,
            None => self.jobs.insert_full(name.into(), Job::default()).0,
        };
        &mut self.jobs[index]
    }

    /// Adds the task of a row to its job. The inner error describes the fault of the row.
    fn task(&mut self, row: &Row<'_, '_>, at: At, log: &mut Log) -> Result<Result<(), String>> {
        let task = match Task::parse(row) {
            Ok(task) => task,
            Err(found) => return Ok(Err(found)),
        };
        let job = self.job(row.text(JOB));
        let tasks = job.tasks.get_or_insert_with(|| Tasks::new(at));
        if let Some(kind) = tasks.add(&task) {
            let found = format!("{}, after {kind}", task.kind);
            log.fault(Reason::SeveralTypes, at, found)?;
        }
        Ok(Ok(()))
    }
}

/// Parses a row of the table of jobs. Statuses are converted to Slurm's job states.
fn job_row(row: &Row<'_, '_>, at: At) -> Result<JobRow, String> {
    Ok(JobRow {
        user: row.text(USER).into(),
        state: match row.text(STATUS) {
            "Terminated" => "COMPLETED",
            "Failed" => "FAILED",
            "Running" => "RUNNING",
            "Waiting" => "PENDING",
            _ => "",
        },
        submit: time(row.text(SUBMIT), "start_time")?,
        at,
    })
}

/// A time in seconds on the trace's own clock. `None` if the cell is empty or 0, which means that the event has not
/// happened.
fn time(text: &str, name: &str) -> Result<Option<i64>, String> {
    if is_unknown(text) {
        return Ok(None);
    }
    let second = epoch(text).ok_or_else(|| format!("{text:?} is not a valid {name}"))?;
    Ok(Some(second).filter(|second| *second > 0))
}

/// A task, parsed from its row.
struct Task<'r> {
    /// Requested share of a GPU in percent, summed over all instances.
    gpu: f64,
    cpus: f64,
    kind: &'r str,
    start: Option<i64>,
    end: Option<i64>,
}

impl<'r> Task<'r> {
    fn parse(row: &'r Row<'_, '_>) -> Result<Self, String> {
        let number = |column: usize, name: &str| match row.text(column) {
            "" => Ok(0.0),
            text => {
                let number = text.parse().ok();
                let number = number.filter(|n| (0.0..=MOST).contains(n));
                number.ok_or_else(|| format!("{text:?} is not a valid {name}"))
            }
        };
        let instances = number(INSTANCES, "inst_num")?;
        Ok(Task {
            gpu: instances * number(GPU, "plan_gpu")?,
            cpus: instances * number(CPU, "plan_cpu")? / 100.0,
            kind: row.text(TYPE),
            start: time(row.text(START), "start_time")?,
            end: time(row.text(END), "end_time")?,
        })
    }
}

impl Tasks {
    fn new(at: At) -> Self {
        Tasks {
            gpu: 0.0,
            cpus: 0.0,
            kind: "".into(),
            start: None,
            end: None,
            open: false,
            at,
        }
    }

    /// Adds a task. If the task uses another type of GPU than the earlier tasks of the job, returns the earlier type.
    fn add(&mut self, task: &Task<'_>) -> Option<&str> {
        self.cpus += task.cpus;
        if task.gpu == 0.0 {
            return None;
        }
        self.gpu += task.gpu;
        self.start = self.start.into_iter().chain(task.start).min();
        self.end = self.end.max(task.end);
        self.open |= task.start.is_some() && task.end.is_none();
        if self.kind.is_empty() {
            self.kind = task.kind.into();
        }
        (*self.kind != *task.kind && !task.kind.is_empty()).then_some(&self.kind)
    }
}

/// The GPU time of the jobs before and after their GPUs are rounded up to whole GPUs.
#[derive(Default)]
struct Rounded {
    jobs: u64,
    /// GPU-seconds as planned.
    planned: f64,
    /// GPU-seconds after rounding up.
    given: f64,
}

impl Rounded {
    /// Rounds a request in percent of a GPU up to whole GPUs, for a job that runs for `seconds`.
    fn up(&mut self, percent: f64, seconds: i64) -> u64 {
        let gpus = (percent / 100.0).ceil();
        self.jobs += u64::from(gpus * 100.0 != percent);
        self.planned += percent / 100.0 * seconds as f64;
        self.given += gpus * seconds as f64;
        gpus as u64
    }

    fn note(&self) -> Option<String> {
        (self.jobs > 0 && self.planned > 0.0).then(|| {
            format!(
                "{} planned a fraction of a GPU: rounding up adds {:.1} % to the total GPU time",
                counted(self.jobs, "job"),
                100.0 * (self.given / self.planned - 1.0)
            )
        })
    }
}

/// Reports a job if both tables contain it and its tasks have ended.
fn finish(
    name: &str,
    job: &Job,
    rounded: &mut Rounded,
    collector: &mut Collector<'_>,
) -> Result<()> {
    let log = &mut collector.log;
    let (row, tasks) = match (&job.row, &job.tasks) {
        (Some(row), Some(tasks)) => (row, tasks),
        (Some(row), None) => return log.fault(Reason::NoTask, row.at, name),
        (None, Some(tasks)) => return log.fault(Reason::NoJob, tasks.at, name),
        // The only row of the job could not be parsed.
        (None, None) => return Ok(()),
    };
    let (start, end) = match (tasks.start, tasks.end) {
        _ if tasks.gpu == 0.0 => (0, 0),
        (Some(start), Some(end)) if !tasks.open => (start, end),
        (None, _) => {
            log.leave_out(Reason::NeverStarted);
            return Ok(());
        }
        _ => {
            log.leave_out(Reason::StillRunning);
            return Ok(());
        }
    };
    let kind = if tasks.kind.is_empty() {
        UNKNOWN_TYPE
    } else {
        &tasks.kind
    };
    let job = scheduler::Job {
        id: name,
        user: &row.user,
        vc: kind,
        state: row.state,
        gpus: rounded.up(tasks.gpu, (end - start).max(0)),
        cpus: tasks.cpus,
        submit: Some(Moment::Second(row.submit.unwrap_or(start))),
        runs: &[Run::between(start, Some(end), Nodes::Unknown)],
        ..scheduler::Job::default()
    };
    collector.take(row.at, &Record::Job(job))
}
