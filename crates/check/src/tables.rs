//! Checks which tables a run has, and whether their CSV and Parquet files agree.

use gleaner_domain::error::Result;
use gleaner_domain::results::run::RUN_FILE;
use gleaner_runs::read::RunInfo;

use crate::Findings;

/// Compares the CSV and Parquet files of all tables, cell by cell.
///
/// # Errors
/// A file is missing or damaged.
pub fn forms(info: &RunInfo) -> Result<Findings> {
    let mut findings = Findings::default();
    for table in info.tables().filter(|table| info.has_csv(table)) {
        info.compare_csv(table, &mut |difference| {
            findings.verified += 1;
            if let Some(sentence) = difference {
                findings.add(|| sentence);
            }
        })?;
    }
    Ok(findings)
}

/// Checks that `run.json` lists each of these tables as Parquet and, if `as_csv` is set, as CSV.
pub fn listed<'n>(
    info: &RunInfo,
    tables: impl IntoIterator<Item = &'n str>,
    as_csv: bool,
    findings: &mut Findings,
) {
    for table in tables {
        let is_stored = info.tables().any(|other| other == table);
        for (is_there, form) in [
            (is_stored, "parquet"),
            (!as_csv || info.has_csv(table), "csv"),
        ] {
            findings.holds(is_there, || {
                format!("{RUN_FILE}: files: {table}.{form} is missing")
            });
        }
    }
}

/// Finds the columns of tables and the fields of JSON files that no check mentions, and records
/// that they are not verified.
///
/// # Errors
/// A file is missing or damaged.
pub fn complete(
    info: &RunInfo,
    run_file: &serde_json::Value,
    findings: &mut Findings,
) -> Result<()> {
    for table in info.tables() {
        findings.complete(table, info.columns(table)?);
    }
    for file in &info.files {
        let path = file.path.as_str();
        if path.ends_with(".json") {
            findings.complete(path, leaves(&info.json(path)?));
        } else if !is_table(info, path) && !findings.names(path) {
            findings.not_verified(path, Findings::WHOLE, "only its digest is compared");
        }
    }
    findings.complete(RUN_FILE, leaves(run_file));
    Ok(())
}

/// Whether a file holds a table that is verified, in CSV or Parquet.
fn is_table(info: &RunInfo, path: &str) -> bool {
    path.rsplit_once('.')
        .is_some_and(|(name, _)| info.tables().any(|table| table == name))
}

/// The JSON pointers, without the first slash, of all values that contain no other values.
fn leaves(value: &serde_json::Value) -> Vec<String> {
    let mut found = Vec::new();
    let mut open = vec![(String::new(), value)];
    while let Some((at, value)) = open.pop() {
        let below = |name: &str| {
            if at.is_empty() {
                name.to_owned()
            } else {
                format!("{at}/{name}")
            }
        };
        match value {
            serde_json::Value::Object(map) => {
                open.extend(map.iter().map(|(name, value)| (below(name), value)));
            }
            serde_json::Value::Array(list) => {
                let numbered = list.iter().enumerate();
                open.extend(numbered.map(|(place, value)| (below(&place.to_string()), value)));
            }
            _ => found.push(at),
        }
    }
    found
}
