//! The settings of the daemon: `harvest.toml`.
//!
//! ```toml
//! backend = "slurm"          # or "local": processes on this machine as nodes
//! listen = "login1:7117"     # where pilots connect; default: a free port of the loopback interface
//! ladder = [[90, 2], [30, 2], [8, 1]]  # wall time of pilots in minutes, and how many of them wait at once
//! max_pilots = 64
//! node_hours_per_day = 500
//! classes = ["v100", "a100"]                # classes of nodes; default: all nodes are interchangeable
//! class = ["sh", "/opt/site/node-class.sh"] # prints the class of the node on which a pilot runs
//!
//! [slurm]
//! partition = "scavenge"
//! sbatch = ["--account=idle"]
//! setup = [["module", "load", "cuda"]]
//! container = ["apptainer", "exec", "torch.sif"]
//! ```

mod check;

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use gleaner_domain::error::{Faults, Result};
use gleaner_io::source::Source;
use gleaner_io::toml_text;
use serde::Deserialize;

use crate::core::Settings;
use check::Check;

/// The settings of the daemon.
#[derive(Debug, Clone, PartialEq)]
pub struct Config {
    /// The backend that runs the pilots, with its settings.
    pub backend: BackendConfig,
    /// Address on which the daemon listens for pilots and clients. Port 0 selects a free port.
    pub listen: SocketAddr,
    /// Address of the status page, on the loopback interface. Port 0 selects a free port.
    pub page: SocketAddr,
    /// Settings of the core, such as limits on tasks and pilots.
    pub core: Settings,
    /// Time between two queries of the backend.
    pub poll: Duration,
    /// Time after which a requested pilot that the backend does not list is assumed to have ended, or never to have
    /// started.
    pub missing: Duration,
    /// Time limit for one decision.
    pub decision_limit: Duration,
    /// The program that prints the class of a pilot's node, followed by the program's arguments; empty if there is no
    /// such program.
    pub class: Vec<String>,
}

/// The backend that runs the pilots, with its settings.
#[derive(Debug, Clone, PartialEq)]
pub enum BackendConfig {
    /// Pilots run as processes on this machine.
    Local(LocalConfig),
    /// Pilots run as Slurm jobs.
    Slurm(SlurmConfig),
}

/// Settings of local pilots.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LocalConfig {
    /// Number of simulated nodes; ignored if there is an event log.
    #[serde(default = "defaults::nodes")]
    pub nodes: u32,
    /// Event log that determines when nodes are idle, in any format that `gleaner replay` reads. Its playback begins
    /// when the daemon starts. A restarted daemon continues the playback unless it is over. Without a log, all nodes
    /// are always idle.
    pub events: Option<PathBuf>,
    /// Playback speed of the event log, relative to real time: 2 plays the log twice as fast.
    #[serde(default = "defaults::speed")]
    pub speed: f64,
    /// Classes of the nodes, in order. If there are more nodes than entries, the list is repeated. The classes in an
    /// event log take precedence.
    #[serde(default)]
    pub classes: Vec<String>,
}

/// Settings of pilots that are Slurm jobs.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SlurmConfig {
    /// The partition of the pilots. Its jobs must be preemptible.
    pub partition: String,
    /// Additional arguments for `sbatch`, such as `--account=idle`.
    #[serde(default)]
    pub sbatch: Vec<String>,
    /// Commands that are executed on each node before the pilot starts, each as a program with its arguments. They can
    /// change the environment of tasks, as `module load` does.
    #[serde(default)]
    pub setup: Vec<Vec<String>>,
    /// The program that starts each task, followed by the program's arguments, such as `apptainer exec IMAGE`.
    #[serde(default)]
    pub container: Vec<String>,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum BackendName {
    Local,
    Slurm,
}

/// The values of the file before they are checked.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    backend: BackendName,
    #[serde(default = "defaults::loopback")]
    listen: String,
    #[serde(default = "defaults::loopback")]
    page: String,
    #[serde(default = "defaults::t_fwd")]
    t_fwd: f64,
    #[serde(default = "defaults::max_tasks")]
    max_tasks: usize,
    #[serde(default = "defaults::max_nodes")]
    max_nodes: usize,
    #[serde(default = "defaults::max_pilots")]
    max_pilots: usize,
    #[serde(default = "defaults::ladder")]
    ladder: Vec<(f64, usize)>,
    node_hours_per_day: Option<f64>,
    #[serde(default = "defaults::grace")]
    grace: f64,
    #[serde(default = "defaults::silence")]
    silence: f64,
    #[serde(default = "defaults::lease")]
    lease: f64,
    #[serde(default = "defaults::lead")]
    lead: f64,
    #[serde(default = "defaults::max_failures")]
    max_failures: u32,
    retry: Option<f64>,
    poll: Option<f64>,
    #[serde(default = "defaults::missing")]
    missing: f64,
    #[serde(default = "defaults::decision_limit")]
    decision_limit: f64,
    #[serde(default)]
    classes: Vec<String>,
    #[serde(default)]
    class: Vec<String>,
    local: Option<LocalConfig>,
    slurm: Option<SlurmConfig>,
}

mod defaults {
    pub fn nodes() -> u32 {
        4
    }
    pub fn speed() -> f64 {
        1.0
    }
    pub fn loopback() -> String {
        "127.0.0.1:0".to_owned()
    }
    pub fn t_fwd() -> f64 {
        120.0
    }
    pub fn max_tasks() -> usize {
        10
    }
    pub fn max_nodes() -> usize {
        4096
    }
    pub fn max_pilots() -> usize {
        16
    }
    pub fn ladder() -> Vec<(f64, usize)> {
        vec![(90.0, 2), (30.0, 2), (8.0, 2)]
    }
    pub fn grace() -> f64 {
        20.0
    }
    pub fn silence() -> f64 {
        15.0
    }
    pub fn lease() -> f64 {
        60.0
    }
    pub fn lead() -> f64 {
        30.0
    }
    pub fn max_failures() -> u32 {
        3
    }
    pub fn missing() -> f64 {
        60.0
    }
    pub fn decision_limit() -> f64 {
        1.0
    }
}

/// Replacements for the names of Rust types in the parser's messages.
const TYPES: [(&str, &str); 5] = [
    ("f64", "a number"),
    ("usize", "a whole number"),
    ("u32", "a whole number"),
    ("struct Written", "a table of settings"),
    ("a tuple of size 2", "a pair [minutes, count]"),
];

impl Config {
    /// Reads a configuration file.
    ///
    /// # Errors
    /// The file cannot be read or has faults. All faults are reported together.
    pub fn read(path: &Path) -> Result<Self> {
        let source = Source::open(path)?;
        let text = toml_text::read(&source)?;
        let expected = "settings of harvest (docs/HARVEST.md)";
        let written: Written = toml_text::parse(&source, &text, expected, &TYPES)?;
        let mut check = Check {
            path,
            faults: Faults::default(),
        };
        let config = check.config(written);
        match config {
            Some(config) => check.faults.into_result(config),
            None => Err(check.faults.into()),
        }
    }

    /// Time between two beats of a pilot, in seconds. It is at most a third of `silence`, so a pilot does not
    /// count as silent after a single lost beat.
    pub fn beat_s(&self) -> u64 {
        ((self.core.silence_s / 3.0) as u64).clamp(1, 10)
    }

    #[cfg(test)]
    pub(crate) fn example() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("harvest.toml");
        std::fs::write(&path, "backend = \"local\"").unwrap();
        Config::read(&path).unwrap()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Config, String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("harvest.toml");
        std::fs::write(&path, text).unwrap();
        Config::read(&path).map_err(|error| error.to_string())
    }

    #[test]
    fn only_the_backend_must_be_given() {
        let config = read("backend = \"local\"").unwrap();
        assert!(config.listen.ip().is_loopback());
        assert_eq!(config.core.ladder[0], (5400, 2));
        assert_eq!((config.poll.as_secs(), config.beat_s()), (1, 5));
        let slurm = read("backend = \"slurm\"\n[slurm]\npartition = \"idle\"").unwrap();
        assert_eq!(slurm.poll.as_secs(), 10);
        assert!(matches!(slurm.backend, BackendConfig::Slurm(_)));
    }

    #[test]
    fn faults_name_the_key_and_what_was_expected() {
        let all = "backend = \"local\"\nlisten = \"0.0.0.0:1\"\nt_fwd = 0\nmax_tasks = 0\nlease = 10\nlead = 1\n\
                   ladder = [[0.01, 1], [5, 0]]\nnode_hours_per_day = -1\npoll = 0\n\
                   [local]\nspeed = 0\nnodes = 0";
        let faults = read(all).unwrap_err();
        for expected in [
            "listen: found \"0.0.0.0:1\", expected the address of one interface",
            "t_fwd: found 0, expected from 1 to 86400 seconds",
            "max_tasks: found 0, expected from 1 to 10000",
            "lease: found 10, expected more than 15 seconds (silence)",
            "lead: found 1, expected from 20 (grace) to 86400 seconds",
            "ladder: found 0.01 minutes, expected more than",
            "ladder: found 0, expected a count from 1 to 1000",
            "node_hours_per_day: found -1",
            "poll: found 0",
            "local.speed: found 0",
            "local.nodes: found 0",
        ] {
            assert!(faults.contains(expected), "{expected}\n{faults}");
        }
    }

    #[test]
    fn unknown_keys_and_wrong_types_are_faults_of_their_line() {
        for (text, expected) in [
            (
                "backend = \"local\"\nladdder = []",
                "line 2: found `laddder = []`",
            ),
            ("backend = \"pbs\"", "line 1"),
            (
                "backend = \"local\"\nclasses = [\"a\", \"a\"]",
                "classes: found [\"a\", \"a\"], expected",
            ),
            (
                "backend = \"local\"\nclass = [\"\"]",
                "class: found [\"\"], expected a program",
            ),
            (
                "backend = \"local\"\nclasses = [\"a\"]\n[local]\nclasses = [\"b\"]",
                "local.classes: found \"b\", expected one of `classes`",
            ),
            (
                "backend = \"local\"\nmax_tasks = \"x\"",
                "expected a whole number",
            ),
            ("backend = \"local\"\npage = \"192.0.2.1:80\"", "loopback"),
            ("backend = \"slurm\"", "a table [slurm] with a partition"),
            (
                "backend = \"slurm\"\n[slurm]\npartition = \"a b\"\nsetup = [[]]\nsbatch = [\"--array=1-9\"]",
                "slurm.partition",
            ),
            (
                "backend = \"local\"\n[slurm]\npartition = \"a\"",
                "no table [slurm]",
            ),
            (
                "backend = \"local\"\nlisten = \"nowhere\"",
                "an address with a port",
            ),
            ("backend = \"local\"\ngrace = nan", "grace: found NaN"),
        ] {
            let faults = read(text).unwrap_err();
            assert!(faults.contains(expected), "{expected}\n{faults}");
        }
    }
}
