//! Statistics on the answers of solver programs: counts of outcomes, and faults.

use serde::{Deserialize, Serialize};

use crate::words::{counted, printable};

/// The identity of a program.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Identity {
    /// The command as written by the user.
    pub command: String,
    /// The name reported by the program.
    pub name: String,
    /// The version reported by the program.
    pub version: String,
}

/// The number of problems given to a solver program, and counts of the outcomes.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Tally {
    /// The identity of the program.
    pub identity: Identity,
    /// Number of problems given to the program.
    pub problems: usize,
    /// Number of plans reported as optimal for which Gleaner's exact solver finds no better plan.
    pub confirmed: usize,
    /// Number of plans reported as optimal for problems that Gleaner's exact solver does not accept.
    pub claimed: usize,
    /// Number of plans that violate the problem's constraints, or that are reported as optimal but
    /// are not.
    pub wrong: usize,
    /// Number of problems that the program did not answer by the deadline.
    pub late: usize,
    /// Number of times that the program crashed.
    pub crashed: usize,
    /// Number of lines of output that are not messages of the protocol.
    pub garbage: usize,
    /// Number of problems that the program refused.
    pub refused: usize,
    /// Whether the program was not restarted because it had crashed too many times in a row.
    pub given_up: bool,
    /// A description of the first fault; `None` if there were no faults.
    pub first_fault: Option<String>,
}

impl Tally {
    /// Whether the program had faults. Claims of optimality that cannot be checked are not faults, and neither are
    /// refusals.
    pub fn has_faults(&self) -> bool {
        self.given_up || self.faults() > 0
    }

    /// Number of faults: wrong and late answers, crashes, and lines that are not messages.
    pub fn faults(&self) -> usize {
        let counts = [self.wrong, self.late, self.crashed, self.garbage];
        counts.into_iter().fold(0, usize::saturating_add)
    }

    /// A sentence that describes the faults; `None` if there were no faults.
    pub fn remark(&self) -> Option<String> {
        let (name, asked) = (&self.identity.name, self.problems);
        let told = format!(
            "the solver {name} was asked {}: {}",
            counted(asked, "time"),
            self.kinds()
        );
        self.has_faults().then_some(told)
    }

    /// The number of faults of each kind, and the first fault.
    fn kinds(&self) -> String {
        let counts = [
            (self.wrong, "wrong"),
            (self.late, "late"),
            (self.crashed, "crashed"),
            (self.garbage, "invalid lines"),
        ];
        let counts = counts.iter().filter(|(count, _)| *count > 0);
        let mut parts: Vec<String> = counts
            .map(|(count, what)| format!("{count} {what}"))
            .collect();
        if self.given_up {
            parts.push("not restarted".into());
        }
        let first = self.first_fault.as_deref().unwrap_or_default();
        format!("{}. First fault: {first}", parts.join(", "))
    }

    /// Adds the faults of another run of the same program.
    fn add_faults(&mut self, other: &Tally) {
        let pairs = [
            (&mut self.wrong, other.wrong),
            (&mut self.late, other.late),
            (&mut self.crashed, other.crashed),
            (&mut self.garbage, other.garbage),
        ];
        for (sum, count) in pairs {
            *sum = sum.saturating_add(count);
        }
        self.given_up |= other.given_up;
        if self.first_fault.is_none() {
            self.first_fault.clone_from(&other.first_fault);
        }
    }
}

/// Statistics on the runs in which a program made the decisions.
struct Runs {
    count: usize,
    /// The number of runs in which the program had faults.
    faulty: usize,
    /// The faults of all runs together.
    faults: Tally,
}

/// Describes the faults in several runs: a sentence for each program that had faults, in the order
/// of the runs. Programs are identified by their commands.
pub fn remarks<'a>(tallies: impl IntoIterator<Item = &'a Tally>) -> Vec<String> {
    let mut programs: Vec<Runs> = Vec::new();
    for tally in tallies {
        let is_same = |runs: &Runs| runs.faults.identity.command == tally.identity.command;
        match programs.iter().position(is_same) {
            Some(known) => programs[known].add(tally),
            None => {
                let mut runs = Runs {
                    count: 0,
                    faulty: 0,
                    faults: Tally {
                        identity: tally.identity.clone(),
                        ..Tally::default()
                    },
                };
                runs.add(tally);
                programs.push(runs);
            }
        }
    }
    programs.iter().filter_map(Runs::remark).collect()
}

impl Runs {
    fn add(&mut self, tally: &Tally) {
        self.count += 1;
        self.faulty += usize::from(tally.has_faults());
        self.faults.add_faults(tally);
    }

    fn remark(&self) -> Option<String> {
        let Identity { name, command, .. } = &self.faults.identity;
        let runs = counted(self.count, "run");
        let told = format!(
            "the solver {name} ({}) had faults in {} of {runs}: {}",
            printable(command),
            self.faulty,
            self.faults.kinds()
        );
        (self.faulty > 0).then_some(told)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tally(command: &str, wrong: usize, crashed: usize, first: Option<&str>) -> Tally {
        Tally {
            identity: Identity {
                command: command.into(),
                name: "it".into(),
                version: String::new(),
            },
            wrong,
            crashed,
            first_fault: first.map(str::to_owned),
            ..Tally::default()
        }
    }

    #[test]
    fn faults_of_several_runs_are_summed_up_by_program() {
        let all = [
            tally("exec:a", 0, 0, None),
            tally("exec:b", 0, 1, Some("it fell")),
            tally("exec:a", 2, 0, Some("too many")),
            tally("exec:a", 1, 3, Some("too few")),
            tally("exec:c", 0, 0, None),
        ];
        let expected = [
            "the solver it (exec:a) had faults in 2 of 3 runs: 3 wrong, 3 crashed. First fault: too many",
            "the solver it (exec:b) had faults in 1 of 1 run: 1 crashed. First fault: it fell",
        ];
        assert_eq!(remarks(&all), expected);
        assert!(remarks(&all[..1]).is_empty());
    }

    #[test]
    fn a_single_run_is_told_with_its_questions() {
        let mut one = tally("exec:a", 2, 0, Some("too many"));
        assert_eq!((one.faults(), one.has_faults()), (2, true));
        one.problems = 7;
        one.given_up = true;
        let expected =
            "the solver it was asked 7 times: 2 wrong, not restarted. First fault: too many";
        assert_eq!(one.remark().as_deref(), Some(expected));
        assert_eq!(tally("exec:a", 0, 0, None).remark(), None);
    }
}
