//! What became of the answers of solvers that are programs.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Who a program is.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Identity {
    /// The command as the user wrote it.
    pub command: String,
    /// The name that it gave.
    pub name: String,
    /// The version that it gave.
    pub version: String,
}

/// What a program was asked, and what became of its answers.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Tally {
    /// Who answered.
    pub identity: Identity,
    /// Problems that it was given.
    pub problems: usize,
    /// Called optimal, and our exact solver finds nothing better.
    pub confirmed: usize,
    /// Called optimal, where our exact solver does not take the problem.
    pub claimed: usize,
    /// Plans that break the problem's rows, and plans called optimal that are not.
    pub wrong: usize,
    /// Problems without an answer at the deadline.
    pub late: usize,
    /// Deaths of the program.
    pub crashed: usize,
    /// Lines that are not messages.
    pub garbage: usize,
    /// Problems that it refused.
    pub refused: usize,
    /// Whether it died so often in turn that it was not started again.
    pub given_up: bool,
    /// What was wrong the first time.
    pub first_fault: Option<String>,
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "exec:{}: called optimal {}, of these confirmed {}, claimed {}; wrong {}, late {}, crashed {}, \
             refused {}",
            self.identity.name,
            self.confirmed + self.claimed,
            self.confirmed,
            self.claimed,
            self.wrong,
            self.late,
            self.crashed,
            self.refused
        )
    }
}

impl Tally {
    /// Whether anything went wrong. What is claimed or refused is not wrong.
    pub fn has_faults(&self) -> bool {
        self.given_up || self.faults() > 0
    }

    /// Number of faults: wrong and late answers, deaths, and lines that are no message.
    pub fn faults(&self) -> usize {
        let counts = [self.wrong, self.late, self.crashed, self.garbage];
        counts.into_iter().fold(0, usize::saturating_add)
    }

    /// What went wrong, in a sentence; `None` if nothing did.
    pub fn remark(&self) -> Option<String> {
        if !self.has_faults() {
            return None;
        }
        let counts = [
            (self.wrong, "wrong"),
            (self.late, "late"),
            (self.crashed, "crashed"),
            (self.garbage, "lines that are no message"),
        ];
        let counts = counts.iter().filter(|(count, _)| *count > 0);
        let mut parts: Vec<String> = counts
            .map(|(count, what)| format!("{count} {what}"))
            .collect();
        if self.given_up {
            parts.push("not started again".into());
        }
        let first = self.first_fault.as_deref().unwrap_or_default();
        Some(format!(
            "the solver {}, asked {} times: {}. First: {first}",
            self.identity.name,
            self.problems,
            parts.join(", ")
        ))
    }
}
