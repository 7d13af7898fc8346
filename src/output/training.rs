//! What `gleaner train` says of a model, for people.

use std::fmt::Write as _;
use std::path::Path;

use gleaner_models::ebm::Ebm;

use crate::domain::Time;
use crate::models::{Model, Span, Trained};

/// Terms named in a summary.
const SHOWN: usize = 5;

/// What was trained, on what, in how many seconds, and where it is saved.
pub fn summary(trained: &Trained, seconds: f64, path: &Path) -> String {
    let Span { rows, from, to } = trained.span;
    let mut text = format!("{}: {rows} rows", trained.model.kind());
    if let (Some(from), Some(to)) = (from, to) {
        let _ = write!(text, " from {} to {}", Time::from(from), Time::from(to));
    }
    let _ = writeln!(
        text,
        ", {} features, {seconds:.2} s",
        trained.model.features().len()
    );
    match &trained.model {
        Model::Throughput(model) => {
            let _ = writeln!(text, "  jobs by {}", strongest(model.jobs()));
            let _ = writeln!(text, "  GPUs by {}", strongest(model.gpus()));
        }
        Model::Workload(model) => {
            let _ = writeln!(text, "  durations by {}", strongest(model.machine()));
        }
        Model::Packing(model) => {
            let (leaves, depth) = (model.tree().leaves(), model.tree().depth());
            let _ = writeln!(text, "  a tree of {leaves} leaves, {depth} deep");
        }
    }
    let _ = writeln!(text, "  saved as {}", path.display());
    text
}

/// The terms that matter most.
fn strongest(machine: &Ebm) -> String {
    let mut terms: Vec<_> = machine.terms().iter().collect();
    terms.sort_by(|a, b| b.importance().total_cmp(&a.importance()));
    let names: Vec<String> = terms
        .iter()
        .take(SHOWN)
        .map(|term| machine.name(term))
        .collect();
    names.join(", ")
}
