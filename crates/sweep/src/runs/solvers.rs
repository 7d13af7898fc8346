//! The solvers of a plan. Paths of programs are relative to the folder of the plan.

use std::path::Path;

use gleaner_domain::error::Result;
use gleaner_io::SourceId;
use gleaner_io::source::Source;
use gleaner_setup::{SolverChoice, SolverName};

/// The solvers in a plan, in the order of the plan.
#[derive(Default)]
pub(super) struct Solvers(Vec<Solver>);

/// A solver of a plan.
struct Solver {
    choice: SolverChoice,
    /// The files of the solver if it is a program. If their content changes, the program is treated as a different
    /// solver.
    files: Vec<SourceId>,
}

impl Solvers {
    /// Adds the solver with this name. Paths in the name are relative to `folder`.
    ///
    /// # Errors
    /// The program's manifest is faulty, or a file of the program cannot be read.
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

    /// The solver with this index.
    pub fn choice(&self, index: usize) -> &SolverChoice {
        &self.0[index].choice
    }

    /// Digests of the files of the solver with this index. A built-in solver has no files.
    pub fn digests(&self, index: usize) -> impl Iterator<Item = String> {
        let files = self.0[index].files.iter();
        files.map(|file| file.sha256.to_string())
    }

    /// The files of all programs, without duplicates.
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
