//! A solver that is a separate program.

use std::io::{self, ErrorKind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use gleaner_classes::any::{PlanObserver, solve_classes, solve_one_class};
use gleaner_classes::{AnyAnswer, AnyProblem, AnySolver, ClassSolver};
use gleaner_domain::error::{Error, Result};
use gleaner_domain::results::programs::Identity;
use gleaner_domain::words::printable;
use gleaner_process::is_stopping;
use gleaner_solvers::{
    Allocation, BigM, Goal, Incumbent, Limits, Problem, SolveError, Solver, Status,
};

use crate::child::{Event, Program};
use crate::command::SolverCommand;
use crate::judge::Judge;
use crate::judged::Judged;
use crate::protocol::{Done, DoneStatus, Hello, Reply, Request, VERSION};
use crate::tally::TallyHandle;

/// Maximum time to wait for an answer after `cancel` is sent.
const GRACE: Duration = Duration::from_millis(500);

/// Interval between checks for a stop request while waiting for an answer.
const PULSE: Duration = Duration::from_millis(20);

/// Maximum length, in bytes, of a program's name and of its version.
const LONGEST_NAME: usize = 256;

/// Number of consecutive deaths without an answer after which a program is no longer restarted.
const MOST_DEATHS: usize = 10;

/// Sends problems to a program and checks its answers.
pub struct External {
    command: SolverCommand,
    hello: Hello,
    program: Option<Program>,
    judge: Judge,
    requests: u64,
    /// Number of times that the program has died since its last answer.
    deaths: usize,
    stop: Arc<AtomicBool>,
}

/// A program's replies to a request.
struct Answer<A> {
    /// The program's last valid plan before the answer.
    incumbent: Option<A>,
    /// The answer, and the time from the start of the solve to its arrival; `None` if no answer arrived.
    done: Option<(Duration, Done)>,
}

/// The observer of a solve.
struct Watch<'o, P: Judged> {
    /// The start of the solve.
    begun: Instant,
    /// Receives each valid plan, and the time from the start of the solve to its arrival.
    observer: &'o mut dyn FnMut(Duration, &P::Answer),
}

impl External {
    /// Starts the program and waits for its hello.
    ///
    /// # Errors
    /// The program cannot be started, does not send its hello in time, or uses an unknown version of the
    /// protocol.
    pub fn start(command: SolverCommand, big_m: BigM) -> Result<Self> {
        let (program, hello) = greet(&command, &is_stopping)
            .map_err(|what| Error::Run(format!("the solver {}: {what}", command.as_str())))?;
        let identity = Identity {
            command: command.as_str().to_owned(),
            name: hello.name.clone(),
            version: hello.version.clone(),
        };
        Ok(External {
            judge: Judge::new(
                format!("exec:{}", hello.name),
                identity,
                big_m,
                command.manifest().confirm_gap,
            ),
            command,
            hello,
            program: Some(program),
            requests: 0,
            deaths: 0,
            stop: Arc::default(),
        })
    }

    fn is_stopped(&self) -> bool {
        is_set(&self.stop)
    }

    /// The tally of the program's answers. The handle stays valid after the solver is dropped.
    pub fn tally(&self) -> TallyHandle {
        self.judge.tally.clone()
    }

    /// The program's hello, with its name and capabilities.
    pub fn hello(&self) -> &Hello {
        &self.hello
    }

    /// Checks that the program accepts the problem, without sending the problem.
    ///
    /// # Errors
    /// [`SolveError::Unfit`]: the program does not declare a capability that the problem needs.
    pub fn accepts(&self, problem: &Problem) -> Result<(), SolveError> {
        self.accepts_goal(problem.goal)?;
        if problem.groups.is_empty() || self.hello.can("groups") {
            Ok(())
        } else {
            Err(SolveError::Unfit(format!(
                "{} does not list the capability \"groups\"",
                self.judge.name
            )))
        }
    }

    /// Like [`External::accepts`], for problems with this goal and no groups.
    ///
    /// # Errors
    /// Same as [`External::accepts`].
    pub fn accepts_goal(&self, goal: Goal) -> Result<(), SolveError> {
        if goal == Goal::Total || self.hello.can("max-min") {
            Ok(())
        } else {
            Err(SolveError::Unfit(format!(
                "{} does not list the capability \"max-min\", which --objective share-fair needs",
                self.judge.name
            )))
        }
    }

    /// Like [`External::accepts`], but for problems with node classes. `has_groups` is set if the problems also have
    /// groups of tasks.
    ///
    /// # Errors
    /// Same as [`External::accepts`].
    pub fn accepts_classes(&self, has_groups: bool) -> Result<(), SolveError> {
        let needed = ["classes"]
            .into_iter()
            .chain(has_groups.then_some("groups"));
        let lacking = needed.into_iter().find(|name| !self.hello.can(name));
        match lacking {
            None => Ok(()),
            Some(name) => Err(SolveError::Unfit(format!(
                "{} does not list the capability {name:?}",
                self.judge.name
            ))),
        }
    }

    /// Restarts the program if it has died.
    fn revive(&mut self) {
        if self.program.is_some() || self.deaths >= MOST_DEATHS {
            return;
        }
        match greet(&self.command, &|| self.is_stopped()) {
            Ok((program, _)) => self.program = Some(program),
            Err(_) if self.is_stopped() => {}
            Err(what) => self.died(|| what),
        }
    }

    /// Counts a death of the program. After [`MOST_DEATHS`] deaths in a row, gives the program up.
    fn died(&mut self, what: impl FnOnce() -> String) {
        self.program = None;
        self.deaths += 1;
        self.judge.tally.fault(|tally| &mut tally.crashed, what);
        if self.deaths >= MOST_DEATHS {
            self.judge.tally.with(|tally| tally.given_up = true);
        }
    }

    /// Sends a problem to the program and waits for its answer.
    fn ask<P: Judged>(
        &mut self,
        problem: &P,
        limits: &Limits,
        watch: &mut Watch<'_, P>,
    ) -> Answer<P::Answer> {
        let mut answer = Answer {
            incumbent: None,
            done: None,
        };
        if self.is_stopped() {
            return answer;
        }
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
            problem: problem.requested(),
        };
        let mut deadline = Instant::now() + limits.time.min(Duration::from_secs(1 << 30));
        let mut is_cancelled = false;
        if !self.send(problem, &request) {
            return answer;
        }
        loop {
            let (Some(program), stop) = (&mut self.program, &self.stop) else {
                return answer;
            };
            let Some(event) = next(program, deadline, &|| is_set(stop)) else {
                self.program = None;
                return answer;
            };
            match event {
                Event::Line(text) => match serde_json::from_slice(&text) {
                    Ok(Reply::Incumbent(found)) if found.id == id => {
                        let after = watch.begun.elapsed();
                        match P::plan_of(found.plan) {
                            Ok(Some(plan)) => {
                                if let Some(plan) = self.judge.plan(problem, plan) {
                                    (watch.observer)(after, &plan);
                                    answer.incumbent = Some(plan);
                                }
                            }
                            Ok(None) => self.garbage(&text, "an incumbent without a plan"),
                            Err(what) => self.garbage(&text, &what),
                        }
                    }
                    Ok(Reply::Done(done)) if done.id == id => {
                        self.deaths = 0;
                        answer.done = Some((watch.begun.elapsed(), done));
                        return answer;
                    }
                    // A late reply to an earlier request.
                    Ok(_) => {}
                    Err(error) => self.garbage(&text, &error.to_string()),
                },
                Event::LongLine => self.garbage(b"", "a line longer than 1 MiB"),
                Event::Closed => {
                    let end = program.last_words();
                    self.died(|| format!("{}: {end}", problem.told()));
                    return answer;
                }
                Event::Late if !is_cancelled => {
                    self.judge.late(problem, limits);
                    // If the message cannot be sent, the program is ended after the grace period, like
                    // any late program.
                    let _ = program.send(line(&Request::Cancel { id: &id }));
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

    /// Sends a request. Returns false if there is no program, or if the program does not read its input and therefore
    /// counts as dead.
    fn send(&mut self, problem: &impl Judged, request: &Request<'_>) -> bool {
        let Some(program) = &mut self.program else {
            return false;
        };
        let Err(what) = program.send(line(request)) else {
            return true;
        };
        let end = program.last_words();
        self.died(|| format!("{}: {what}: {end}", problem.told()));
        false
    }

    fn garbage(&self, text: &[u8], why: &str) {
        self.judge.tally.fault(
            |tally| &mut tally.garbage,
            || format!("{:?} is not a message: {}", start(text), printable(why)),
        );
    }

    /// Judges the program's replies to a request, and returns the resulting answer.
    fn worth<P: Judged>(
        &self,
        problem: &P,
        limits: &Limits,
        answer: Answer<P::Answer>,
        watch: &mut Watch<'_, P>,
    ) -> P::Answer {
        let fallback = answer.incumbent;
        let Some((after, done)) = answer.done else {
            return fallback.unwrap_or_else(|| problem.without_plan(Status::Unknown));
        };
        if done.status == DoneStatus::Refused {
            self.judge.tally.with(|tally| tally.refused += 1);
        }
        let claims = done.status == DoneStatus::Optimal;
        let plan = match P::plan_of(done.plan) {
            Ok(plan) => plan,
            Err(what) => {
                self.judge.wrong(problem, &what);
                return fallback.unwrap_or_else(|| problem.without_plan(Status::Unknown));
            }
        };
        if plan.is_none() && (claims || done.status == DoneStatus::Feasible) {
            self.judge.wrong(
                problem,
                &format!("reported as solved, but without {}", P::PLAN),
            );
        }
        if done.status == DoneStatus::Infeasible && plan.is_none() {
            return self.judge.infeasible(problem, limits, fallback);
        }
        let plan = plan.and_then(|plan| self.judge.plan(problem, plan));
        if let Some(plan) = &plan {
            (watch.observer)(after, plan);
        }
        self.judge.worth(problem, limits, plan, claims, fallback)
    }

    /// Solves a problem of a kind that the program accepts. `observer` receives each valid plan, with its time of arrival.
    fn solve_judged<P: Judged>(
        &mut self,
        problem: &P,
        limits: &Limits,
        begun: Instant,
        observer: &mut dyn FnMut(Duration, &P::Answer),
    ) -> P::Answer {
        self.judge.tally.with(|tally| tally.problems += 1);
        let mut watch = Watch { begun, observer };
        let answer = self.ask(problem, limits, &mut watch);
        self.worth(problem, limits, answer, &mut watch)
    }

    fn set_stop(&mut self, stop: &Arc<AtomicBool>) {
        self.stop = Arc::clone(stop);
        self.judge.stop = Arc::clone(stop);
    }
}

impl Solver for External {
    fn name(&self) -> &str {
        &self.judge.name
    }

    fn solve(&mut self, problem: &Problem, limits: &Limits) -> Result<Allocation, SolveError> {
        Solver::solve_observed(self, problem, limits, &mut |_| {})
    }

    /// Reports every valid plan that the program sends, with its time of arrival. The comparison
    /// with the exact solver takes place later and does not count towards this time.
    fn solve_observed(
        &mut self,
        problem: &Problem,
        limits: &Limits,
        observer: &mut dyn FnMut(Incumbent),
    ) -> Result<Allocation, SolveError> {
        let begun = Instant::now();
        self.accepts(problem)?;
        let mut tell = |after, plan: &Allocation| {
            let plan = plan.clone();
            observer(Incumbent { after, plan });
        };
        Ok(self.solve_judged(problem, limits, begun, &mut tell))
    }

    /// Stops the program as soon as `stop` is set, even while it solves a problem. The program also stops
    /// when this process receives a signal to stop ([`gleaner_process::stop`]).
    fn stop_when(&mut self, stop: &Arc<AtomicBool>) {
        self.set_stop(stop);
    }
}

impl ClassSolver for External {
    fn name(&self) -> &str {
        &self.judge.name
    }

    fn solve(
        &mut self,
        problem: &gleaner_classes::Problem,
        limits: &Limits,
    ) -> Result<gleaner_classes::Answer, SolveError> {
        ClassSolver::solve_observed(self, problem, limits, &mut |_, _| {})
    }

    fn solve_observed(
        &mut self,
        problem: &gleaner_classes::Problem,
        limits: &Limits,
        observer: &mut dyn FnMut(Duration, &gleaner_classes::Answer),
    ) -> Result<gleaner_classes::Answer, SolveError> {
        let begun = Instant::now();
        self.accepts_classes(!problem.groups.is_empty())?;
        let faults = problem.validate();
        if !faults.is_empty() {
            return Err(SolveError::Invalid(faults));
        }
        Ok(self.solve_judged(problem, limits, begun, observer))
    }

    fn stop_when(&mut self, stop: &Arc<AtomicBool>) {
        self.set_stop(stop);
    }
}

impl AnySolver for External {
    fn solve_any(
        &mut self,
        problem: &AnyProblem,
        limits: &Limits,
        observer: Option<PlanObserver<'_>>,
    ) -> Result<AnyAnswer, SolveError> {
        match problem {
            AnyProblem::OneClass(problem) => solve_one_class(self, problem, limits, observer),
            AnyProblem::Classes(problem) => solve_classes(self, problem, limits, observer),
        }
    }

    fn stop_when(&mut self, stop: &Arc<AtomicBool>) {
        self.set_stop(stop);
    }
}

/// A message as a line, without its line ending.
pub(crate) fn line(request: &Request<'_>) -> Vec<u8> {
    serde_json::to_vec(request).unwrap_or_default()
}

/// Whether to stop waiting, because `stop` is set or this process received a signal to stop.
fn is_set(stop: &AtomicBool) -> bool {
    is_stopping() || stop.load(Ordering::Relaxed)
}

/// Returns a program's next event, waiting until `deadline`; `None` once `stopped` returns true.
pub(crate) fn next(
    program: &Program,
    deadline: Instant,
    stopped: &dyn Fn() -> bool,
) -> Option<Event> {
    while !stopped() {
        let pulse = Instant::now() + PULSE;
        match program.next(deadline.min(pulse)) {
            Event::Late if pulse < deadline => {}
            event => return Some(event),
        }
    }
    None
}

/// A message about a program that cannot be started.
fn not_started(program: &str, error: &io::Error) -> String {
    let reason = match error.kind() {
        ErrorKind::NotFound if program.contains('/') => "there is no such file".to_owned(),
        ErrorKind::NotFound => {
            format!(
                "it is not in PATH; for a file, give its path, such as ./{program}, or \"python3 {program}\""
            )
        }
        ErrorKind::PermissionDenied => {
            format!(
                "it is not executable; for a script, name its interpreter: \"python3 {program}\""
            )
        }
        _ => error.to_string(),
    };
    format!("{program} cannot be started: {reason}")
}

/// Starts a program and exchanges hellos. Fails once `stopped` returns true.
pub(crate) fn greet(
    command: &SolverCommand,
    stopped: &dyn Fn() -> bool,
) -> Result<(Program, Hello), String> {
    let manifest = command.manifest();
    let mut program =
        Program::start(manifest).map_err(|error| not_started(&manifest.command[0], &error))?;
    let deadline = Instant::now() + Duration::from_secs_f64(manifest.start_seconds);
    program.send(line(&Request::Hello {
        protocols: &[VERSION],
        program: "gleaner",
        version: env!("CARGO_PKG_VERSION"),
    }))?;
    let expected = "expected {\"hello\": {\"protocol\": 1, \"name\": …}}";
    let event = next(&program, deadline, stopped).ok_or("stopped before it sent its hello")?;
    match event {
        Event::Line(text) => match serde_json::from_slice(&text) {
            Ok(Reply::Hello(hello)) if hello.protocol == VERSION => {
                let name = said("name", &hello.name)?;
                let version = said("version", &hello.version)?;
                let capabilities = hello.capabilities;
                let hello = Hello {
                    name,
                    version,
                    capabilities,
                    ..hello
                };
                Ok((program, hello))
            }
            Ok(Reply::Hello(hello)) => Err(format!(
                "it uses version {} of the protocol, expected {VERSION}",
                hello.protocol
            )),
            _ => {
                let start = start(&text);
                Err(format!("its first line is {start:?}, {expected}"))
            }
        },
        Event::LongLine => Err(format!("its first line is longer than 1 MiB, {expected}")),
        Event::Late => Err(format!(
            "no hello in {} s, {expected}",
            manifest.start_seconds
        )),
        Event::Closed => {
            let end = program.last_words();
            Err(format!("it ended before it sent its hello: {end}"))
        }
    }
}

/// A program's name or version, escaped for messages and tables.
///
/// # Errors
/// Returns a message if the name or version is too long.
fn said(what: &str, text: &str) -> Result<String, String> {
    if text.len() > LONGEST_NAME {
        return Err(format!(
            "its {what} has {} bytes, expected at most {LONGEST_NAME}",
            text.len()
        ));
    }
    Ok(printable(text).into_owned())
}

/// The start of a line, for messages.
fn start(line: &[u8]) -> String {
    let text = String::from_utf8_lossy(line);
    text.trim().chars().take(60).collect()
}
