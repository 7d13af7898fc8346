//! A solver that is a program of its own.

use std::time::{Duration, Instant};

use gleaner_core::error::{Error, Result};
use gleaner_core::results::programs::Identity;
use gleaner_core::words::printable;
use gleaner_solvers::backends::Exact;
use gleaner_solvers::range::NOTHING;
use gleaner_solvers::{
    Allocation, BigM, Goal, Incumbent, Limits, Problem, SolveError, Solver, Status, check,
};

use crate::child::{Event, Program};
use crate::command::SolverCommand;
use crate::protocol::{Done, DoneStatus, Hello, Reply, Request, VERSION};
use crate::tally::TallyHandle;

/// Time for an answer after `cancel`.
const GRACE: Duration = Duration::from_millis(500);

/// Deaths in turn, without an answer in between, after which a program is not started again.
const MOST_DEATHS: usize = 10;

/// Relative difference at which two objectives are the same.
const SAME: f64 = 1e-6;

/// Asks a program, and checks what it says.
pub struct External {
    command: SolverCommand,
    /// The name in tables: `exec:` and the name that the program gave.
    name: String,
    hello: Hello,
    program: Option<Program>,
    big_m: BigM,
    exact: Exact,
    requests: u64,
    /// Deaths since the last answer.
    deaths: usize,
    tally: TallyHandle,
}

/// What a program said to a request.
struct Answer {
    /// Its last valid plan on the way.
    incumbent: Option<Allocation>,
    /// Its answer, with the time since the start of the solve at which it came; `None` if it was late or
    /// died.
    done: Option<(Duration, Done)>,
}

/// Who follows a solve.
struct Watch<'o> {
    /// The start of the solve.
    begun: Instant,
    observer: &'o mut dyn FnMut(Incumbent),
}

impl Watch<'_> {
    /// Tells a valid plan that came at this time.
    fn tell(&mut self, after: Duration, plan: &Allocation) {
        let plan = plan.clone();
        (self.observer)(Incumbent { after, plan });
    }
}

impl External {
    /// Starts the program and waits for its hello.
    ///
    /// # Errors
    /// It cannot be started, does not say hello in time, or speaks no version of the protocol that we
    /// know.
    pub fn start(command: SolverCommand, big_m: BigM) -> Result<Self> {
        let (program, hello) = greet(&command)
            .map_err(|what| Error::Run(format!("the solver {}: {what}", command.as_str())))?;
        let tally = TallyHandle::default();
        tally.with(|tally| {
            tally.identity = Identity {
                command: command.as_str().to_owned(),
                name: hello.name.clone(),
                version: hello.version.clone(),
            }
        });
        Ok(External {
            name: format!("exec:{}", hello.name),
            command,
            hello,
            program: Some(program),
            big_m,
            exact: Exact::new(big_m),
            requests: 0,
            deaths: 0,
            tally,
        })
    }

    /// The counts of its answers. The handle stays valid when the solver is gone.
    pub fn tally(&self) -> TallyHandle {
        self.tally.clone()
    }

    /// Who the program is.
    pub fn hello(&self) -> &Hello {
        &self.hello
    }

    /// Checks that the program takes the problem, without asking it.
    ///
    /// # Errors
    /// [`SolveError::Unfit`]: it does not say that it can.
    pub fn accepts(&self, problem: &Problem) -> Result<(), SolveError> {
        self.accepts_goal(problem.goal)?;
        match problem.groups.is_empty() || self.hello.can("groups") {
            true => Ok(()),
            false => Err(SolveError::Unfit(format!(
                "{} does not say that it takes groups",
                self.name
            ))),
        }
    }

    /// As [`External::accepts`], for problems with this goal and no groups.
    ///
    /// # Errors
    /// As [`External::accepts`].
    pub fn accepts_goal(&self, goal: Goal) -> Result<(), SolveError> {
        match goal == Goal::Total || self.hello.can("max-min") {
            true => Ok(()),
            false => Err(SolveError::Unfit(format!(
                "{} does not say that it takes the max-min goal of --objective share-fair",
                self.name
            ))),
        }
    }

    /// Starts the program again if it has died.
    fn revive(&mut self) {
        if self.program.is_some() || self.deaths >= MOST_DEATHS {
            return;
        }
        match greet(&self.command) {
            Ok((program, _)) => self.program = Some(program),
            Err(what) => self.died(|| what),
        }
    }

    /// Counts a death.
    fn died(&mut self, what: impl FnOnce() -> String) {
        self.program = None;
        self.deaths += 1;
        self.tally.fault(|tally| &mut tally.crashed, what);
        if self.deaths >= MOST_DEATHS {
            self.tally.with(|tally| tally.given_up = true);
        }
    }

    /// Has the program answer a problem.
    fn ask(&mut self, problem: &Problem, limits: &Limits, watch: &mut Watch<'_>) -> Answer {
        let mut answer = Answer {
            incumbent: None,
            done: None,
        };
        self.revive();
        self.requests += 1;
        let id = format!("r{}", self.requests);
        let manifest = self.command.manifest();
        let request = Request::Solve {
            id: &id,
            time_limit: limits.time.as_secs_f64(),
            gap: limits.gap,
            seed: manifest.seed,
            threads: manifest.threads,
            problem,
        };
        let Some(program) = &self.program else {
            return answer;
        };
        let mut deadline = Instant::now() + limits.time.min(Duration::from_secs(1 << 30));
        let mut is_cancelled = !program.send(line(&request));
        loop {
            let Some(program) = &mut self.program else {
                return answer;
            };
            match program.next(deadline) {
                Event::Line(text) => match serde_json::from_slice(&text) {
                    Ok(Reply::Incumbent(found)) if found.id == id => {
                        let after = watch.begun.elapsed();
                        if let Some(plan) = self.plan(problem, found.counts) {
                            watch.tell(after, &plan);
                            answer.incumbent = Some(plan);
                        }
                    }
                    Ok(Reply::Done(done)) if done.id == id => {
                        self.deaths = 0;
                        answer.done = Some((watch.begun.elapsed(), done));
                        return answer;
                    }
                    // Of an earlier request.
                    Ok(_) => {}
                    Err(error) => self.garbage(&text, &error.to_string()),
                },
                Event::LongLine => self.garbage(b"", "a line of more than a MiB"),
                Event::Closed => {
                    let end = program.last_words();
                    self.died(|| format!("{}: {end}", told(problem)));
                    return answer;
                }
                Event::Late if !is_cancelled => {
                    self.tally.fault(
                        |tally| &mut tally.late,
                        || {
                            format!(
                                "{}: no answer in {} s",
                                told(problem),
                                limits.time.as_secs_f64()
                            )
                        },
                    );
                    program.send(line(&Request::Cancel { id: &id }));
                    is_cancelled = true;
                    deadline = Instant::now() + GRACE;
                }
                Event::Late => {
                    program.kill();
                    self.program = None;
                    return answer;
                }
            }
        }
    }

    fn garbage(&self, text: &[u8], why: &str) {
        self.tally.fault(
            |tally| &mut tally.garbage,
            || format!("{:?} is not a message: {}", start(text), printable(why)),
        );
    }

    /// Counts a wrong answer.
    fn wrong(&self, problem: &Problem, what: &str) {
        self.tally.fault(
            |tally| &mut tally.wrong,
            || format!("{}: {what}", told(problem)),
        );
    }

    /// The answer with this plan, if the plan is valid; else the fault is counted.
    fn plan(&self, problem: &Problem, counts: Vec<u32>) -> Option<Allocation> {
        if counts.len() != problem.tasks.len() {
            let (found, tasks) = (counts.len(), problem.tasks.len());
            self.wrong(problem, &format!("{found} counts for {tasks} tasks"));
            return None;
        }
        let answer = Allocation::with_plan(problem, Status::Feasible, counts, None);
        if let Err(violations) = check(problem, &answer, self.big_m) {
            let first = violations.first().map(ToString::to_string);
            let others = match violations.len() {
                0 | 1 => String::new(),
                count => format!(", and {} more", count - 1),
            };
            self.wrong(problem, &(first.unwrap_or_default() + &others));
            return None;
        }
        Some(answer)
    }

    /// What an answer is worth.
    fn judge(
        &mut self,
        problem: &Problem,
        limits: &Limits,
        answer: Answer,
        watch: &mut Watch<'_>,
    ) -> Allocation {
        let fallback = answer
            .incumbent
            .unwrap_or_else(|| Allocation::without_plan(Status::Unknown));
        let Some((after, done)) = answer.done else {
            return fallback;
        };
        if done.status == DoneStatus::Refused {
            self.tally.with(|tally| tally.refused += 1);
        }
        let claims = done.status == DoneStatus::Optimal;
        if done.counts.is_none() && (claims || done.status == DoneStatus::Feasible) {
            self.wrong(problem, "called solved, without counts");
        }
        let plan = done.counts.and_then(|counts| self.plan(problem, counts));
        if let Some(plan) = &plan {
            watch.tell(after, plan);
        }
        match plan {
            Some(plan) if claims => self.confirm(problem, limits, plan),
            plan => plan.unwrap_or(fallback),
        }
    }

    /// Compares a plan that was called optimal with the exact solver's.
    fn confirm(&mut self, problem: &Problem, limits: &Limits, plan: Allocation) -> Allocation {
        let best = self.exact.solve(problem, limits).ok();
        let best = best.filter(|best| best.status == Status::Optimal);
        let (Some(best), Some(found)) = (best, plan.objective) else {
            self.tally.with(|tally| tally.claimed += 1);
            return plan;
        };
        let objective = best.objective.unwrap_or(f64::NEG_INFINITY);
        let is_near = objective - found <= limits.gap.max(SAME) * objective.abs().max(NOTHING);
        let is_best = match (problem.goal, &best.counts, &plan.counts) {
            (Goal::MaxMin, Some(best), Some(found)) => problem.merit(found) >= problem.merit(best),
            _ => is_near,
        };
        if is_best {
            self.tally.with(|tally| tally.confirmed += 1);
            return Allocation {
                status: Status::Optimal,
                bound: Some(objective.max(found)),
                ..plan
            };
        }
        let what = format!("{found} is called optimal, but {objective} is possible");
        self.wrong(problem, &what);
        plan
    }
}

impl Solver for External {
    fn name(&self) -> &str {
        &self.name
    }

    fn solve(&mut self, problem: &Problem, limits: &Limits) -> Result<Allocation, SolveError> {
        self.solve_observed(problem, limits, &mut |_| {})
    }

    /// Tells every valid plan that the program sends, when it comes. That the exact solver then
    /// compares an answer takes time, but not until the plan is known.
    fn solve_observed(
        &mut self,
        problem: &Problem,
        limits: &Limits,
        observer: &mut dyn FnMut(Incumbent),
    ) -> Result<Allocation, SolveError> {
        let begun = Instant::now();
        self.accepts(problem)?;
        self.tally.with(|tally| tally.problems += 1);
        let mut watch = Watch { begun, observer };
        let answer = self.ask(problem, limits, &mut watch);
        Ok(self.judge(problem, limits, answer, &mut watch))
    }
}

/// A message as a line, without its end.
pub(crate) fn line(request: &Request<'_>) -> Vec<u8> {
    serde_json::to_vec(request).unwrap_or_default()
}

/// Starts a program and exchanges hellos.
pub(crate) fn greet(command: &SolverCommand) -> Result<(Program, Hello), String> {
    let manifest = command.manifest();
    let mut program = Program::start(manifest)
        .map_err(|error| format!("{} cannot be started: {error}", manifest.command[0]))?;
    let deadline = Instant::now() + Duration::from_secs_f64(manifest.start_seconds);
    program.send(line(&Request::Hello {
        protocols: &[VERSION],
        program: "gleaner",
        version: env!("CARGO_PKG_VERSION"),
    }));
    let expected = "expected {\"hello\": {\"protocol\": 1, \"name\": …}}";
    match program.next(deadline) {
        Event::Line(text) => match serde_json::from_slice(&text) {
            Ok(Reply::Hello(hello)) if hello.protocol == VERSION => {
                let name = printable(&hello.name).to_string();
                Ok((program, Hello { name, ..hello }))
            }
            Ok(Reply::Hello(hello)) => Err(format!(
                "it speaks version {} of the protocol, we speak {VERSION}",
                hello.protocol
            )),
            _ => {
                let start = start(&text);
                Err(format!("its first line is {start:?}, {expected}"))
            }
        },
        Event::LongLine => Err(format!("its first line has more than a MiB, {expected}")),
        Event::Late => Err(format!(
            "no hello in {} s, {expected}",
            manifest.start_seconds
        )),
        Event::Closed => {
            let end = program.last_words();
            Err(format!("it ended before it said hello: {end}"))
        }
    }
}

/// The start of a line, for messages.
fn start(line: &[u8]) -> String {
    let text = String::from_utf8_lossy(line);
    text.trim().chars().take(60).collect()
}

/// A problem in a message. Those of a replay have no id.
fn told(problem: &Problem) -> String {
    match problem.id.is_empty() {
        true => format!("{} tasks on {} nodes", problem.tasks.len(), problem.nodes),
        false => format!("problem {}", printable(&problem.id)),
    }
}
