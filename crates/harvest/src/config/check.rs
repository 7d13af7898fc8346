//! Checks the values of a configuration file.

use std::fmt::Display;
use std::net::{SocketAddr, ToSocketAddrs};
use std::ops::RangeBounds;
use std::path::Path;
use std::time::Duration;

use gleaner_domain::error::{Fault, Faults};

use crate::core::{EXPECTED_CLASSES, are_classes};

use super::{
    BackendConfig, BackendName, Config, LocalConfig, Settings, SlurmConfig, Written, defaults,
};

/// Number of seconds in a day, which is the upper bound of most settings that are durations.
const DAY: f64 = 86_400.0;

/// Checks the values of a configuration file and collects the faults.
pub(super) struct Check<'p> {
    pub path: &'p Path,
    pub faults: Faults,
}

impl Check<'_> {
    fn add(&mut self, key: &str, found: impl Display, expected: &str) {
        let fault = Fault::of(self.path, found.to_string(), expected);
        self.faults.push(fault.field(key));
    }

    /// Adds a fault unless `value` is in `range`, which `expected` describes.
    fn range<T: PartialOrd + Display>(
        &mut self,
        key: &str,
        value: &T,
        range: impl RangeBounds<T>,
        expected: &str,
    ) {
        if !range.contains(value) {
            self.add(key, value, expected);
        }
    }

    /// The checked configuration; `None` if a fault leaves a required value undefined.
    pub fn config(&mut self, written: Written) -> Option<Config> {
        self.check_numbers(&written);
        self.check_ladder(&written);
        let is_local = matches!(written.backend, BackendName::Local);
        let listen = self.address("listen", &written.listen);
        let page = self.address("page", &written.page);
        if page.is_some_and(|page| !page.ip().is_loopback()) {
            let expected = "an address of the loopback interface, such as 127.0.0.1:0";
            self.add("page", format!("{:?}", written.page), expected);
        }
        let core = Settings {
            t_fwd_s: written.t_fwd,
            max_tasks: written.max_tasks,
            max_nodes: written.max_nodes,
            max_pilots: written.max_pilots,
            ladder: written
                .ladder
                .iter()
                .map(|(minutes, count)| ((minutes * 60.0).round() as u64, *count))
                .collect(),
            node_hours_per_day: written.node_hours_per_day,
            grace_s: written.grace,
            silence_s: written.silence,
            lease_s: written.lease,
            retry_s: written.retry.unwrap_or(if is_local { 1.0 } else { 30.0 }),
            max_failures: written.max_failures,
            lead_s: written.lead,
            classes: written.classes.clone(),
        };
        self.check_classes(&written);
        let poll = written.poll.unwrap_or(if is_local { 1.0 } else { 10.0 });
        let seconds = |seconds: f64| Duration::try_from_secs_f64(seconds).unwrap_or_default();
        Some(Config {
            backend: self.backend(written.backend, written.local, written.slurm)?,
            listen: listen?,
            page: page?,
            core,
            poll: seconds(poll),
            missing: seconds(written.missing),
            decision_limit: seconds(written.decision_limit),
            class: written.class,
        })
    }

    fn check_numbers(&mut self, written: &Written) {
        let day = "from 1 to 86400 seconds";
        for (key, value) in [
            ("t_fwd", written.t_fwd),
            ("lease", written.lease),
            ("missing", written.missing),
        ] {
            self.range(key, &value, 1.0..=DAY, day);
        }
        let limit = "from 0.01 to 60 seconds";
        self.range(
            "decision_limit",
            &written.decision_limit,
            0.01..=60.0,
            limit,
        );
        self.range(
            "grace",
            &written.grace,
            0.0..=3600.0,
            "from 0 to 3600 seconds",
        );
        self.range(
            "silence",
            &written.silence,
            3.0..=DAY,
            "from 3 to 86400 seconds",
        );
        for (key, value) in [("retry", written.retry), ("poll", written.poll)] {
            if let Some(value) = value {
                self.range(key, &value, 0.1..=3600.0, "from 0.1 to 3600 seconds");
            }
        }
        for (key, count, most) in [
            ("max_tasks", written.max_tasks, 10_000),
            ("max_nodes", written.max_nodes, 1_000_000),
            ("max_pilots", written.max_pilots, 1000),
        ] {
            self.range(key, &count, 1..=most, &format!("from 1 to {most}"));
        }
        let failures = "from 1 to 1000";
        self.range("max_failures", &written.max_failures, 1..=1000, failures);
        if let Some(hours) = written.node_hours_per_day {
            let expected = "from 0 to 1e9 node-hours";
            self.range("node_hours_per_day", &hours, 0.0..=1e9, expected);
        }
        if written.lease <= written.silence {
            let expected = format!("more than {} seconds (silence)", written.silence);
            self.add("lease", written.lease, &expected);
        }
        // Tasks are stopped when a pilot gives back its node, and their grace period must be over before the wall time
        // ends.
        let lead = format!("from {} (grace) to 86400 seconds", written.grace);
        self.range("lead", &written.lead, written.grace..=DAY, &lead);
    }

    fn check_classes(&mut self, written: &Written) {
        let classes = &written.classes;
        if !are_classes(classes) {
            self.add("classes", format!("{classes:?}"), EXPECTED_CLASSES);
        }
        let program = &written.class;
        let is_empty = !program.is_empty() && program[0].is_empty();
        if is_empty || program.iter().any(|word| word.contains('\0')) {
            let expected = "a program and its arguments, without NUL characters";
            self.add("class", format!("{program:?}"), expected);
        }
        let local = written.local.iter().flat_map(|local| &local.classes);
        for name in local.filter(|name| !classes.contains(name)) {
            self.add("local.classes", format!("{name:?}"), "one of `classes`");
        }
    }

    fn check_ladder(&mut self, written: &Written) {
        if written.ladder.is_empty() {
            self.add("ladder", "no pair", "at least one pair [minutes, count]");
        }
        for &(minutes, count) in &written.ladder {
            let least = written.lead / 60.0;
            if !(minutes > least && minutes * 60.0 >= 1.0 && minutes <= 525_600.0) {
                let expected = format!("more than {least} (lead) and at most 525600 minutes");
                self.add("ladder", format!("{minutes} minutes"), &expected);
            }
            self.range("ladder", &count, 1..=1000, "a count from 1 to 1000");
        }
    }

    /// Resolves an address such as `login1:7117`.
    fn address(&mut self, key: &str, text: &str) -> Option<SocketAddr> {
        let found = text.to_socket_addrs().map(|mut all| all.next());
        match found {
            // An unspecified address such as `0.0.0.0` would accept connections from every network.
            Ok(Some(address)) if !address.ip().is_unspecified() => return Some(address),
            Ok(_) => {
                let expected = "the address of one interface, such as 127.0.0.1:0 or login1:7117";
                self.add(key, format!("{text:?}"), expected);
            }
            Err(error) => {
                let expected = "an address with a port, such as 127.0.0.1:0 or login1:7117";
                self.add(key, format!("{text:?} ({error})"), expected);
            }
        }
        None
    }

    fn backend(
        &mut self,
        name: BackendName,
        local: Option<LocalConfig>,
        slurm: Option<SlurmConfig>,
    ) -> Option<BackendConfig> {
        match name {
            BackendName::Local => {
                if slurm.is_some() {
                    self.add(
                        "slurm",
                        "a table",
                        "no table [slurm] with backend = \"local\"",
                    );
                }
                let local = local.unwrap_or_else(|| LocalConfig {
                    nodes: defaults::nodes(),
                    events: None,
                    speed: defaults::speed(),
                    classes: Vec::new(),
                });
                self.range("local.nodes", &local.nodes, 1..=1000, "from 1 to 1000");
                let speed = "from 0.001 to 1000000";
                self.range("local.speed", &local.speed, 0.001..=1e6, speed);
                Some(BackendConfig::Local(local))
            }
            BackendName::Slurm => {
                if local.is_some() {
                    self.add(
                        "local",
                        "a table",
                        "no table [local] with backend = \"slurm\"",
                    );
                }
                let Some(slurm) = slurm else {
                    let expected = "a table [slurm] with a partition";
                    self.add("slurm", "no table", expected);
                    return None;
                };
                self.check_slurm(&slurm);
                Some(BackendConfig::Slurm(slurm))
            }
        }
    }

    fn check_slurm(&mut self, slurm: &SlurmConfig) {
        let is_name = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
        if slurm.partition.is_empty() || !slurm.partition.chars().all(is_name) {
            let found = format!("{:?}", slurm.partition);
            self.add("slurm.partition", found, "the name of a partition");
        }
        let lists = [
            ("slurm.sbatch", &slurm.sbatch),
            ("slurm.container", &slurm.container),
        ];
        let setup = slurm.setup.iter().map(|words| ("slurm.setup", words));
        for (key, words) in lists.into_iter().chain(setup) {
            if let Some(word) = words.iter().find(|word| word.contains(['\0', '\n'])) {
                self.add(
                    key,
                    format!("{word:?}"),
                    "words without NUL characters or line breaks",
                );
            }
        }
        if slurm
            .setup
            .iter()
            .any(|words| words.first().is_none_or(String::is_empty))
        {
            let expected = "lists that each contain a program and its arguments";
            self.add("slurm.setup", "a list without a program", expected);
        }
        // The daemon itself sets the program and the wall time. It counts one job and one node per pilot, so arrays and
        // several nodes would break its accounting.
        let own = [
            "--array",
            "-a",
            "--wrap",
            "--time",
            "-t",
            "--nodes",
            "-N",
            "--requeue",
        ];
        let is_own = |word: &&String| {
            let name = word.split_once('=').map_or(word.as_str(), |(name, _)| name);
            own.contains(&name)
        };
        if let Some(word) = slurm.sbatch.iter().find(is_own) {
            let expected = "options other than --array, --wrap, --time, --nodes and --requeue";
            self.add("slurm.sbatch", format!("{word:?}"), expected);
        }
    }
}
