"""An option of `simulate`: an upper bound on the GPUs of a job."""

from tree import Tree

TITLE = "**An option** of `simulate`"

FIELD = """\
        /// Leave out jobs with more GPUs than this.
        pub max_job_gpus: Option<u32> = None => Spec::of("COUNT").within("at least 1", |count| *count >= 1);
"""

USE = """\
        if let Some(most) = args.max_job_gpus {
            input.trace.jobs.retain(|job| job.gpus <= most);
        }
"""


def follow(tree: Tree) -> None:
    inputs = "crates/setup/src/experiment/inputs.rs"
    tree.before(inputs, r"^    pub struct FileArgs ", r"/// Estimated durations", add=FIELD)
    tree.after(inputs, r"let mut input = reader\.take\(trace::read\(", add=USE)
