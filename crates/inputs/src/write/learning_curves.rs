//! Writes learning curves as CSV, in the format that [`crate::learning_curves`] reads.

use std::fmt::Write;
use std::path::Path;

use gleaner_synth::search::Loss;

use gleaner_domain::TrainingTask;
use gleaner_domain::error::Result;
use gleaner_io::files;

/// Writes the losses of trials that train `tasks`. The names of the tasks must not contain
/// characters that need quoting in CSV.
///
/// # Errors
/// The file cannot be written.
pub fn write(losses: &[Loss], tasks: &[TrainingTask], path: &Path) -> Result<()> {
    let mut text = "trial,resource,loss,task\n".to_owned();
    for loss in losses {
        let name = &tasks[loss.task].name;
        let _ = writeln!(
            text,
            "{},{},{:.6},{name}",
            loss.trial, loss.resource, loss.loss
        );
    }
    files::write_bytes(path, text.as_bytes())
}
