//! Checks that a program follows the protocol, for `gleaner solver-check`.

use std::time::{Duration, Instant};

use gleaner_classes::ClassSolver;
use gleaner_classes::synthetic::Values;
use gleaner_domain::Observer;
use gleaner_domain::error::check_stop;
use gleaner_domain::results::programs::Tally;
use gleaner_domain::words::shortened;
use gleaner_solvers::{BigM, GroupLimit, Limits, Problem, Solver, synthetic};

use crate::child::{Event, Program};
use crate::command::SolverCommand;
use crate::external::{External, greet, line, next};
use crate::judged::Judged;
use crate::protocol::{Done, DoneStatus, Reply, Request};

/// The result of a check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// The check passed. Holds a description of what was observed.
    Passed(String),
    /// The check failed. Holds a description of what was observed and what was expected.
    Failed(String),
    /// The check was not run. Holds the reason.
    Skipped(String),
}

/// A check and its verdict.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Check {
    /// The property that was checked.
    pub name: &'static str,
    /// The result.
    pub verdict: Verdict,
}

/// Number of small problems. Our exact solver finds their optima, for comparison.
const PROBLEMS: u64 = 40;

/// Number of small problems with node classes.
const CLASS_PROBLEMS: u64 = 20;

/// Number of faults after which the remaining small problems are skipped. Without this limit, the checks of a program
/// that is always late would take minutes.
const ENOUGH: usize = 3;

/// Limits for each small problem.
const LIMITS: Limits = Limits {
    time: Duration::from_secs(10),
    gap: 1e-9,
};

/// Time limit for the large problem.
const LIMIT: Duration = Duration::from_secs(1);

/// Numbers of tasks and nodes in the large problem.
const LARGE_TASKS: usize = 300;
const LARGE_NODES: u32 = 4000;

/// Maximum time by which a program is allowed to exceed a time limit.
const SLACK: Duration = Duration::from_secs(2);

/// Maximum time for a program to react to `cancel` or `quit`.
const PATIENCE: Duration = Duration::from_secs(5);

/// A check that runs after the first [`FIRST_STEPS`] steps: its name, and the function that runs it.
type Ask = (
    &'static str,
    fn(&SolverCommand, &dyn Observer) -> Result<String, String>,
);

const OTHERS: [Ask; 4] = [
    ("respects the time limit", time_limit),
    ("stops when cancelled", cancel),
    ("ignores unknown fields", unknown_fields),
    ("exits when asked", quit),
];

/// Number of steps before those of [`OTHERS`]: the small problems, the infeasible problem and the problems with node
/// classes.
const FIRST_STEPS: usize = PROBLEMS as usize + 2;

/// Runs all checks in sequence and passes each to `ended` as soon as it has finished. The hello and the small problems
/// share a process; every other check starts a process of its own. Progress is reported to the observer in steps: one
/// for each small problem, and one for each later check.
///
/// # Errors
/// The program does not start, or does not send a hello. No other check can run in these cases.
/// [`Error::Stopped`](gleaner_domain::Error::Stopped) if the checks are stopped.
pub fn conformance(
    command: &SolverCommand,
    observer: &dyn Observer,
    ended: &mut dyn FnMut(Check),
) -> gleaner_domain::Result<()> {
    let mut solver = External::start(command.clone(), BigM::default())?;
    Solver::stop_when(&mut solver, observer.stop());
    let hello = solver.hello().clone();
    let version = if hello.version.is_empty() {
        "no version".to_owned()
    } else {
        format!("version {}", hello.version)
    };
    let steps = FIRST_STEPS + OTHERS.len();
    let mut end = |name, verdict| -> gleaner_domain::Result<()> {
        // A stopped check has no verdict.
        check_stop(observer)?;
        ended(Check { name, verdict });
        Ok(())
    };
    let hello_said = Verdict::Passed(format!("{}, {version}", hello.name));
    end("says hello", hello_said)?;
    let solved = |problems| observer.progress(problems, steps);
    let small = verdict(small_problems(solver, observer, &solved));
    end("solves small problems", small)?;
    let told = if hello.can("groups") {
        verdict(infeasible(command, observer))
    } else {
        Verdict::Skipped("it does not report support for groups".into())
    };
    end("reports infeasible problems", told)?;
    let told = if hello.can("classes") {
        verdict(classes(command, observer))
    } else {
        Verdict::Skipped("it does not report support for classes".into())
    };
    end("solves problems with classes", told)?;
    for (done, (name, ask)) in (FIRST_STEPS..).zip(OTHERS) {
        observer.progress(done, steps);
        end(name, verdict(ask(command, observer)))?;
    }
    Ok(())
}

fn verdict(of: Result<String, String>) -> Verdict {
    match of {
        Ok(seen) => Verdict::Passed(shortened(&seen)),
        Err(seen) => Verdict::Failed(shortened(&seen)),
    }
}

fn small_problems(
    mut solver: External,
    observer: &dyn Observer,
    solved: &dyn Fn(usize),
) -> Result<String, String> {
    let mut without_plan = 0;
    for (done, seed) in (0..PROBLEMS).enumerate() {
        solved(done);
        let problem = synthetic::problem(2 + seed as usize % 5, 4 + seed as u32, seed);
        let answer = Solver::solve(&mut solver, &problem, &LIMITS);
        let answer = answer.map_err(|error| format!("problem {}: {error}", problem.id))?;
        without_plan += u32::from(answer.counts.is_none());
        if solver.tally().get().faults() >= ENOUGH || observer.is_stopped() {
            break;
        }
    }
    judged(&solver.tally().get(), without_plan, PROBLEMS)
}

/// The verdict on the answers to small problems.
fn judged(tally: &Tally, without_plan: u32, problems: u64) -> Result<String, String> {
    match (tally.remark(), tally.refused, without_plan) {
        (Some(remark), ..) => Err(remark),
        (None, refused @ 1.., _) => Err(format!("{refused} of {problems} refused")),
        (None, 0, 1..) => Err(format!("no plan for {without_plan} of {problems} problems")),
        (None, 0, 0) => Ok(format!(
            "{problems} valid plans, {} confirmed as optimal",
            tally.confirmed
        )),
    }
}

/// Solves small problems with node classes: rounds with three types of GPUs.
fn classes(command: &SolverCommand, observer: &dyn Observer) -> Result<String, String> {
    let solver = External::start(command.clone(), BigM::default());
    let mut solver = solver.map_err(|error| error.to_string())?;
    ClassSolver::stop_when(&mut solver, observer.stop());
    let mut without_plan = 0;
    for seed in 0..CLASS_PROBLEMS {
        let problem = class_problem(seed);
        let answer = ClassSolver::solve(&mut solver, &problem, &LIMITS);
        let answer = answer.map_err(|error| format!("problem {}: {error}", problem.id))?;
        without_plan += u32::from(answer.plan.is_none());
        if solver.tally().get().faults() >= ENOUGH || observer.is_stopped() {
            break;
        }
    }
    judged(&solver.tally().get(), without_plan, CLASS_PROBLEMS)
}

fn class_problem(seed: u64) -> gleaner_classes::Problem {
    gleaner_classes::synthetic::round(2 + seed as usize % 4, 24, Values::Rounded, seed)
}

/// A program under test, and the number of requests sent to it.
struct Talk<'o> {
    program: Program,
    requests: u32,
    observer: &'o dyn Observer,
}

impl<'o> Talk<'o> {
    fn start(command: &SolverCommand, observer: &'o dyn Observer) -> Result<Self, String> {
        let (program, _) = greet(command, &|| observer.is_stopped())?;
        Ok(Talk {
            program,
            requests: 0,
            observer,
        })
    }

    /// The next event from the program; `None` once the checks are stopped.
    fn next(&self, deadline: Instant) -> Option<Event> {
        next(&self.program, deadline, &|| self.observer.is_stopped())
    }

    /// Sends a problem. Returns the id of the request.
    fn ask(&mut self, problem: &Problem, seconds: f64) -> Result<String, String> {
        self.requests += 1;
        let id = format!("check-{}", self.requests);
        self.program.send(line(&Request::Solve {
            id: &id,
            time_limit: seconds,
            gap: LIMITS.gap,
            seed: 0,
            threads: 1,
            problem: problem.requested(),
        }))?;
        Ok(id)
    }

    /// Waits for at most `within` for the answer to a request. Returns a message if no valid answer arrives.
    fn answer(&self, id: &str, within: Duration) -> Result<Done, String> {
        let deadline = Instant::now() + within;
        loop {
            match self.next(deadline).ok_or("stopped")? {
                Event::Line(text) => match serde_json::from_slice(&text) {
                    Ok(Reply::Done(done)) if done.id == id => return Ok(done),
                    Ok(Reply::Done(done)) => {
                        return Err(format!(
                            "an answer to {:?}, expected an answer to {id:?}",
                            done.id
                        ));
                    }
                    Ok(_) => {}
                    Err(error) => return Err(format!("a line that is not a message: {error}")),
                },
                Event::LongLine => return Err("a line longer than 1 MiB".into()),
                Event::Closed => return Err("it ended without an answer".into()),
                Event::Late => return Err(format!("no answer in {} s", within.as_secs_f64())),
            }
        }
    }
}

/// A problem with many tasks and nodes, which takes a long time to solve.
fn large() -> Problem {
    synthetic::problem(LARGE_TASKS, LARGE_NODES, 7)
}

fn infeasible(command: &SolverCommand, observer: &dyn Observer) -> Result<String, String> {
    let mut problem = synthetic::problem(3, 6, 1);
    problem.groups = vec![GroupLimit {
        name: "all".into(),
        tasks: problem.tasks.iter().map(|task| task.name.clone()).collect(),
        min_total: Some(7),
        max_total: None,
    }];
    let mut talk = Talk::start(command, observer)?;
    let id = talk.ask(&problem, LIMITS.time.as_secs_f64())?;
    let done = talk.answer(&id, LIMITS.time + SLACK)?;
    match done.status {
        DoneStatus::Infeasible => Ok("a group that needs 7 nodes when only 6 are idle".into()),
        other => Err(format!(
            "a group needs 7 nodes when only 6 are idle: found {other:?}, expected Infeasible"
        )),
    }
}

fn time_limit(command: &SolverCommand, observer: &dyn Observer) -> Result<String, String> {
    let mut talk = Talk::start(command, observer)?;
    let clock = Instant::now();
    let id = talk.ask(&large(), LIMIT.as_secs_f64())?;
    let answered = talk.answer(&id, LIMIT + SLACK);
    let limit = LIMIT.as_secs_f64();
    let slack = SLACK.as_secs_f64();
    answered.map_err(|error| {
        format!("{error}: the limit for {LARGE_TASKS} tasks on {LARGE_NODES} nodes is {limit} s, plus {slack} s")
    })?;
    Ok(format!(
        "{:.1} s for {LARGE_TASKS} tasks on {LARGE_NODES} nodes, with a limit of {limit} s",
        clock.elapsed().as_secs_f64()
    ))
}

fn cancel(command: &SolverCommand, observer: &dyn Observer) -> Result<String, String> {
    let mut talk = Talk::start(command, observer)?;
    let id = talk.ask(&large(), 600.0)?;
    let clock = Instant::now();
    talk.program.send(line(&Request::Cancel { id: &id }))?;
    talk.answer(&id, PATIENCE)?;
    let seconds = clock.elapsed().as_secs_f64();
    let small = synthetic::problem(2, 4, 3);
    let next = talk.ask(&small, LIMITS.time.as_secs_f64())?;
    talk.answer(&next, LIMITS.time)?;
    Ok(format!(
        "answered {seconds:.1} s after the request and its cancellation, and solved the next problem"
    ))
}

fn unknown_fields(command: &SolverCommand, observer: &dyn Observer) -> Result<String, String> {
    let talk = Talk::start(command, observer)?;
    let mut request = serde_json::to_value(Request::Solve {
        id: "check-1",
        time_limit: LIMITS.time.as_secs_f64(),
        gap: LIMITS.gap,
        seed: 0,
        threads: 1,
        problem: synthetic::problem(2, 4, 3).requested(),
    })
    .map_err(|error| error.to_string())?;
    request["solve"]["colour"] = "blue".into();
    request["solve"]["problem"]["tasks"][0]["colour"] = "blue".into();
    talk.program.send(request.to_string().into_bytes())?;
    talk.answer("check-1", LIMITS.time)?;
    Ok("answered a request with fields that no version defines".into())
}

fn quit(command: &SolverCommand, observer: &dyn Observer) -> Result<String, String> {
    let mut talk = Talk::start(command, observer)?;
    talk.program.send(line(&Request::Quit {}))?;
    let deadline = Instant::now() + PATIENCE;
    while let Some(Event::Line(_) | Event::LongLine) = talk.next(deadline) {}
    match talk.program.end() {
        Some(status) if status.ends_with(": 0") => Ok(status),
        Some(status) => Err(format!("{status}, expected exit status: 0")),
        None => Err(format!("still running after {} s", PATIENCE.as_secs_f64())),
    }
}
