//! `gleaner harvest check`: checks the set-up of a site.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use clap::Args as ClapArgs;
use gleaner_domain::error::{Error, Result};
use gleaner_harvest::config::{BackendConfig, Config, SlurmConfig};
use gleaner_harvest::core::Settings;
use gleaner_harvest::state_dir::StateDir;
use gleaner_harvest::status::Status;

use super::{State, status};
use crate::cli::print;

/// Check the set-up, and prove that normal jobs preempt pilots.
///
/// The command checks the access rights of the state directory, and that a daemon answers and accepts the secret. With
/// --config for the Slurm backend, it also checks that jobs in the pilots' partition can be preempted. With --normal, it submits a one-node
/// job to another partition. This job does nothing. The command reports how long the job took, and how many pilots were
/// preempted during that time. With --heterogeneous, it does the same with a heterogeneous job of two one-node parts.
/// For these tests, pilots should hold all idle nodes.
#[derive(Debug, ClapArgs)]
#[command(before_help = "Examples:\n  \
    gleaner harvest check --state ~/harvest\n  \
    gleaner harvest check --config harvest.toml --normal compute --state ~/harvest\n  \
    gleaner harvest check --config harvest.toml --normal compute --heterogeneous --state ~/harvest")]
pub struct Args {
    #[command(flatten)]
    state: State,
    /// Settings of the daemon.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Submit a one-node job to this partition of normal jobs.
    #[arg(long, value_name = "PARTITION", requires = "config")]
    normal: Option<String>,
    /// Also submit a heterogeneous job to that partition.
    #[arg(long, requires = "normal")]
    heterogeneous: bool,
}

/// Maximum time from the submission of the normal job to its end.
const NORMAL_LIMIT: Duration = Duration::from_secs(300);

/// The results of the checks.
#[derive(Default)]
struct Results {
    lines: Vec<String>,
    failures: usize,
}

impl Results {
    fn add(&mut self, is_good: bool, text: String) {
        self.failures += usize::from(!is_good);
        let verdict = if is_good { "ok    " } else { "FAILED" };
        self.lines.push(format!("{verdict}  {text}\n"));
    }

    /// Returns the state of the daemon, or adds a failure.
    fn query(&mut self, state: &State) -> Option<Status> {
        match status::of(state) {
            Ok(status) => Some(status),
            Err(error) => {
                self.add(false, error.to_string());
                None
            }
        }
    }

    /// Adds the outcome of a check: the text from `good` if it succeeded, otherwise the error.
    fn take<T>(&mut self, result: Result<T>, good: impl FnOnce(&T) -> String) -> Option<T> {
        match result {
            Ok(value) => {
                self.add(true, good(&value));
                Some(value)
            }
            Err(error) => {
                self.add(false, error.to_string());
                None
            }
        }
    }
}

/// Runs the subcommand.
///
/// # Errors
/// The settings are invalid, or a check fails.
pub fn run(args: &Args) -> Result<()> {
    let config = args.config.as_deref().map(Config::read).transpose()?;
    let mut results = Results::default();
    let path = &args.state.state;
    let opened = StateDir::open(path).and_then(|state| state.secret());
    results.take(opened, |_| {
        format!("{}: only the owner can read it", path.display())
    });
    let daemon = results.take(status::of(&args.state), |status| {
        let held = status.nodes.len();
        format!("the daemon answers: {}, {held} nodes held", status.mode)
    });
    if let Some(Config {
        backend: BackendConfig::Slurm(slurm),
        core,
        ..
    }) = &config
    {
        check_partition(slurm, core, &mut results);
        if let (Some(partition), Some(_)) = (&args.normal, &daemon) {
            check_normal(Normal::OneNode, partition, &args.state, &mut results);
            if args.heterogeneous {
                check_normal(Normal::Heterogeneous, partition, &args.state, &mut results);
            }
        }
    }
    print(&results.lines.concat())?;
    match results.failures {
        0 => Ok(()),
        count => Err(Error::Run(format!("checks that failed: {count}"))),
    }
}

/// Checks that Slurm can preempt jobs of the partition, gives them enough time to end, and allows the pilots' wall
/// times.
fn check_partition(slurm: &SlurmConfig, core: &Settings, results: &mut Results) {
    let grace_s = core.grace_s;
    let name = &slurm.partition;
    let site = slurm_fields(&["show", "config"]);
    if let Some(site) = results.take(site, |_| "Slurm answers".to_owned()) {
        let kind = site.get("PreemptType").map_or("", String::as_str);
        let text = format!("PreemptType is {kind}, expected preempt/partition_prio");
        results.add(kind == "preempt/partition_prio", text);
    }
    let Some(partition) = results.take(slurm_fields(&["show", "partition", name]), |_| {
        format!("the partition {name} exists")
    }) else {
        return;
    };
    let field = |key: &str| partition.get(key).map_or("", String::as_str);
    let mode = field("PreemptMode");
    let is_good = ["CANCEL", "REQUEUE"].contains(&mode);
    let text = format!("its PreemptMode is {mode}, expected CANCEL or REQUEUE");
    results.add(is_good, text);
    let state = field("State");
    results.add(state == "UP", format!("its State is {state}, expected UP"));
    let grace = field("GraceTime");
    let text = format!("its GraceTime is {grace} s, expected at least `grace`, {grace_s} s");
    let is_enough = grace.parse().is_ok_and(|grace: f64| grace >= grace_s);
    results.add(is_enough, text);
    let longest = core.ladder.iter().map(|(wall_s, _)| *wall_s).max();
    if let (Some(longest), Some(most)) = (longest, seconds(field("MaxTime"))) {
        let (minutes, time) = (longest.div_ceil(60), field("MaxTime"));
        let text = format!(
            "its MaxTime is {time}, expected at least the longest wall time of `ladder`, {minutes} min"
        );
        results.add(most >= longest, text);
    }
}

/// Converts a Slurm time limit, such as `1-12:00:00` or `02:00:00`, to seconds. Returns `None` if the time is
/// unlimited.
fn seconds(limit: &str) -> Option<u64> {
    let (days, time) = limit.split_once('-').unwrap_or(("0", limit));
    let mut parts = time.split(':').map(str::parse::<u64>);
    let [Some(Ok(hours)), Some(Ok(minutes)), Some(Ok(seconds)), None] =
        std::array::from_fn(|_| parts.next())
    else {
        return None;
    };
    let hours = days
        .parse::<u64>()
        .ok()?
        .checked_mul(24)?
        .checked_add(hours)?;
    hours.checked_mul(3600)?.checked_add(minutes * 60 + seconds)
}

/// The fields `KEY=VALUE` or `KEY = VALUE` that scontrol prints.
fn slurm_fields(words: &[&str]) -> Result<BTreeMap<String, String>> {
    let mut command = Command::new("scontrol");
    let output = command.args(words).stdin(Stdio::null()).output();
    let output = output.map_err(|e| Error::Run(format!("cannot run scontrol: {e}")))?;
    if !output.status.success() {
        let message = String::from_utf8_lossy(&output.stderr);
        return Err(Error::Run(format!(
            "scontrol {} failed: {}",
            words.join(" "),
            message.trim()
        )));
    }
    Ok(fields(&String::from_utf8_lossy(&output.stdout)))
}

fn fields(text: &str) -> BTreeMap<String, String> {
    let mut fields = BTreeMap::new();
    let mut add = |key: &str, value: &str| fields.insert(key.to_owned(), value.to_owned());
    for line in text.lines() {
        if let Some((key, value)) = line.split_once(" = ") {
            add(key.trim(), value.trim());
            continue;
        }
        for (key, value) in line
            .split_whitespace()
            .filter_map(|word| word.split_once('='))
        {
            add(key, value);
        }
    }
    fields
}

/// A normal job that does nothing and only tests preemption.
#[derive(Debug, Clone, Copy)]
enum Normal {
    OneNode,
    /// A job of two one-node parts, which Slurm starts only when it has nodes for both.
    Heterogeneous,
}

impl Normal {
    fn name(self) -> &'static str {
        match self {
            Normal::OneNode => "normal one-node",
            Normal::Heterogeneous => "heterogeneous",
        }
    }

    /// The arguments of srun.
    fn words(self, partition: &str) -> Vec<&str> {
        let part = ["--nodes=1", "--ntasks=1", "--exclusive", "--time=1"];
        let rest = ["--job-name=gleaner-check", "--partition", partition, "true"];
        let one = [part, rest].concat();
        match self {
            Normal::OneNode => one,
            Normal::Heterogeneous => [&one[..], &[":"], &one].concat(),
        }
    }
}

/// Submits a normal job, and measures the time until it has ended.
fn check_normal(job: Normal, partition: &str, state: &State, results: &mut Results) {
    let Some(before) = results.query(state) else {
        return;
    };
    let waited = run_normal_job(job, partition);
    let good = |waited: &Duration| {
        let (waited, job) = (waited.as_secs_f64(), job.name());
        format!("a {job} job in {partition} started and ended within {waited:.1} s")
    };
    if results.take(waited, good).is_none() {
        return;
    }
    let (held, used) = (before.nodes.len(), before.preemptions);
    let after = results.take(status::of(state), |status| {
        let preempted = status.preemptions.saturating_sub(used);
        format!("pilots preempted during that time: {preempted} of {held}")
    });
    if after.is_some_and(|after| after.preemptions == used) {
        let text = "no pilot was preempted: the job got another node. Try again when pilots hold all idle nodes";
        results.lines.push(format!("        {text}\n"));
    }
}

/// Runs a job that does nothing, and returns the time from its submission to its end.
fn run_normal_job(job: Normal, partition: &str) -> Result<Duration> {
    let began = Instant::now();
    let mut child = Command::new("srun")
        .args(job.words(partition))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .spawn()
        .map_err(|e| Error::Run(format!("cannot run srun: {e}")))?;
    loop {
        let ended = child.try_wait();
        let ended = ended.map_err(|e| Error::Run(format!("cannot wait for srun: {e}")))?;
        match ended {
            Some(status) if status.success() => return Ok(began.elapsed()),
            Some(status) => return Err(Error::Run(format!("the normal job failed: {status}"))),
            None if began.elapsed() > NORMAL_LIMIT => {
                // Errors are ignored: the job may have ended in the meantime.
                let _ = Command::new("scancel")
                    .args(["--me", "--name=gleaner-check"])
                    .status();
                let _ = child.kill();
                let _ = child.wait();
                let limit = NORMAL_LIMIT.as_secs();
                return Err(Error::Run(format!(
                    "the normal job in {partition} did not end within {limit} s: pilots may delay normal jobs"
                )));
            }
            None => thread::sleep(Duration::from_millis(50)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_limits_are_read() {
        assert_eq!(seconds("02:00:30"), Some(7230));
        assert_eq!(seconds("1-12:00:00"), Some(129_600));
        assert_eq!(seconds("UNLIMITED"), None);
        assert_eq!(seconds("9999999999999999999-00:00:00"), None);
    }

    #[test]
    fn fields_of_both_forms_are_read() {
        let found = fields(
            "PartitionName=idle\n   State=UP GraceTime=30\nPreemptType             = preempt/x\n",
        );
        assert_eq!(found["State"], "UP");
        assert_eq!(found["GraceTime"], "30");
        assert_eq!(
            found.get("PreemptType").map(String::as_str),
            Some("preempt/x")
        );
    }
}
