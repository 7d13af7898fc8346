//! The daemon. It passes events to the core, writes them to the journal, and then executes the core's commands. It can
//! crash between any two of these steps. From time to time, it writes a snapshot in the same step as the events.

mod messages;

use std::collections::{BTreeMap, BTreeSet};

use gleaner_harvest::core::{
    Capture, Command, Core, CoreError, Entry, Event, Heard, Link, Millis, Order, PilotId, Recorded,
    Repeat, RunId,
};

use crate::checks::Invariant;
use crate::decider::Chooser;
use crate::network::{FromPilot, ToPilot};
use crate::noise::For;
use crate::plan::Plan;
use crate::sabotage::Sabotage;
use crate::world::{Happening, World};

/// Time for which a pilot may be missing from the scheduler's lists if the request to start it has not been answered.
const PATIENCE_MS: Millis = 15_000;

/// The daemon. Its journal survives a crash.
#[derive(Default)]
pub struct Daemon {
    /// `None` if the daemon is down.
    pub core: Option<Core>,
    pub decider: Chooser,
    heard: Heard,
    /// The connection of each pilot, with its session.
    connections: BTreeMap<PilotId, (u32, u64)>,
    pub journal: Vec<Entry>,
    /// The last snapshot, and the number of entries that it contains.
    snapshot: Option<(usize, Vec<u8>)>,
    /// The recorded batches that are in the journal.
    pub recorded: Vec<Recorded>,
    /// Events that are not in the journal yet, with their commands.
    batch: Vec<(Entry, Vec<Command>)>,
    /// The recorded batches that these events led to.
    new_recorded: Vec<Recorded>,
    is_batching: bool,
    /// Time until which the daemon does nothing, as if its host were overloaded.
    pub frozen: Millis,
    /// The commands of each entry of the journal.
    pub commands: Vec<Vec<Command>>,
    /// The number of steps after which the daemon crashes, and the time until it is started again.
    pub crash_after: Option<(usize, Millis)>,
    crashes: usize,
    /// The core at the last crash, if all of its events were in the journal.
    dead: Option<Core>,
    requested: BTreeMap<PilotId, Millis>,
    missing: BTreeMap<PilotId, u32>,
    /// For each run and connection, the time at which the run was ordered to stop.
    pub stops: BTreeMap<(RunId, Link), Millis>,
    /// The runs that were launched.
    pub launched: BTreeSet<RunId>,
    /// Whether the last requested stop kills the tasks immediately; `None` if no stop was requested.
    pub stopping: Option<bool>,
    /// For each task of the core, its index in the plan.
    pub tasks: BTreeMap<u32, usize>,
    ticks: u64,
}

/// The outcome of passing an event to the daemon.
#[derive(Debug, PartialEq, Eq)]
pub enum Fed {
    Done,
    Refused(String),
    /// The daemon is down, or has crashed.
    Down,
}

impl Daemon {
    pub fn new(plan: &Plan, sabotage: Option<Sabotage>) -> Self {
        Daemon {
            core: Some(core(plan, sabotage)),
            decider: Chooser::new(plan, sabotage),
            heard: Heard {
                since: plan.start,
                ..Heard::default()
            },
            ..Daemon::default()
        }
    }

    pub fn is_current(&self, link: Link) -> bool {
        let found = self.connections.get(&link.pilot);
        found.is_some_and(|(session, _)| *session == link.session)
    }

    pub fn forget_connection(&mut self, link: Link) {
        if self.is_current(link) {
            self.connections.remove(&link.pilot);
        }
    }
}

pub fn core(plan: &Plan, sabotage: Option<Sabotage>) -> Core {
    let mut settings = plan.settings.clone();
    if sabotage == Some(Sabotage::NoCaps) {
        settings.max_pilots += 2;
        settings.node_hours_per_day = None;
    }
    Core::new(settings, plan.start).unwrap()
}

impl World {
    /// Passes an event to the core.
    pub fn feed(&mut self, event: Event) -> Fed {
        let event = match self.sabotage {
            Some(sabotage) => sabotage.altered(event, self),
            None => event,
        };
        if !self.survives() {
            return Fed::Down;
        }
        let daemon = &mut self.daemon;
        let Some(core) = &mut daemon.core else {
            return Fed::Down;
        };
        daemon.decider.is_calm = self.now >= self.plan.calm;
        let mut capture = Capture::of(&mut daemon.decider);
        let commands = match core.handle(self.now, &event, &mut capture) {
            Ok(commands) => commands,
            Err(CoreError::Refused(reason)) => return Fed::Refused(reason),
            Err(CoreError::Failed(error)) => {
                self.fail(Invariant::Alive, format!("{event:?}: {error}"));
                return Fed::Down;
            }
        };
        let decision = capture.kept;
        daemon.new_recorded.extend(core.take_recorded());
        self.say(|| format!("  {event:?}"));
        self.figures.events += 1;
        let time = self.now;
        let entry = Entry {
            time,
            event,
            decision,
        };
        self.daemon.batch.push((entry, commands));
        if self.daemon.is_batching {
            Fed::Done
        } else {
            self.commit()
        }
    }

    /// Writes a batch of events to the journal, and then executes their commands.
    fn commit(&mut self) -> Fed {
        if !self.survives() {
            return Fed::Down;
        }
        let batch = std::mem::take(&mut self.daemon.batch);
        let mut commands = Vec::new();
        for (entry, own) in batch {
            if self.sabotage == Some(Sabotage::LostSubmissions)
                && matches!(entry.event, Event::Submit { .. })
            {
                continue;
            }
            if let Event::Stop { at_once } = entry.event {
                self.daemon.stopping = Some(at_once);
            }
            self.daemon.journal.push(entry);
            self.daemon.commands.push(own.clone());
            commands.extend(own);
        }
        let daemon = &mut self.daemon;
        daemon.recorded.append(&mut daemon.new_recorded);
        self.take_snapshot();
        for command in commands {
            if !self.survives() {
                return Fed::Down;
            }
            self.carry_out(command);
        }
        if self.survives() {
            Fed::Done
        } else {
            Fed::Down
        }
    }

    /// Takes a snapshot if enough entries have been written since the last snapshot.
    fn take_snapshot(&mut self) {
        let entries = self.daemon.journal.len();
        let last = self.daemon.snapshot.as_ref().map_or(0, |(count, _)| *count);
        let Some(core) = &self.daemon.core else {
            return;
        };
        let is_lost = self.sabotage == Some(Sabotage::LostSubmissions);
        if entries.saturating_sub(last) >= self.plan.snapshot_after && !is_lost {
            let early = usize::from(self.sabotage == Some(Sabotage::EarlySnapshots));
            self.daemon.snapshot = Some((entries + early, core.snapshot().unwrap()));
        }
    }

    /// Counts a step of the daemon. Returns false if the daemon crashes at this step.
    fn survives(&mut self) -> bool {
        match &mut self.daemon.crash_after {
            Some((0, ms)) => {
                let ms = *ms;
                self.daemon.crash_after = None;
                self.crash(ms);
                false
            }
            Some((steps, _)) => {
                *steps -= 1;
                true
            }
            None => true,
        }
    }

    /// Crashes the daemon, which is started again after `ms` milliseconds.
    fn crash(&mut self, ms: Millis) {
        self.say(|| "the daemon crashes".to_owned());
        self.figures.crashes += 1;
        let is_journaled = self.daemon.batch.is_empty();
        self.daemon.dead = self.daemon.core.take().filter(|_| is_journaled);
        self.daemon.batch.clear();
        self.daemon.new_recorded.clear();
        self.end_daemon(ms);
    }

    fn end_daemon(&mut self, ms: Millis) {
        self.daemon.core = None;
        self.daemon.crashes += 1;
        self.daemon.connections.clear();
        self.break_connections();
        if self.sabotage == Some(Sabotage::NoSync) {
            let kept = self.daemon.journal.len().saturating_sub(3);
            self.daemon.journal.truncate(kept);
            self.daemon.commands.truncate(kept);
            self.daemon.snapshot.take_if(|(count, _)| *count > kept);
            self.daemon.dead = None;
        }
        let start = (self.now + ms).min(self.plan.calm.max(self.now + 5000));
        self.at(start, Happening::DaemonStart(self.daemon.crashes));
    }

    /// Starts the daemon again. It restores its state from the last snapshot and the later entries of the journal.
    pub fn start_daemon(&mut self, crash: usize) {
        if crash != self.daemon.crashes || self.daemon.core.is_some() {
            return;
        }
        self.say(|| "the daemon starts".to_owned());
        let (mut core, first) = match &self.daemon.snapshot {
            Some((count, snapshot)) => (Core::restore(snapshot).unwrap(), *count),
            None => (core(&self.plan, self.sabotage), 0),
        };
        let fault = self.replay(&mut core, first);
        core.take_recorded();
        self.check_submissions(&core);
        if let Some(fault) = fault {
            self.fail(Invariant::Replay, fault);
        }
        if let Some(dead) = self.daemon.dead.take()
            && dead.snapshot().unwrap() != core.snapshot().unwrap()
        {
            let text = |core: &Core| String::from_utf8(core.snapshot().unwrap()).unwrap();
            let (then, again) = (text(&dead), text(&core));
            self.fail(
                Invariant::Replay,
                format!("the state was {then}, and is {again}"),
            );
        }
        if core.is_stopped() {
            self.daemon.stopping = None;
        }
        for program in &mut self.programs {
            program.unsettled = None;
        }
        let daemon = &mut self.daemon;
        daemon.core = Some(core);
        daemon.heard = Heard {
            since: self.now,
            ..Heard::default()
        };
        daemon.requested.clear();
        daemon.missing.clear();
        self.feed(Event::Restarted);
    }

    /// Replays the journal, starting with entry `first`. Returns the first difference from the commands of the original
    /// run, if any.
    pub fn replay(&self, core: &mut Core, first: usize) -> Option<String> {
        let mut fault = None;
        let entries = self.daemon.journal.iter().zip(&self.daemon.commands);
        for (entry, then) in entries.skip(first) {
            let mut repeat = Repeat(entry.decision.as_ref());
            let mut time = entry.time;
            if self.sabotage == Some(Sabotage::CoarseTimes) {
                time -= time.rem_euclid(1000);
            }
            let again = core.handle(time, &entry.event, &mut repeat);
            if again.as_ref().ok() != Some(then) {
                let event = &entry.event;
                fault.get_or_insert_with(|| {
                    format!("{event:?}: the commands were {then:?}, and are {again:?}")
                });
            }
        }
        fault
    }

    fn carry_out(&mut self, command: Command) {
        let command = match self.sabotage {
            Some(sabotage) if sabotage.drops(&command) => return,
            Some(sabotage) => sabotage.hardened(command),
            None => command,
        };
        self.check_command(&command);
        match command {
            Command::Say(text) => self.say(|| format!("    \"{text}\"")),
            Command::Start { pilot, wall_s } => {
                self.say(|| format!("    start {pilot} for {wall_s} s"));
                self.daemon.requested.insert(pilot, self.now);
                self.start_pilot(pilot, wall_s);
            }
            Command::Cancel { pilot } => {
                self.say(|| format!("    cancel {pilot}"));
                self.cancel_pilot(pilot);
            }
            Command::Order { link, order } => {
                self.say(|| {
                    format!(
                        "    to {} session {}: {}",
                        link.pilot,
                        link.session,
                        short(&order)
                    )
                });
                self.send(link, ToPilot::Order(order));
            }
        }
    }

    /// Sends a message on a pilot's connection, unless the pilot has connected again in the meantime.
    fn send(&mut self, link: Link, message: ToPilot) {
        if let Some(&(session, connection)) = self.daemon.connections.get(&link.pilot)
            && session == link.session
        {
            self.send_to_pilot(connection, message);
        }
    }
}

/// A short description of an order, for the trace.
fn short(order: &Order) -> String {
    match order {
        Order::Launch(launch) => format!(
            "launch {} rank {} on {:?}",
            launch.run, launch.rank, launch.nodes
        ),
        order => format!("{order:?}"),
    }
}
