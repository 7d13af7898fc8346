//! Finds the files of an experiment by name. The files are either all in one directory, or selected by a preset or by
//! the original's options -e and -t.

use std::fs;
use std::path::{Path, PathBuf};

use serde::Serialize;

use gleaner_domain::Local;
use gleaner_domain::error::{Error, Result};

/// The files and times of an experiment.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct ExperimentFiles {
    /// The experiment's name.
    pub name: String,
    /// The file with the jobs.
    pub trace: PathBuf,
    /// The file with the virtual clusters.
    pub cluster: PathBuf,
    /// The file with the measured pairs, if any.
    pub colocate: Option<PathBuf>,
    /// The file with the profiles, if any.
    pub profiles: Option<PathBuf>,
    /// The file with the experiment's own profiles, if other profiles replace them.
    pub measured: Option<PathBuf>,
    /// The file with the forecast of submissions, if any.
    pub forecast: Option<PathBuf>,
    /// The file with the estimated durations, if any.
    pub estimates: Option<PathBuf>,
    /// The file with the number of submissions in each interval, if any.
    pub series: Option<PathBuf>,
    /// The civil time of second 0, if the trace's times are seconds and the experiment's name implies the date of its
    /// start.
    #[serde(skip)]
    pub epoch: Option<Local>,
    /// Window of a raw trace: start of the calendar, first submission, last submission.
    #[serde(skip)]
    pub window: Option<[Local; 3]>,
}

/// Published windows. Each entry is a part of an experiment's name, followed by the start of the calendar, the first
/// submission and the last submission of such experiments.
const WINDOWS: [(&str, [&str; 3]); 3] = [
    (
        "Philly",
        [
            "2017-10-01 00:00:00",
            "2017-10-01 00:00:00",
            "2017-10-07 23:59:00",
        ],
    ),
    (
        "Sept",
        [
            "2020-04-01 00:00:00",
            "2020-09-01 00:00:00",
            "2020-09-26 23:59:00",
        ],
    ),
    (
        "July",
        [
            "2020-04-01 00:00:00",
            "2020-07-01 00:00:00",
            "2020-07-31 23:59:00",
        ],
    ),
];

/// Name of the jobs file of a prepared trace, in which times are seconds.
const PREPARED: &str = "jobs.csv";

impl ExperimentFiles {
    /// Finds the files of the experiment `name`, such as `Venus_Sept`, in `directory` or at the original's paths
    /// relative to it. `qssf_alone` is true if QSSF is the only simulated policy: the original then uses other
    /// estimates.
    ///
    /// # Errors
    /// Returns [`Error::Usage`] if the experiment is unknown, or if its trace or cluster is missing.
    pub fn find(name: &str, directory: &Path, qssf_alone: bool) -> Result<Self> {
        let window = window(name)?;
        let found = Self::inside(directory)?;
        let place = DataDirectory { directory };
        let city = name.split('_').next().unwrap_or(name);
        let around = |names: &[&str]| place.find(names);
        let forecast = format!("../../predictor/{city}_throughput_pred.csv");
        let raw = found.trace.with_extension("csv").file_name() != Some(PREPARED.as_ref());
        Ok(ExperimentFiles {
            name: name.to_owned(),
            colocate: found.colocate.or_else(|| around(&["../colocate_info.csv"])),
            profiles: found
                .profiles
                .or_else(|| around(&["../../analyzer/single_data.csv"])),
            forecast: found.forecast.or_else(|| around(&[&forecast])),
            estimates: estimates(&place, name, qssf_alone).or(found.estimates),
            window: window.filter(|_| raw),
            epoch: window.filter(|_| !raw).map(|[epoch, ..]| epoch),
            ..found
        })
    }

    /// Finds the files of an experiment in `directory` only.
    ///
    /// # Errors
    /// The directory cannot be read. Returns [`Error::Usage`] if the directory contains no trace or no cluster.
    pub fn inside(directory: &Path) -> Result<Self> {
        fs::read_dir(directory).map_err(|error| Error::io("read", directory, error))?;
        let place = DataDirectory { directory };
        Ok(ExperimentFiles {
            trace: place.require(&[PREPARED, "cluster_full_log.csv", "cluster_log.csv"])?,
            cluster: place.require(&["vc_config.csv"])?,
            colocate: place.find(&["colocate_info.csv"]),
            profiles: place.find(&["single_data.csv"]),
            forecast: place.find(&["throughput_pred.csv"]),
            estimates: place.find(&ESTIMATES),
            series: place.find(&["cluster_throughput.csv"]),
            ..ExperimentFiles::default()
        })
    }
}

/// Names that a file of estimates can have in a trace's directory.
const ESTIMATES: [&str; 3] = [
    "duration_estimate_ebm.csv",
    "duration_estimate.csv",
    "duration_estimate_lgb.csv",
];

/// Finds the file with the estimates, in the directory of the trace or at the original's path.
fn estimates(place: &DataDirectory<'_>, name: &str, qssf_alone: bool) -> Option<PathBuf> {
    let ebm = [
        ESTIMATES[0],
        &format!("../../estimator/ebm/{name}_ebm_weekly_updated.csv"),
        &format!("../../estimator/ebm/{name}_ebm.csv"),
    ];
    let lgb = [ESTIMATES[2], &format!("../../estimator/lgb/{name}_lgb.csv")];
    let lgb = place.find(&lgb).filter(|_| qssf_alone);
    lgb.or_else(|| place.find(&ebm))
}

/// The published window of an experiment, according to its name.
fn window(name: &str) -> Result<Option<[Local; 3]>> {
    let unknown = || {
        Error::Usage(format!(
            "unknown experiment {name:?}: expected a name such as Venus_Sept, Venus_July or \
             Philly; for another trace, use --trace and --cluster"
        ))
    };
    let (_, texts) = WINDOWS
        .iter()
        .find(|(part, _)| name.contains(part))
        .ok_or_else(unknown)?;
    let times: Vec<Local> = texts.iter().filter_map(|text| text.parse().ok()).collect();
    Ok(times.try_into().ok())
}

/// The directory in which to look for files.
struct DataDirectory<'a> {
    directory: &'a Path,
}

impl DataDirectory<'_> {
    fn find(&self, names: &[&str]) -> Option<PathBuf> {
        let paths = names.iter().flat_map(|name| {
            let parquet = Path::new(name).with_extension("parquet");
            [self.directory.join(name), self.directory.join(parquet)]
        });
        paths.into_iter().find(|path| path.is_file())
    }

    fn require(&self, names: &[&str]) -> Result<PathBuf> {
        let missing = || {
            Error::Usage(format!(
                "{}: found no {}; name the directory that holds the experiment's files",
                self.directory.display(),
                names.join(" or ")
            ))
        };
        self.find(names).ok_or_else(missing)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn touch(root: &Path, names: &[&str]) {
        for name in names {
            let path = root.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
    }

    #[test]
    fn files_are_found_where_the_original_keeps_them() {
        let root = tempfile::tempdir().unwrap();
        touch(
            root.path(),
            &[
                "data/Venus/cluster_full_log.csv",
                "data/Venus/vc_config.csv",
                "data/colocate_info.csv",
                "analyzer/single_data.csv",
                "predictor/Venus_throughput_pred.csv",
                "estimator/ebm/Venus_Sept_ebm_weekly_updated.csv",
                "estimator/lgb/Venus_Sept_lgb.csv",
            ],
        );
        let directory = root.path().join("data/Venus");
        let found = ExperimentFiles::find("Venus_Sept", &directory, false).unwrap();
        assert!(found.trace.ends_with("cluster_full_log.csv"));
        assert!(found.colocate.is_some() && found.profiles.is_some() && found.forecast.is_some());
        assert!(found.estimates.unwrap().to_string_lossy().contains("ebm"));
        let window = found.window.unwrap().map(|time| time.to_string());
        assert_eq!(window[1], "2020-09-01 00:00:00");
        let qssf = ExperimentFiles::find("Venus_Sept", &directory, true).unwrap();
        assert!(qssf.estimates.unwrap().to_string_lossy().contains("lgb"));
    }

    #[test]
    fn a_prepared_trace_has_no_window() {
        let root = tempfile::tempdir().unwrap();
        touch(root.path(), &["jobs.parquet", "vc_config.csv"]);
        let found = ExperimentFiles::find("Venus_Sept", root.path(), false).unwrap();
        assert!(found.trace.ends_with("jobs.parquet"));
        assert_eq!(found.estimates, None);
    }

    #[test]
    fn missing_files_and_experiments_are_named() {
        let root = tempfile::tempdir().unwrap();
        let error = ExperimentFiles::find("Venus_Sept", root.path(), false).unwrap_err();
        assert!(
            error.to_string().contains("found no jobs.csv or"),
            "{error}"
        );
        let error = ExperimentFiles::find("Mars", root.path(), false).unwrap_err();
        assert!(
            error.to_string().contains("unknown experiment \"Mars\""),
            "{error}"
        );
    }
}
