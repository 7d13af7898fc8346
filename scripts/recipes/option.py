"""An option of `simulate`: an upper bound on the GPUs of a job."""

from tree import Tree

TITLE = "**An option** of `simulate`"

FIELD = """\
    /// Leave out jobs with more GPUs than this.
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..))]
    pub max_job_gpus: Option<u32>,
"""

USE = """\
        if let Some(most) = args.max_job_gpus {
            input.trace.jobs.retain(|job| job.gpus <= most);
        }
"""


def follow(tree: Tree) -> None:
    inputs = "crates/setup/src/experiment/inputs.rs"
    tree.before(inputs, r"^pub struct FileArgs \{", r"/// Estimated durations", add=FIELD)
    tree.before(inputs, r"^impl Default for FileArgs \{", r"^            estimates: ", add="            max_job_gpus: None,")
    tree.after(inputs, r"let mut input = reader\.take\(trace::read\(", add=USE)
    tree.before("crates/setup/src/experiment/options.rs", r"^const OPTIONS\b", r"^\];$", add='    ("max_job_gpus", Always),')
    tree.before("crates/check/src/simulate/run_file.rs", r"^const FOLLOWED\b", r"^\];$", add='    "max_job_gpus",')
