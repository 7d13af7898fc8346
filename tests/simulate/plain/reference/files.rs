//! The published trace, inputs and results, read with nothing of the product's readers.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::PathBuf;

use gleaner::domain::{Job, Usage, Workload};
use gleaner::lucid::inputs::{EstimateTable, ForecastTable, PackingTable, Pair, Profile};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::{Field, Row};

use crate::data::shared;

/// The first second of the published experiment.
pub const START: i64 = 13_219_200;

fn path(name: &str) -> Option<PathBuf> {
    shared(&format!("lucid/venus_sept/{name}"))
}

/// The records of a table, by column name.
fn records(name: &str) -> Vec<BTreeMap<String, String>> {
    let mut reader = csv::Reader::from_path(path(name).unwrap()).unwrap();
    reader.deserialize().map(Result::unwrap).collect()
}

/// What the experiment is made of.
pub struct Data {
    pub jobs: Vec<Job>,
    vcs: Vec<(String, u32)>,
    pub estimates: EstimateTable,
    pub forecast: ForecastTable,
    pub packing: PackingTable,
}

impl Data {
    /// Everything, or `None` where the data is missing.
    pub fn read() -> Option<Data> {
        path("jobs.csv")?;
        let vcs = records("vc_config.csv").into_iter();
        let vcs: Vec<(String, u32)> = vcs
            .map(|row| (row[""].clone(), number(&row, "num")))
            .collect();
        let mut workloads = Vec::new();
        let rows = records("jobs.csv");
        let jobs = rows.iter().map(|row| job(row, &vcs, &mut workloads));
        let jobs = jobs.collect();
        let profiles = records("single_data.csv").iter().map(profile).collect();
        let pairs = records("colocate_info.csv").iter().map(pair).collect();
        let estimates = records("duration_estimate_ebm.csv").into_iter();
        let estimate = |row: Record| (row["job_id"].clone(), number(&row, "priority"));
        Some(Data {
            jobs,
            vcs,
            estimates: EstimateTable(estimates.map(estimate).collect()),
            forecast: forecast(&records("throughput_pred.csv")),
            packing: PackingTable::new(&workloads, &profiles, &pairs),
        })
    }

    /// Index and nodes of a virtual cluster.
    pub fn vc(&self, name: &str) -> (usize, u32) {
        let index = self.vcs.iter().position(|vc| vc.0 == name).unwrap();
        (index, self.vcs[index].1)
    }
}

type Record = BTreeMap<String, String>;

fn number<T: std::str::FromStr>(row: &Record, column: &str) -> T
where
    T::Err: std::fmt::Debug,
{
    row[column].parse().unwrap()
}

fn job(row: &Record, vcs: &[(String, u32)], workloads: &mut Vec<Workload>) -> Job {
    let workload = workload(row, "");
    let known = workloads.iter().position(|known| *known == workload);
    let index = known.unwrap_or(workloads.len());
    if known.is_none() {
        workloads.push(workload);
    }
    Job {
        id: row["job_id"].clone(),
        user: String::new(),
        vc: vcs.iter().position(|vc| vc.0 == row["vc"]).unwrap(),
        name: String::new(),
        gpus: number(row, "gpu_num"),
        cpus: 0.0,
        state: String::new(),
        submit: number(row, "submit_time"),
        duration: number(row, "duration"),
        workload: Some(index),
        usage: usage(row),
    }
}

fn workload(row: &Record, which: &str) -> Workload {
    let column = |name: &str| format!("{name}{which}");
    Workload {
        model: row[&column("model")].clone(),
        dataset: row[&column("dataset")].clone(),
        batch_size: number(row, &column("batchsize")),
        amp: row[&column("amp")] == "1",
    }
}

fn usage(row: &Record) -> Usage {
    Usage {
        speed: number(row, "speed"),
        gpu_util: number(row, "gpu_util"),
        gmem_util: number(row, "gmem_util"),
        gmem: number(row, "gmem"),
    }
}

fn profile(row: &Record) -> (Workload, Profile) {
    let profile = Profile {
        usage: usage(row),
        score: number(row, "label"),
    };
    (workload(row, ""), profile)
}

fn pair(row: &Record) -> ((Workload, Workload), Pair) {
    let pair = Pair {
        speeds: (number(row, "speed1"), number(row, "speed2")),
        gpu_util: number(row, "gpu_util"),
        gmem: number(row, "gmem"),
    };
    ((workload(row, "1"), workload(row, "2")), pair)
}

fn forecast(rows: &[Record]) -> ForecastTable {
    let civil = |row: &Record| -> jiff::civil::DateTime { number(row, "time") };
    let first = civil(&rows[0]);
    let second = |row: &Record| START + civil(row).duration_since(first).as_secs();
    ForecastTable {
        times: rows.iter().map(second).collect(),
        gpu_jobs: rows.iter().map(|row| number(row, "pred_gpu_job")).collect(),
        gpus: rows.iter().map(|row| number(row, "pred_gpu_num")).collect(),
    }
}

/// The profiler's scaling steps.
pub fn scaling() -> Vec<(i64, i32)> {
    let rows = records("reference/profiler_scaling.csv");
    let step = |row: &Record| {
        (
            number::<f64>(row, "time") as i64,
            number(row, "scaling_num"),
        )
    };
    rows.iter().map(step).collect()
}

/// A table of published results.
pub struct Table {
    columns: BTreeMap<String, usize>,
    rows: Vec<Row>,
    by_id: BTreeMap<String, usize>,
}

impl Table {
    pub fn read(name: &str) -> Table {
        let path = path(&format!("reference/{name}.parquet")).unwrap();
        let reader = SerializedFileReader::new(File::open(path).unwrap()).unwrap();
        let rows: Vec<Row> = reader
            .get_row_iter(None)
            .unwrap()
            .map(Result::unwrap)
            .collect();
        let names = rows[0].get_column_iter().enumerate();
        let columns: BTreeMap<String, usize> =
            names.map(|(i, (name, _))| (name.clone(), i)).collect();
        let id = |(index, row): (usize, &Row)| {
            let id = row.get_column_iter().next().unwrap().1;
            (id.to_string(), index)
        };
        let by_id = rows.iter().enumerate().map(id).collect();
        Table {
            columns,
            rows,
            by_id,
        }
    }

    pub fn rows(&self) -> usize {
        self.rows.len()
    }

    fn field(&self, row: usize, column: &str) -> &Field {
        let mut fields = self.rows[row].get_column_iter();
        fields.nth(self.columns[column]).unwrap().1
    }

    pub fn number(&self, row: usize, column: &str) -> f64 {
        match self.field(row, column) {
            Field::Long(number) => *number as f64,
            Field::Double(number) => *number,
            other => panic!("{column} is {other}"),
        }
    }

    fn text(&self, row: usize, column: &str) -> String {
        match self.field(row, column) {
            Field::Str(text) => text.clone(),
            other => panic!("{column} is {other}"),
        }
    }

    /// Start, end, queue, checkpoints and nodes of a job.
    pub fn row(&self, id: &str) -> (i64, i64, i64, i64, String) {
        let row = self.by_id[id];
        let second = |column| self.number(row, column) as i64;
        let columns = ["start_time", "end_time", "queue", "ckpt_times"];
        let [start, end, queue, checkpoints] = columns.map(second);
        (start, end, queue, checkpoints, self.text(row, "nodes"))
    }

    /// Start, end, queue and nodes of a job in the profiler.
    pub fn profiler_row(&self, id: &str) -> (i64, i64, i64, String) {
        let row = self.by_id[id];
        let second = |column| self.number(row, column) as i64;
        let [start, end, queue] = ["start_time", "end_time", "profqueue"].map(second);
        (start, end, queue, self.text(row, "nodes"))
    }
}
