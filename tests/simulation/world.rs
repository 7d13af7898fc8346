//! The world: virtual time, and everything that the core does not see.
//!
//! A run is a queue of happenings, ordered by virtual time. There are no threads, no files and no clock. The world
//! shares only public types with the core. It knows the true state, such as the processes on each node.

use std::collections::BTreeMap;

use gleaner_harvest::core::{Millis, PilotId, RankState, RunId};

use crate::checks::{DayMeter, Invariant, Violation};
use crate::daemon::Daemon;
use crate::network::{Connection, FromPilot, ToPilot};
use crate::noise::{For, Noise};
use crate::pilot::Pilot;
use crate::plan::{Act, Fate, Plan};
use crate::program::{Process, Program};
use crate::sabotage::Sabotage;
use crate::scheduler::Scheduler;
use crate::users::Users;

/// Something that happens at a virtual time, such as the arrival of a message.
#[derive(Debug, Clone)]
pub enum Happening {
    /// An act of the plan.
    Act(usize),
    /// The daemon performs the actions that are due.
    Tick,
    /// The daemon is started again after the crash with this number.
    DaemonStart(usize),
    /// The scheduler starts pending pilots.
    Schedule,
    /// The daemon queries the scheduler.
    Query,
    /// The answer to a query that began at the time `began`.
    Listed {
        began: Millis,
        pilots: Vec<PilotId>,
    },
    /// The scheduler answers a request to start a pilot.
    Started {
        pilot: PilotId,
        is_accepted: bool,
    },
    /// A request to start a pilot arrives late.
    LateStart {
        pilot: PilotId,
        wall_s: u64,
    },
    /// All processes of a pilot's job are killed, because the job's time is up or the pilot has died.
    KillJob(PilotId),
    /// A pilot performs the actions that are due.
    Pilot(PilotId),
    ToDaemon(u64, FromPilot),
    ToPilot(u64, ToPilot),
    /// The program of a run performs its next step.
    Run(RunId),
    /// A process ends, unless it has already ended. `serial` identifies the process.
    Ends {
        node: usize,
        run: RunId,
        code: Option<i32>,
        serial: u64,
    },
    /// A user sends a request.
    User(usize),
}

/// Statistics of a run.
#[derive(Debug, Default, Clone, PartialEq)]
pub struct Figures {
    pub events: usize,
    pub launches: usize,
    pub crashes: usize,
    pub finished: usize,
    pub failed: usize,
}

/// The world.
pub struct World {
    pub plan: Plan,
    pub noise: Noise,
    pub sabotage: Option<Sabotage>,
    pub now: Millis,
    /// The scheduled happenings, ordered by time. Happenings at the same time keep the order in which they were
    /// scheduled.
    queue: BTreeMap<(Millis, u64), Happening>,
    serial: u64,
    /// The trace of the run so far, if a trace is requested.
    pub trace: Option<Vec<String>>,
    pub violation: Option<Violation>,
    pub figures: Figures,
    /// For each node, the time until which its network is cut.
    pub cuts: Vec<Millis>,
    /// For each node whose pilot will report a wrong class next, this class.
    pub misreports: BTreeMap<usize, Option<&'static str>>,
    pub scheduler: Scheduler,
    pub pilots: BTreeMap<PilotId, Pilot>,
    pub connections: BTreeMap<u64, Connection>,
    pub processes: BTreeMap<(usize, RunId), Process>,
    pub programs: Vec<Program>,
    pub daemon: Daemon,
    pub users: Users,
    pub meter: DayMeter,
    /// Whether users know that the faults have ceased.
    pub has_calmed: bool,
    /// Time at which the stop at the end was requested.
    pub ending: Option<Millis>,
    pub is_over: bool,
}

impl World {
    /// Creates the world of a plan, at the start of the run.
    pub fn new(plan: Plan, sabotage: Option<Sabotage>) -> Self {
        let mut world = World {
            noise: Noise(plan.seed),
            sabotage,
            now: plan.start,
            queue: BTreeMap::new(),
            serial: 0,
            trace: None,
            violation: None,
            figures: Figures::default(),
            cuts: vec![0; plan.nodes],
            misreports: BTreeMap::new(),
            scheduler: Scheduler::new(plan.nodes),
            pilots: BTreeMap::new(),
            connections: BTreeMap::new(),
            processes: BTreeMap::new(),
            programs: plan.tasks.iter().map(Program::new).collect(),
            daemon: Daemon::new(&plan, sabotage),
            users: Users::default(),
            meter: DayMeter::default(),
            has_calmed: false,
            ending: None,
            is_over: false,
            plan,
        };
        for act in 0..world.plan.acts.len() {
            let (time, _) = world.plan.acts[act];
            world.at(time, Happening::Act(act));
        }
        for (after, happening) in [
            (0, Happening::Tick),
            (300, Happening::Schedule),
            (2000, Happening::Query),
        ] {
            world.after(after, happening);
        }
        world
    }

    /// Runs until all tasks have ended and everything has stopped, or until an invariant fails.
    pub fn run(&mut self) -> Result<Figures, Violation> {
        while self.violation.is_none() && !self.is_over {
            let Some(((time, _), happening)) = self.queue.pop_first() else {
                break;
            };
            self.now = time;
            self.happen(happening);
        }
        if self.violation.is_none() {
            self.check_replay();
            self.check_searches();
        }
        match self.violation.take() {
            Some(violation) => Err(violation),
            None => Ok(self.figures.clone()),
        }
    }

    fn happen(&mut self, happening: Happening) {
        let concerns_daemon = matches!(
            happening,
            Happening::Tick
                | Happening::Listed { .. }
                | Happening::Started { .. }
                | Happening::ToDaemon(..)
                | Happening::User(_)
        );
        if concerns_daemon && self.now < self.daemon.frozen {
            self.at(self.daemon.frozen, happening);
            return;
        }
        match happening {
            Happening::Act(act) => self.act(act),
            Happening::Tick => self.tick(),
            Happening::DaemonStart(crash) => self.start_daemon(crash),
            Happening::Schedule => self.schedule(),
            Happening::Query => self.query(),
            Happening::Listed { began, pilots } => self.listed(began, &pilots),
            Happening::Started { pilot, is_accepted } => self.started(pilot, is_accepted),
            Happening::LateStart { pilot, wall_s } => self.submit_job(pilot, wall_s),
            Happening::KillJob(pilot) => self.kill_job(pilot),
            Happening::Pilot(pilot) => self.step_pilot(pilot),
            Happening::ToDaemon(connection, message) => self.daemon_hears(connection, message),
            Happening::ToPilot(connection, message) => self.pilot_hears(connection, message),
            Happening::Run(run) => self.step_run(run),
            Happening::Ends {
                node,
                run,
                code,
                serial,
            } => {
                if self.is_process(node, run, serial) {
                    self.end_process(node, run, code);
                }
            }
            Happening::User(request) => self.request(request),
        }
    }

    /// Schedules a happening at a given time.
    pub fn at(&mut self, at: Millis, happening: Happening) {
        self.serial += 1;
        let time = at.max(self.now);
        self.queue.insert((time, self.serial), happening);
    }

    /// Schedules a simulated event `ms` milliseconds from now.
    pub fn after(&mut self, ms: Millis, happening: Happening) {
        self.at(self.now + ms, happening);
    }

    /// A new number for a process, a connection or a request.
    pub fn number(&mut self) -> u64 {
        self.serial += 1;
        self.serial
    }

    /// Adds a line to the trace.
    pub fn say(&mut self, text: impl FnOnce() -> String) {
        let seconds = (self.now - self.plan.start) as f64 / 1000.0;
        if let Some(trace) = &mut self.trace {
            trace.push(format!("{seconds:8.3} {}", text()));
        }
    }

    /// Records that an invariant does not hold.
    pub fn fail(&mut self, invariant: Invariant, text: String) {
        self.say(|| format!("VIOLATION of {invariant:?}: {text}"));
        self.violation.get_or_insert(Violation { invariant, text });
    }

    /// Whether the faults have ceased.
    pub fn is_calm(&self) -> bool {
        self.now >= self.plan.calm
    }

    fn act(&mut self, index: usize) {
        let act = self.plan.acts[index].1.clone();
        self.say(|| format!("ACT {act:?}"));
        match act {
            Act::Busy { node, ms } => self.take_node(node, ms),
            Act::KillPilot { node, ranks_ms } => {
                if let Some(pilot) = self.pilot_on(node) {
                    self.lose_pilot(pilot);
                    self.after(ranks_ms, Happening::KillJob(pilot));
                }
            }
            Act::Cut { node, ms } => {
                self.cuts[node] = self.cuts[node].max(self.now + ms).min(self.plan.calm);
                self.break_node(node, true);
            }
            Act::Break { node } => self.break_node(node, false),
            Act::KillDaemon { steps, ms } => self.daemon.crash_after = Some((steps, ms)),
            Act::FreezeDaemon { ms } => self.daemon.frozen = (self.now + ms).min(self.plan.calm),
            Act::KillScheduler { ms } => self.kill_scheduler(ms),
            Act::NextStart(fate) => self.scheduler.next = Some(fate),
            Act::FailRank { task, code } => self.fail_rank(task, code),
            Act::Stale { node } => {
                if let Some(pilot) = self.pilot_on(node) {
                    let mut draw = self.noise.draw(For::Daemon, &[index as u64]);
                    let old = self.pilots[&pilot].old.iter();
                    let old = old.filter(|(link, _)| self.is_replaced(*link));
                    let old: Vec<_> = old.map(|(_, event)| event.clone()).collect();
                    if !old.is_empty() {
                        self.feed(old[draw.below(old.len())].clone());
                    }
                }
            }
            Act::Misreport { node, class } => {
                self.misreports.insert(node, class);
            }
            Act::OldReport { task } => self.repeat_old_report(task),
            Act::Submit { .. }
            | Act::SubmitTwice { .. }
            | Act::Cancel { .. }
            | Act::Drain { .. }
            | Act::Stop { .. } => self.user_acts(&act),
        }
    }

    /// The pilot on a node, if its process is alive.
    pub fn pilot_on(&self, node: usize) -> Option<PilotId> {
        let mut pilots = self.pilots.values();
        pilots
            .find(|pilot| pilot.node == node)
            .map(|pilot| pilot.id)
    }

    fn break_node(&mut self, node: usize, is_quiet: bool) {
        if let Some(pilot) = self.pilot_on(node)
            && let Some(connection) = self.pilots[&pilot].connection
        {
            self.break_connection(connection, is_quiet);
        }
    }

    /// Lets a rank of a task fail, as if its program had a fault.
    pub fn fail_rank(&mut self, task: usize, code: Option<i32>) {
        let found = self.ranks_of_task(task);
        let mut draw = self
            .noise
            .draw(For::Program, &[task as u64, self.now as u64]);
        if let Some(&(node, run)) = found.get(draw.below(found.len())) {
            self.programs[task].failed.insert(run.generation);
            self.end_process(node, run, code);
        }
    }

    /// The running ranks of a task, with their nodes.
    pub fn ranks_of_task(&self, task: usize) -> Vec<(usize, RunId)> {
        let ranks = self.processes.iter();
        let ranks = ranks.filter(|(_, process)| process.task == task && !process.is_worker);
        ranks.map(|(place, _)| *place).collect()
    }

    /// Whether the process with this serial number is running.
    fn is_process(&self, node: usize, run: RunId, serial: u64) -> bool {
        let process = self.processes.get(&(node, run));
        process.is_some_and(|process| process.serial == serial)
    }

    /// Ends a process. Its pilot notices the end.
    pub fn end_process(&mut self, node: usize, run: RunId, code: Option<i32>) {
        let Some(process) = self.processes.remove(&(node, run)) else {
            return;
        };
        self.say(|| format!("n{node}: {run} ends with {code:?}"));
        if process.is_worker {
            return;
        }
        self.rank_ended(&process, run);
        let done = self.programs[process.task].done(run);
        let report = done.map(|done| self.report_of(process.task, done));
        let Some(pilot) = self.pilots.get_mut(&process.pilot) else {
            return;
        };
        if let Some(known) = pilot.known.get_mut(&run) {
            known.state = RankState::Exited { code };
            // Each rank reports when it ends, because the first rank may have been lost long before.
            let is_honest = !self.plan.tasks[process.task].lies;
            if let Some(report) = report.filter(|_| is_honest) {
                (known.progress, known.is_new) = (Some(report), true);
            }
        }
        self.report_progress(process.pilot, run);
        self.send_exit(process.pilot, run);
        self.clear_job(process.pilot);
    }

    /// Removes and returns the fate of the next request to start a pilot; `None` if no fault is planned.
    pub fn fate(&mut self) -> Option<Fate> {
        self.scheduler.next.take()
    }
}

impl Figures {
    /// Adds the figures of another run.
    pub fn add(&mut self, other: &Figures) {
        self.events += other.events;
        self.launches += other.launches;
        self.crashes += other.crashes;
        self.finished += other.finished;
        self.failed += other.failed;
    }
}
