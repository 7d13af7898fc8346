//! Runs pilots as Slurm jobs.
//!
//! A job's name contains the token of the state directory and the number of the pilot. Jobs are found and cancelled by
//! name, never by id alone. If the controller is killed before it has saved its state, it forgets the most recent jobs,
//! and reuses their ids for other jobs. All options and formats used here have been the same since Slurm 20.11.

use std::collections::BTreeSet;
use std::env;
use std::io::{Read, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use gleaner_domain::error::{Error, Result};
use gleaner_domain::words::shortened;

use super::reservations;
use super::{Backend, Listed, Started, pilot_command, quoted_line};
use crate::config::SlurmConfig;
use crate::core::PilotId;

/// Time limit for a Slurm command, such as `squeue`.
const LIMIT: Duration = Duration::from_secs(10);

/// Time between two checks of whether a command has ended.
const PAUSE: Duration = Duration::from_millis(10);

/// Maximum size of a command's output, in bytes.
const MOST_OUTPUT: u64 = 64 << 20;

/// States in which a job and all of its processes have ended. COMPLETING is excluded, because processes may still be
/// running. So is NODE_FAIL, because Slurm does not know what is running on a node that does not answer.
const ENDED: [&str; 8] = [
    "BOOT_FAIL",
    "CANCELLED",
    "COMPLETED",
    "DEADLINE",
    "FAILED",
    "OUT_OF_MEMORY",
    "PREEMPTED",
    "TIMEOUT",
];

/// Parts of the error messages after which it is unknown whether the job was accepted: `sbatch` did not reach the
/// controller, or the answer was lost. Any other message means that the job was not accepted.
const UNCLEAR: [&str; 11] = [
    "unable to contact slurm controller",
    "timed out",
    "connection refused",
    "connection reset",
    "connection failure",
    "shutdown failure",
    "receive failure",
    "send failure",
    "zero bytes were transmitted",
    "unexpected message",
    "transport endpoint",
];

/// The backend that submits pilots to Slurm.
#[derive(Debug)]
pub struct SlurmBackend {
    /// Directory of Slurm's commands; `None` if they are in `PATH`.
    programs: Option<PathBuf>,
    /// The arguments for `sbatch` that all pilots share: harvest's defaults, then the site's arguments.
    arguments: Vec<String>,
    /// Commands that run on the node before the pilot.
    setup: Vec<Vec<String>>,
    /// Prefix of the names of all jobs that belong to the state directory.
    prefix: String,
    state: PathBuf,
    program: PathBuf,
    /// The nodes on which pilots ran according to the last list.
    nodes: BTreeSet<String>,
    has_heterogeneous_job: bool,
    alarm: Option<String>,
    /// The nodes for which an alarm has already been raised.
    alarmed: BTreeSet<String>,
}

impl SlurmBackend {
    /// Creates the backend for the state directory `state`, whose token is `token`. `program` is the program that
    /// pilots run.
    ///
    /// # Errors
    /// A path is not UTF-8, or it contains a line break.
    pub fn new(config: &SlurmConfig, state: &Path, token: &str, program: &Path) -> Result<Self> {
        pilot_command(program, state, PilotId(1), 1)?;
        // By default, a pilot holds a whole node. The site's arguments come later, so they can override this.
        let mut arguments = vec!["--exclusive".to_owned(), "--mem=0".to_owned()];
        arguments.push(format!("--partition={}", config.partition));
        arguments.extend(config.sbatch.iter().cloned());
        Ok(SlurmBackend {
            programs: None,
            arguments,
            setup: config.setup.clone(),
            prefix: format!("gleaner-harvest-{token}-"),
            state: state.to_owned(),
            program: program.to_owned(),
            nodes: BTreeSet::new(),
            has_heterogeneous_job: false,
            alarm: None,
            alarmed: BTreeSet::new(),
        })
    }

    /// The command that submits a pilot, and the script that the command reads.
    ///
    /// # Errors
    /// A path is not UTF-8, or it contains a line break.
    pub fn describe(&self, pilot: PilotId, wall_s: u64) -> Result<String> {
        let mut words = vec!["sbatch".to_owned()];
        words.extend(self.submission(pilot, wall_s)?);
        let script = self.script(pilot, wall_s)?;
        Ok(format!("{} <<'END'\n{script}END", quoted_line(&words)))
    }

    /// The arguments for `sbatch`. The site's arguments come first, so they cannot override the daemon's: if an option
    /// is repeated, `sbatch` uses the last one.
    fn submission(&self, pilot: PilotId, wall_s: u64) -> Result<Vec<String>> {
        let state = self.state.to_string_lossy();
        // In Slurm's patterns for file names, `%%` is a percent sign.
        let output = format!("{}/logs/pilot-{}.log", state.replace('%', "%%"), pilot.0);
        let mut words = self.arguments.clone();
        words.extend([
            "--parsable".to_owned(),
            format!("--job-name={}", self.name(pilot)),
            "--no-requeue".to_owned(),
            "--nodes=1".to_owned(),
            "--ntasks=1".to_owned(),
            format!("--time={}", wall_s.div_ceil(60).max(1)),
            format!("--chdir={state}"),
            format!("--output={output}"),
            "--open-mode=append".to_owned(),
        ]);
        Ok(words)
    }

    /// The batch script of a pilot.
    fn script(&self, pilot: PilotId, wall_s: u64) -> Result<String> {
        // Commands such as `module` are functions of a login shell. They change the environment, which the pilot and
        // its tasks inherit.
        let shell = if self.setup.is_empty() {
            "/bin/sh"
        } else {
            "/bin/bash -l"
        };
        let mut script = format!("#!{shell}\n");
        for command in &self.setup {
            script.push_str(&format!("{} || exit 1\n", quoted_line(command)));
        }
        // Slurm sends SIGTERM to steps only, so the pilot must be a step. The step must not be bound to a part of the
        // job's cores.
        let srun = [
            "exec",
            "srun",
            "--nodes=1",
            "--ntasks=1",
            "--mpi=none",
            "--cpu-bind=none",
        ];
        let mut words = srun.map(str::to_owned).to_vec();
        words.extend(pilot_command(&self.program, &self.state, pilot, wall_s)?);
        script.push_str(&quoted_line(&words));
        script.push('\n');
        Ok(script)
    }

    fn name(&self, pilot: PilotId) -> String {
        format!("{}{}", self.prefix, pilot.0)
    }

    /// Finds out whether a heterogeneous job is waiting.
    fn look_at_queue(&mut self) -> Result<()> {
        let words = ["--noheader", "--states=PENDING", "--format=%i"].map(str::to_owned);
        self.has_heterogeneous_job = is_any_heterogeneous(&self.call("squeue", &words, "")?);
        Ok(())
    }

    /// Finds out which pilots are on nodes whose reservations begin soon.
    fn look_at_reservations(&self, pilots: &mut [Listed]) -> Result<()> {
        if pilots.iter().all(|pilot| pilot.node.is_none()) {
            return Ok(());
        }
        let words = ["--oneliner", "show", "reservations"].map(str::to_owned);
        for reservation in reservations::parse(&self.call("scontrol", &words, "")?) {
            let words = ["show", "hostnames", &reservation.nodes].map(str::to_owned);
            let names = self.call("scontrol", &words, "")?;
            let names: BTreeSet<&str> = names.lines().map(str::trim).collect();
            let is_reserved = |pilot: &&mut Listed| {
                pilot
                    .node
                    .as_deref()
                    .is_some_and(|node| names.contains(node))
            };
            for pilot in pilots.iter_mut().filter(is_reserved) {
                let least = pilot.reserved_in_s.unwrap_or(u64::MAX);
                pilot.reserved_in_s = Some(least.min(reservation.in_s));
            }
        }
        Ok(())
    }

    /// Looks for nodes that were drained or failed while a pilot held them.
    fn look_at_nodes(&mut self, nodes: BTreeSet<String>) -> Result<()> {
        // The nodes of the last list are included, because a node is often drained when processes of a job that has
        // just ended cannot be killed.
        let all: Vec<String> = self.nodes.union(&nodes).cloned().collect();
        self.nodes = nodes;
        if all.is_empty() {
            return Ok(());
        }
        let select = format!("--nodes={}", all.join(","));
        let words = ["--noheader", "--Node", &select, "--format=%N|%T|%E"];
        let text = self.call("sinfo", &words.map(str::to_owned), "")?;
        for line in text.lines() {
            let mut fields = line.trim().splitn(3, '|');
            let (Some(node), Some(state)) = (fields.next(), fields.next()) else {
                continue;
            };
            let is_out = ["drain", "down", "fail"]
                .iter()
                .any(|out| state.contains(out));
            if is_out && self.alarmed.insert(node.to_owned()) {
                let reason = shortened(fields.next().unwrap_or_default());
                self.alarm = Some(format!(
                    "node {node} is {state}, and a pilot holds it or held it until recently: {reason}"
                ));
            }
        }
        Ok(())
    }

    /// Runs the Slurm command `name` with `input` as its standard input, and returns its standard output.
    fn call(&self, name: &str, arguments: &[String], input: &str) -> Result<String> {
        let program = self
            .programs
            .as_ref()
            .map_or(name.into(), |at| at.join(name));
        let mut command = Command::new(program);
        command
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0);
        // Variables such as SBATCH_ARRAY_INX or SQUEUE_STATES would change what the programs do. If the daemon itself
        // runs in a job, that job's variables would also interfere.
        for (variable, _) in env::vars_os() {
            let text = variable.to_string_lossy();
            let is_option = [
                "SLURM_", "SLURMD_", "SBATCH_", "SQUEUE_", "SCANCEL_", "SINFO_",
            ]
            .iter()
            .any(|prefix| text.starts_with(prefix));
            if is_option && text != "SLURM_CONF" {
                command.env_remove(&variable);
            }
        }
        // Requests times in seconds since 1970, which do not depend on time zones.
        command.env("SLURM_TIME_FORMAT", "%s");
        let failed = |why: String| Error::Run(format!("{name}: {why}"));
        let child = command.spawn().map_err(|error| failed(error.to_string()))?;
        let (status, output, errors) = finish(child, input).map_err(failed)?;
        if status.success() {
            return Ok(output);
        }
        let lines: Vec<&str> = errors
            .lines()
            .map(str::trim)
            .filter(|line| !line.is_empty())
            .collect();
        Err(failed(format!(
            "{status}: {}",
            shortened(&lines.join("; "))
        )))
    }
}

impl Backend for SlurmBackend {
    fn start(&mut self, pilot: PilotId, wall_s: u64) -> Started {
        let parts = self
            .submission(pilot, wall_s)
            .and_then(|words| Ok((words, self.script(pilot, wall_s)?)));
        let (words, script) = match parts {
            Ok(parts) => parts,
            Err(error) => return Started::Rejected(error.to_string()),
        };
        match self.call("sbatch", &words, &script) {
            // The answer is the job's id. If there are several clusters, a semicolon and the cluster's name follow.
            Ok(text) => {
                let id = text.trim().split(';').next().unwrap_or_default();
                if !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_digit()) {
                    Started::Accepted(id.to_owned())
                } else {
                    let text = shortened(text.trim());
                    Started::Unknown(format!("sbatch: found {text:?}, expected the id of a job"))
                }
            }
            Err(error) => {
                let text = error.to_string();
                let lower = text.to_lowercase();
                if UNCLEAR.iter().any(|part| lower.contains(part)) {
                    Started::Unknown(text)
                } else {
                    Started::Rejected(text)
                }
            }
        }
    }

    fn cancel(&mut self, pilot: PilotId, _job: Option<&str>) -> Result<()> {
        let words = [format!("--name={}", self.name(pilot)), user()];
        match self.call("scancel", &words, "") {
            // The job ended after `scancel` had found it.
            Err(error) if error.to_string().to_lowercase().contains("invalid job id") => Ok(()),
            called => called.map(drop),
        }
    }

    fn list(&mut self) -> Result<Vec<Listed>> {
        // Jobs that have ended are listed for MinJobAge, usually 5 minutes.
        let words = ["--noheader", "--states=all", "--format=%i|%j|%T|%N"].map(str::to_owned);
        let text = self.call("squeue", &[words.to_vec(), vec![user()]].concat(), "")?;
        let mut pilots = parse(&text, &self.prefix);
        let held = pilots.iter().filter(|pilot| !pilot.has_ended);
        let nodes = held.filter_map(|pilot| pilot.node.clone()).collect();
        // If these queries fail, the next list repeats them.
        let _ = self.look_at_nodes(nodes);
        let _ = self.look_at_queue();
        let _ = self.look_at_reservations(&mut pilots);
        Ok(pilots)
    }

    fn has_heterogeneous_job(&self) -> bool {
        self.has_heterogeneous_job
    }

    fn can_forget(&self) -> bool {
        // A controller that was killed before it had saved its state forgets jobs.
        true
    }

    fn alarm(&mut self) -> Option<String> {
        self.alarm.take()
    }
}

/// Whether any of these ids, one per line, belongs to a part of a heterogeneous job, as `46+1` does.
fn is_any_heterogeneous(ids: &str) -> bool {
    ids.lines().any(|id| id.contains('+'))
}

/// The pilots in lines such as `12|gleaner-harvest-0123abcd-7|RUNNING|n1`.
fn parse(text: &str, prefix: &str) -> Vec<Listed> {
    let pilot = |line: &str| {
        let fields: Vec<&str> = line.trim().splitn(4, '|').collect();
        let [job, name, state, node] = fields[..] else {
            return None;
        };
        let number = name.strip_prefix(prefix)?.parse().ok()?;
        Some(Listed {
            pilot: PilotId(number),
            job: job.to_owned(),
            node: Some(node.to_owned()).filter(|node| !node.is_empty()),
            has_ended: ENDED.contains(&state),
            reserved_in_s: None,
        })
    };
    text.lines().filter_map(pilot).collect()
}

/// The option that selects jobs of this user.
fn user() -> String {
    format!("--user={}", rustix::process::geteuid().as_raw())
}

/// Waits at most [`LIMIT`] for a program to end. Returns its status, its standard output and its standard error.
fn finish(mut child: Child, input: &str) -> Result<(ExitStatus, String, String), String> {
    let output = child.stdout.take().map(read_in_thread);
    let errors = child.stderr.take().map(read_in_thread);
    if let Some(mut stdin) = child.stdin.take() {
        // The input fits into the pipe, so the write does not block. A write error is ignored, because a program that
        // does not read its input reports the reason itself.
        let _ = stdin.write_all(input.as_bytes());
    }
    let deadline = Instant::now() + LIMIT;
    let status = loop {
        match child.try_wait() {
            Ok(Some(status)) => break status,
            Ok(None) if Instant::now() < deadline => thread::sleep(PAUSE),
            Ok(None) => {
                let _ = child.kill();
                let _ = child.wait();
                return Err(format!("timed out after {} s", LIMIT.as_secs()));
            }
            Err(error) => return Err(error.to_string()),
        }
    };
    // Output that cannot be read completely is an error, because a truncated list could omit running pilots.
    let text = |reader: Option<Receiver<String>>| {
        let text = reader.and_then(|reader| reader.recv_timeout(LIMIT).ok());
        text.ok_or_else(|| "its output cannot be read".to_owned())
    };
    Ok((status, text(output)?, text(errors)?))
}

fn read_in_thread(pipe: impl Read + Send + 'static) -> Receiver<String> {
    let (sender, receiver) = channel();
    let reader = thread::Builder::new().spawn(move || {
        let mut bytes = Vec::new();
        let read = pipe.take(MOST_OUTPUT).read_to_end(&mut bytes);
        if read.is_ok_and(|count| (count as u64) < MOST_OUTPUT) {
            let _ = sender.send(String::from_utf8_lossy(&bytes).into_owned());
        }
    });
    // If the thread could not be started, the sender is dropped, and the receiver gets nothing.
    drop(reader);
    receiver
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn parts_of_heterogeneous_jobs_are_recognised() {
        assert!(is_any_heterogeneous("12\n46+0\n46+1\n"));
        assert!(!is_any_heterogeneous("12\n13_[1-5]\n"));
        assert!(!is_any_heterogeneous(""));
    }

    fn config() -> SlurmConfig {
        SlurmConfig {
            partition: "idle".to_owned(),
            sbatch: vec!["--account=a b".to_owned(), "--no-requeue".to_owned()],
            setup: Vec::new(),
            container: Vec::new(),
        }
    }

    fn backend(config: &SlurmConfig) -> SlurmBackend {
        let state = Path::new("/home/a 100%/state");
        SlurmBackend::new(config, state, "0123abcd", Path::new("/bin/gleaner")).unwrap()
    }

    /// A backend whose programs are shell scripts with these contents.
    fn with_programs(programs: &[(&str, &str)]) -> (tempfile::TempDir, SlurmBackend) {
        let folder = tempfile::tempdir().unwrap();
        for (name, script) in programs {
            let path = folder.path().join(name);
            fs::write(
                &path,
                format!("#!/bin/sh\ncd {}\n{script}\n", folder.path().display()),
            )
            .unwrap();
            fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).unwrap();
        }
        let mut backend = backend(&config());
        backend.programs = Some(folder.path().to_owned());
        (folder, backend)
    }

    #[test]
    fn a_pilot_is_a_step_of_a_job_that_is_not_requeued() {
        let mut config = config();
        let described = backend(&config).describe(PilotId(7), 90).unwrap();
        assert_eq!(
            described,
            "sbatch --exclusive --mem=0 --partition=idle '--account=a b' --no-requeue --parsable \
             --job-name=gleaner-harvest-0123abcd-7 --no-requeue --nodes=1 --ntasks=1 --time=2 '--chdir=/home/a 100%/state' \
             '--output=/home/a 100%%/state/logs/pilot-7.log' --open-mode=append <<'END'\n\
             #!/bin/sh\n\
             exec srun --nodes=1 --ntasks=1 --mpi=none --cpu-bind=none /bin/gleaner harvest pilot \
             --state '/home/a 100%/state' --pilot 7 --wall 90\nEND"
        );
        config.setup = vec![vec![
            "module".to_owned(),
            "load".to_owned(),
            "a;b".to_owned(),
        ]];
        let script = backend(&config).script(PilotId(7), 90).unwrap();
        assert!(
            script.starts_with("#!/bin/bash -l\nmodule load 'a;b' || exit 1\nexec srun"),
            "{script}"
        );
    }

    #[test]
    fn an_answer_is_accepted_rejected_or_unknown() {
        let (folder, mut backend) = with_programs(&[(
            "sbatch",
            "cat > script; env > environment; cat answer; cat error >&2; exit $(cat code)",
        )]);
        let at = |name: &str| folder.path().join(name);
        let mut answer = |output: &str, error: &str, code: &str| {
            fs::write(at("answer"), output).unwrap();
            fs::write(at("error"), error).unwrap();
            fs::write(at("code"), code).unwrap();
            backend.start(PilotId(1), 60)
        };
        assert_eq!(
            answer("123\n", "", "0"),
            Started::Accepted("123".to_owned())
        );
        assert_eq!(
            answer("123;north\n", "", "0"),
            Started::Accepted("123".to_owned())
        );
        assert!(matches!(answer("", "", "0"), Started::Unknown(_)));
        assert!(matches!(answer("welcome\n", "", "0"), Started::Unknown(_)));
        for unclear in [
            "sbatch: error: Batch job submission failed: Unable to contact slurm controller (connect failure)",
            "sbatch: error: Batch job submission failed: Socket timed out on send/recv operation",
        ] {
            assert!(
                matches!(answer("", unclear, "1"), Started::Unknown(_)),
                "{unclear}"
            );
        }
        let invalid =
            "sbatch: error: Batch job submission failed: Invalid partition name specified";
        let Started::Rejected(reason) = answer("", invalid, "1") else {
            panic!("not rejected");
        };
        assert!(reason.contains("Invalid partition name"), "{reason}");
        let script = fs::read_to_string(at("script")).unwrap();
        assert!(
            script.contains("exec srun") && script.contains("--pilot 1"),
            "{script}"
        );
        fs::remove_file(at("sbatch")).unwrap();
        assert!(matches!(
            backend.start(PilotId(1), 60),
            Started::Rejected(_)
        ));
    }

    #[test]
    fn pilots_are_listed_by_their_names_and_drained_nodes_are_noticed() {
        let squeue = "echo \"$@\" >> arguments; cat queue";
        let sinfo = "echo \"$@\" > selected; cat nodes";
        let (folder, mut backend) = with_programs(&[("squeue", squeue), ("sinfo", sinfo)]);
        let at = |name: &str| folder.path().join(name);
        let queue = "12|gleaner-harvest-0123abcd-7|RUNNING|n1\n13|gleaner-harvest-0123abcd-8|PENDING|\n\
                     14|gleaner-harvest-99999999-9|RUNNING|n2\n15|train|RUNNING|n3\nnonsense\n\
                     16|gleaner-harvest-0123abcd-x|RUNNING|n4\n17|gleaner-harvest-0123abcd-9|PREEMPTED|n5\n";
        fs::write(at("queue"), queue).unwrap();
        fs::write(at("nodes"), "n1|mixed|none\n").unwrap();
        let listed = |pilot, job: &str, node: Option<&str>, has_ended| Listed {
            pilot: PilotId(pilot),
            job: job.to_owned(),
            node: node.map(str::to_owned),
            has_ended,
            reserved_in_s: None,
        };
        let expected = [
            listed(7, "12", Some("n1"), false),
            listed(8, "13", None, false),
            listed(9, "17", Some("n5"), true),
        ];
        assert_eq!(backend.list().unwrap(), expected);
        assert_eq!(backend.alarm(), None);
        let arguments = fs::read_to_string(at("selected")).unwrap();
        assert!(arguments.contains("--nodes=n1 "), "{arguments}");
        let arguments = fs::read_to_string(at("arguments")).unwrap();
        assert!(arguments.contains("--states=all"), "{arguments}");
        // The pilot has ended, and its node was drained because a process could not be killed.
        fs::write(at("queue"), "").unwrap();
        fs::write(at("nodes"), "n1|drained|Kill task failed\n").unwrap();
        assert_eq!(backend.list().unwrap(), []);
        let alarm = backend.alarm().unwrap();
        assert!(
            alarm.contains("node n1 is drained") && alarm.contains("Kill task failed"),
            "{alarm}"
        );
        assert_eq!(backend.alarm(), None);
    }

    #[test]
    fn a_controller_that_does_not_answer_is_an_error() {
        let silent = "echo 'slurm_load_jobs error: Unable to contact slurm controller' >&2; exit 1";
        let gone = "echo 'scancel: error: Kill job error on job id 5: Invalid job id specified' >&2; exit 1";
        let (folder, mut backend) = with_programs(&[("squeue", silent), ("scancel", gone)]);
        let error = backend.list().unwrap_err().to_string();
        assert!(error.contains("Unable to contact"), "{error}");
        backend.cancel(PilotId(7), Some("5")).unwrap();
        let script = format!(
            "#!/bin/sh\necho \"$@\" > {}/cancelled\n",
            folder.path().display()
        );
        fs::write(folder.path().join("scancel"), script).unwrap();
        backend.cancel(PilotId(7), Some("5")).unwrap();
        let cancelled = fs::read_to_string(folder.path().join("cancelled")).unwrap();
        assert!(
            cancelled.starts_with("--name=gleaner-harvest-0123abcd-7 --user="),
            "{cancelled}"
        );
    }
}
