//! The solvers of a plan. Programs are looked for beside the plan.

use std::path::Path;

use gleaner_domain::error::Result;
use gleaner_io::SourceId;
use gleaner_io::source::Source;
use gleaner_setup::{SolverChoice, SolverName};

/// The solvers that a plan names, in its order.
#[derive(Default)]
pub(super) struct Solvers(Vec<Solver>);

/// A solver of a plan.
struct Solver {
    choice: SolverChoice,
    /// The files of a program: other content is another solver.
    files: Vec<SourceId>,
}

impl Solvers {
    /// Adds the solver of this name, as seen from the folder of the plan.
    ///
    /// # Errors
    /// A faulty manifest, or a file of the program that cannot be read.
    pub fn add(&mut self, name: &SolverName, folder: &Path) -> Result<()> {
        let choice = name.seen_from(folder)?;
        let files = match &choice {
            SolverChoice::Ours(_) => Vec::new(),
            SolverChoice::Program(command) => command.files(),
        };
        let files = files.iter().map(|file| Source::identify(file));
        self.0.push(Solver {
            choice,
            files: files.collect::<Result<_>>()?,
        });
        Ok(())
    }

    /// The solver of this index.
    pub fn choice(&self, index: usize) -> &SolverChoice {
        &self.0[index].choice
    }

    /// Digests of the files of the solver of this index; none if it is one of ours.
    pub fn digests(&self, index: usize) -> impl Iterator<Item = String> {
        let files = self.0[index].files.iter();
        files.map(|file| file.sha256.to_string())
    }

    /// The files of all programs, each once.
    pub fn files(&self) -> Vec<SourceId> {
        let mut all: Vec<SourceId> = Vec::new();
        for file in self.0.iter().flat_map(|solver| &solver.files) {
            if !all.iter().any(|other| other.path == file.path) {
                all.push(file.clone());
            }
        }
        all
    }
}
