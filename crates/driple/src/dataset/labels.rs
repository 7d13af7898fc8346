//! Measurements of jobs, which serve as the labels of the jobs' graphs.

use std::collections::BTreeMap;

use super::job::{FIELDS, JobName};
use crate::graph::METRICS;
use crate::lines::line;

/// The measured resources, in the order of their labels.
pub const RESOURCES: [&str; 4] = ["GPU MEM util", "GPU util", "Network_rx", "Network_tx"];

/// The columns with the three labels of a resource, in the order of the labels.
pub const MEASURES: [&str; 3] = ["avg Idle time", "avg Active time", "avg Peak consumption"];

const RESOURCE: &str = "Resource";
/// The maximum number of faulty values that an error lists.
const LISTED: usize = 10;

/// The measurements of jobs. A job is identified by the six fields of its name.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Measurements {
    jobs: BTreeMap<[String; 6], Vec<Row>>,
}

/// The measurement of one resource of a job.
#[derive(Debug, Clone, PartialEq)]
struct Row {
    line: u64,
    /// Index into [`RESOURCES`].
    resource: usize,
    values: [f32; 3],
}

/// The reason why measurements cannot be read from a file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LabelError {
    /// Columns are missing.
    #[error("line 1: missing columns: {missing} (found {found}); add or rename columns")]
    Columns {
        /// The missing columns, quoted.
        missing: String,
        /// The columns in the file, quoted.
        found: String,
    },
    /// A column occurs twice. Holds the name of the column.
    #[error("line 1: there are two columns {0:?}; keep one")]
    Twice(String),
    /// A row of the file cannot be parsed.
    #[error("line {line}: {fault}")]
    Row {
        /// The line number, from 1.
        line: u64,
        /// A description of the fault.
        fault: String,
    },
    /// Some measurements are not finite numbers.
    #[error("{}", list(.0))]
    Values(Vec<ValueFault>),
}

/// A measurement that is not a finite number.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column:?}: {value:?} is not a finite number")]
pub struct ValueFault {
    /// The line number, from 1.
    pub line: u64,
    /// The name of the column.
    pub column: &'static str,
    /// The first 40 characters of the cell.
    pub value: String,
}

fn list(faults: &[ValueFault]) -> String {
    let listed: Vec<String> = faults
        .iter()
        .take(LISTED)
        .map(ToString::to_string)
        .collect();
    let more = match faults.len().saturating_sub(LISTED) {
        0 => String::new(),
        more => format!(", and {more} more"),
    };
    let listed = listed.join("; ");
    format!("{listed}{more}; correct these values, or leave out the rows of their jobs")
}

/// The reason why a job has no labels.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unlabelled {
    /// The measurements contain no rows for the job.
    #[error("the measurements have no rows for this job (rows are matched by {})", FIELDS.join(", "))]
    NotMeasured,
    /// The job does not have exactly one row for each resource.
    #[error("the measurements need one row for each of {}, found {found}", RESOURCES.join(", "))]
    Rows {
        /// The resources and line numbers of the job's rows.
        found: String,
    },
}

impl Measurements {
    /// Reads measurements from a CSV file with a header. The file must have the columns of
    /// [`FIELDS`] and [`MEASURES`] and the column `Resource`, in any order. Other columns are
    /// ignored, and so are rows for resources that are not in [`RESOURCES`].
    ///
    /// # Errors
    /// The text is not UTF-8. A column is missing or occurs twice. A row has more or fewer fields
    /// than the header. A measurement is not a finite number.
    pub fn from_csv(bytes: &[u8]) -> Result<Self, LabelError> {
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        let mut reader = csv::Reader::from_reader(bytes);
        let columns = Columns::of(reader.headers().map_err(|error| fault(1, &error))?)?;
        let mut jobs = BTreeMap::<_, Vec<Row>>::new();
        let mut faults = Vec::new();
        let mut record = csv::StringRecord::new();
        loop {
            let line = line(bytes, reader.position());
            if !reader
                .read_record(&mut record)
                .map_err(|error| fault(line, &error))?
            {
                break;
            }
            if let Some(row) = columns.row(line, &record, &mut faults) {
                jobs.entry(columns.job(&record)).or_default().push(row);
            }
        }
        if faults.is_empty() {
            Ok(Measurements { jobs })
        } else {
            Err(LabelError::Values(faults))
        }
    }

    /// The labels of a job, in the order of [`super::METRIC_NAMES`].
    ///
    /// # Errors
    /// If the job does not have exactly one row for each resource.
    pub fn labels(&self, job: &JobName) -> Result<[f32; METRICS], Unlabelled> {
        let rows = self.jobs.get(job.fields()).ok_or(Unlabelled::NotMeasured)?;
        let mut sorted: Vec<&Row> = rows.iter().collect();
        sorted.sort_by_key(|row| row.resource);
        if !sorted.iter().map(|row| row.resource).eq(0..RESOURCES.len()) {
            let text = |row: &Row| format!("{} in line {}", RESOURCES[row.resource], row.line);
            let found: Vec<String> = rows.iter().map(text).collect();
            return Err(Unlabelled::Rows {
                found: found.join(", "),
            });
        }
        let mut labels = [0.0; METRICS];
        let values = sorted.iter().flat_map(|row| row.values);
        labels
            .iter_mut()
            .zip(values)
            .for_each(|(label, value)| *label = value);
        Ok(labels)
    }

    /// The number of jobs with at least one measured resource.
    #[must_use]
    pub fn len(&self) -> usize {
        self.jobs.len()
    }

    /// Whether there are no measurements.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.jobs.is_empty()
    }
}

fn fault(line: u64, error: &csv::Error) -> LabelError {
    let fault = match error.kind() {
        csv::ErrorKind::Utf8 { .. } => "the text is not UTF-8; save the file as UTF-8".to_owned(),
        csv::ErrorKind::UnequalLengths {
            expected_len, len, ..
        } => format!("{len} fields, but the header has {expected_len}; correct the row"),
        _ => error.to_string(),
    };
    LabelError::Row { line, fault }
}

/// The indices of the columns in a row.
struct Columns {
    fields: [usize; FIELDS.len()],
    resource: usize,
    measures: [usize; MEASURES.len()],
}

impl Columns {
    fn of(header: &csv::StringRecord) -> Result<Self, LabelError> {
        let names: Vec<&str> = header.iter().map(str::trim).collect();
        let needed = || FIELDS.into_iter().chain([RESOURCE]).chain(MEASURES);
        let count = |name: &str| names.iter().filter(|&&other| other == name).count();
        if let Some(twice) = needed().find(|name| count(name) > 1) {
            return Err(LabelError::Twice(twice.to_owned()));
        }
        let missing: Vec<&str> = needed().filter(|name| count(name) == 0).collect();
        if !missing.is_empty() {
            return Err(LabelError::Columns {
                missing: quoted(&missing),
                found: quoted(&names),
            });
        }
        let at = |name: &str| names.iter().position(|&other| other == name).unwrap_or(0);
        Ok(Columns {
            fields: FIELDS.map(at),
            resource: at(RESOURCE),
            measures: MEASURES.map(at),
        })
    }

    fn job(&self, record: &csv::StringRecord) -> [String; 6] {
        self.fields.map(|at| record[at].trim().to_owned())
    }

    /// The measurement in a row; `None` if [`RESOURCES`] does not contain the row's resource.
    /// Values that are not finite numbers are added to `faults`.
    fn row(
        &self,
        line: u64,
        record: &csv::StringRecord,
        faults: &mut Vec<ValueFault>,
    ) -> Option<Row> {
        let name = record[self.resource].trim();
        let resource = RESOURCES.iter().position(|&known| known == name)?;
        let mut values = [0.0; MEASURES.len()];
        for (measure, value) in values.iter_mut().enumerate() {
            let text = record[self.measures[measure]].trim();
            // Values are first parsed as 64-bit floats, as in the published builder.
            match text.parse::<f64>().map(|number| number as f32) {
                Ok(number) if number.is_finite() => *value = number,
                _ => faults.push(ValueFault {
                    line,
                    column: MEASURES[measure],
                    value: text.chars().take(40).collect(),
                }),
            }
        }
        Some(Row {
            line,
            resource,
            values,
        })
    }
}

fn quoted(names: &[&str]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("{name:?}")).collect();
    quoted.join(", ")
}
