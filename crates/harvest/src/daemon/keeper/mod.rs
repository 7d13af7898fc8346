//! The keeper: the thread that owns the core and the journal, and handles all messages in sequence.
//!
//! For each batch of messages, the thread passes the events to the core, writes them to the journal, and only then
//! carries out the commands and answers. Therefore, no event has an effect before it is on disk, and each batch needs
//! only one write.

mod clients;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use gleaner_domain::error::{Error, Result};
use tokio::sync::{mpsc, oneshot, watch};

use super::backend_thread::{BackendQueue, News, Task as BackendTask};
use super::clock::Clock;
use super::decider::Robust;
use super::log::Log;
use super::roster::{Action, Open, Roster};
use crate::core::{
    Capture, Command, Core, CoreError, Entry, Event, Heard, Hello, Launch, Link, Millis, Order,
    PilotId, Recorded, Report, RunId, Settings,
};
use crate::journal::Journal;
use crate::status::Status;
use crate::wire::{FromPilot, Request, Response, ToPilot};

/// Maximum number of messages in a batch.
const BATCH: usize = 256;

/// Time between two entries about progress, in milliseconds. If a run sends several reports in this time, only the last
/// one is kept.
const PROGRESS_MS: Millis = 5000;

/// Time between two updates of the status page, in milliseconds.
const STATUS_MS: Millis = 1000;

/// A message to the keeper.
pub enum Message {
    /// A pilot has connected. Messages to the pilot are sent through the sender. Dropping the sender closes the
    /// connection.
    Hello(Hello, mpsc::Sender<ToPilot>),
    /// A pilot has sent a message.
    Pilot(Link, FromPilot),
    /// A pilot's connection is closed.
    Closed(Link),
    /// A client has sent a request.
    Client(Request, oneshot::Sender<Response>),
    /// The backend's thread has sent a report.
    Backend(News),
    /// Time has passed, so events may be due.
    Tick,
    /// The daemon must end. The text is the reason. Tasks keep running.
    End(&'static str),
}

/// An action to take once the events of a batch are in the journal.
enum Output {
    Command(Command),
    Pilot(Link, ToPilot),
    Answer(oneshot::Sender<Response>, Response),
    Record(oneshot::Sender<Response>),
}

/// The open connection of a pilot.
struct Connection {
    session: u32,
    outbox: mpsc::Sender<ToPilot>,
}

/// The state, the settings and the connections with which the keeper starts.
pub struct Parts {
    /// The core, as restored from the journal.
    pub core: Core,
    /// The core's settings according to the configuration file, which may differ from those in the journal.
    pub settings: Settings,
    /// The journal.
    pub journal: Journal,
    /// The solver that makes the decisions.
    pub decider: Robust,
    /// The daemon's clock.
    pub clock: Clock,
    /// The daemon's log.
    pub log: Log,
    /// The queue of the backend's thread.
    pub backend: BackendQueue,
    /// Determines from the backend's lists which pilots have ended.
    pub roster: Roster,
    /// The message that welcomes pilots.
    pub welcome: ToPilot,
    /// The program that starts each task, followed by the program's arguments.
    pub container: Vec<String>,
    /// Directory to which recordings are written.
    pub recording: PathBuf,
    /// Publishes the latest state, for the status page and the metrics.
    pub latest: watch::Sender<Arc<Status>>,
    /// Whether any pilot has not ended. If so, the backend must be queried.
    pub has_pilots: Arc<AtomicBool>,
}

/// Owns the core and the journal, and handles messages.
pub struct Keeper {
    parts: Parts,
    heard: Heard,
    connections: BTreeMap<PilotId, Connection>,
    /// The last report of each run, if the core has not received it yet.
    progress: BTreeMap<RunId, Report>,
    /// For each task, the generation of the run that sent the task's last report.
    reported: BTreeMap<u32, u32>,
    progress_written: Millis,
    published: Millis,
    entries: Vec<Entry>,
    /// The batches of the recording that resulted from `entries`.
    recorded: Vec<Recorded>,
    /// Locked while a recording is written.
    is_recording: Arc<Mutex<()>>,
    outputs: Vec<Output>,
    /// The reason why the daemon must end; `None` while it runs.
    ending: Option<&'static str>,
}

impl Keeper {
    /// Creates a keeper.
    pub fn new(parts: Parts) -> Self {
        let now = parts.clock.now();
        Keeper {
            heard: Heard {
                since: now,
                ..Heard::default()
            },
            connections: BTreeMap::new(),
            progress: BTreeMap::new(),
            reported: BTreeMap::new(),
            progress_written: now,
            published: 0,
            entries: Vec::new(),
            recorded: Vec::new(),
            is_recording: Arc::default(),
            outputs: Vec::new(),
            ending: None,
            parts,
        }
    }

    /// Handles messages until the daemon must end.
    ///
    /// # Errors
    /// The journal cannot be written, or the core cannot continue. Commands that follow from events that are not in the
    /// journal are not carried out.
    pub fn run(mut self, mut messages: mpsc::Receiver<Message>) -> Result<()> {
        if !self.parts.journal.is_empty() {
            self.feed(Event::Restarted)?;
            if self.parts.settings != *self.parts.core.settings() {
                let settings = Box::new(self.parts.settings.clone());
                self.feed(Event::Settings { settings })?;
            }
            self.finish_batch()?;
        }
        let mut batch = Vec::with_capacity(BATCH);
        while messages.blocking_recv_many(&mut batch, BATCH) > 0 {
            for message in batch.drain(..) {
                self.take(message)?;
            }
            self.finish_batch()?;
            if let Some(reason) = self.ending {
                self.say(reason);
                break;
            }
        }
        Ok(())
    }

    fn say(&self, text: &str) {
        (self.parts.log)(text);
    }

    fn take(&mut self, message: Message) -> Result<()> {
        match message {
            Message::Hello(hello, outbox) => self.hello(hello, outbox),
            Message::Pilot(link, message) => self.pilot(link, message),
            Message::Closed(link) => {
                if self.is_current(link) {
                    self.connections.remove(&link.pilot);
                }
                Ok(())
            }
            Message::Client(request, answer) => self.client(request, answer),
            Message::Backend(news) => self.backend(news),
            Message::Tick => self.tick(),
            Message::End(reason) => {
                self.ending = Some(reason);
                self.flush_progress()
            }
        }
    }

    /// Passes an event to the core. If the core refuses the event, returns the reason.
    fn feed(&mut self, event: Event) -> Result<Option<String>> {
        let parts = &mut self.parts;
        let time = parts.clock.now();
        let mut capture = Capture::of(&mut parts.decider);
        let commands = match parts.core.handle(time, &event, &mut capture) {
            Ok(commands) => commands,
            Err(CoreError::Refused(reason)) => return Ok(Some(reason)),
            Err(CoreError::Failed(error)) => return Err(error),
        };
        let decision = capture.kept;
        self.recorded.extend(parts.core.take_recorded());
        self.entries.push(Entry {
            time,
            event,
            decision,
        });
        self.outputs
            .extend(commands.into_iter().map(Output::Command));
        Ok(None)
    }

    fn hello(&mut self, hello: Hello, outbox: mpsc::Sender<ToPilot>) -> Result<()> {
        let (link, pilot) = (hello.link, hello.link.pilot);
        let last = self.parts.core.link(pilot);
        if last.is_some_and(|last| last.session >= link.session) {
            // This is a late message from an earlier connection. Dropping the outbox closes the connection.
            return Ok(());
        }
        let session = link.session;
        self.connections
            .insert(pilot, Connection { session, outbox });
        self.hear(pilot);
        self.flush_progress()?;
        let welcome = self.parts.welcome.clone();
        self.outputs.push(Output::Pilot(link, welcome));
        self.feed(Event::Hello(hello))?;
        Ok(())
    }

    fn hear(&mut self, pilot: PilotId) {
        let now = self.parts.clock.now();
        self.heard.last.insert(pilot, now);
    }

    fn is_current(&self, link: Link) -> bool {
        let found = self.connections.get(&link.pilot);
        found.is_some_and(|connection| connection.session == link.session)
    }

    fn pilot(&mut self, link: Link, message: FromPilot) -> Result<()> {
        if !self.is_current(link) {
            return Ok(());
        }
        self.hear(link.pilot);
        let event = match message {
            FromPilot::Beat { number } => {
                let answer = ToPilot::Beat { number };
                self.outputs.push(Output::Pilot(link, answer));
                return Ok(());
            }
            FromPilot::Progress { run, done, loss } => {
                // The journal is JSON, which has no infinity and no NaN.
                if done.is_finite() {
                    let report = Report { done, loss };
                    // A report of less work comes from another node or follows a restart. The core gets both reports,
                    // because the loss after the most work counts.
                    let is_less = |earlier: &Report| done < earlier.done;
                    if self.progress.get(&run).is_some_and(is_less) {
                        self.flush_progress()?;
                    }
                    let earlier = self.progress.remove(&run);
                    self.progress.insert(run, report.after(earlier));
                    // The cost of starting a run is measured until its first report, so this report is not delayed.
                    if self.reported.insert(run.task, run.generation) != Some(run.generation) {
                        self.flush_progress()?;
                    }
                }
                return Ok(());
            }
            FromPilot::Leaving => Event::Leaving { link },
            FromPilot::Bye => {
                self.connections.remove(&link.pilot);
                Event::Over { pilot: link.pilot }
            }
            FromPilot::Exited { run, code } => Event::Exited { link, run, code },
        };
        self.flush_progress()?;
        self.feed(event)?;
        Ok(())
    }

    /// Passes the last report of each run to the core.
    fn flush_progress(&mut self) -> Result<()> {
        for (run, Report { done, loss }) in std::mem::take(&mut self.progress) {
            self.feed(Event::Progress { run, done, loss })?;
        }
        self.progress_written = self.parts.clock.now();
        Ok(())
    }

    fn backend(&mut self, news: News) -> Result<()> {
        match news {
            News::Answered(event) => {
                self.feed(event)?;
            }
            News::Listed {
                began,
                pilots,
                can_forget,
                has_heterogeneous_job,
            } => {
                if has_heterogeneous_job != self.parts.core.has_heterogeneous_job() {
                    let is_waiting = has_heterogeneous_job;
                    self.feed(Event::Heterogeneous { is_waiting })?;
                }
                let open = self.open_pilots();
                let roster = &mut self.parts.roster;
                for action in roster.compare(&open, &pilots, can_forget, began) {
                    match action {
                        Action::Accepted { pilot, job } => {
                            self.feed(Event::Accepted { pilot, job })?;
                        }
                        Action::Over(pilot) => {
                            self.feed(Event::Over { pilot })?;
                        }
                        Action::Leave(pilot) => {
                            self.say(&format!(
                                "{pilot} leaves its node, because a reservation begins soon"
                            ));
                            self.feed(Event::Ending { pilot })?;
                        }
                        Action::Cancel(pilot) => {
                            self.outputs
                                .push(Output::Command(Command::Cancel { pilot }));
                        }
                    }
                }
            }
            News::Alarm(reason) => {
                self.say(&format!(
                    "draining: {reason}. Once this is resolved, run `gleaner harvest drain --off`"
                ));
                self.feed(Event::Drain)?;
            }
        }
        Ok(())
    }

    /// The pilots that have not ended.
    fn open_pilots(&self) -> Vec<Open> {
        let open = self.parts.core.open_pilots().into_iter();
        let open = open.map(|(pilot, job)| Open {
            pilot,
            job,
            node: self.parts.core.node_of(pilot).map(str::to_owned),
            is_linked: self.connections.contains_key(&pilot),
            is_dismissed: self.parts.core.is_dismissed(pilot),
        });
        open.collect()
    }

    fn tick(&mut self) -> Result<()> {
        let now = self.parts.clock.now();
        if now - self.progress_written >= PROGRESS_MS {
            self.flush_progress()?;
        }
        for event in self.parts.core.due(&self.heard, now) {
            if let Event::Silent { pilot } | Event::Over { pilot } = event {
                self.connections.remove(&pilot);
            }
            self.feed(event)?;
        }
        if now - self.published >= STATUS_MS {
            self.published = now;
            self.publish();
            self.forget_pilots();
        }
        if self.parts.core.is_stopped() {
            self.ending = Some("all pilots have ended; the daemon ends");
        }
        Ok(())
    }

    fn publish(&self) {
        let status = self.parts.core.status(self.parts.clock.now());
        self.parts.latest.send_replace(Arc::new(status));
    }

    /// Removes the entries of pilots that have ended from `heard`, and updates `has_pilots`.
    fn forget_pilots(&mut self) {
        let open = self.parts.core.open_pilots();
        let is_open = |pilot: &PilotId| open.binary_search_by_key(pilot, |(open, _)| *open).is_ok();
        self.heard.last.retain(|pilot, _| is_open(pilot));
        self.parts
            .has_pilots
            .store(!open.is_empty(), Ordering::Relaxed);
    }

    /// Writes the events of a batch to the journal, and then carries out the commands.
    fn finish_batch(&mut self) -> Result<()> {
        if !self.entries.is_empty() {
            let parts = &mut self.parts;
            let snapshot = || parts.core.snapshot();
            let written = parts
                .journal
                .append(&self.entries, &self.recorded, snapshot);
            written.map_err(|error| {
                Error::Run(format!(
                    "{error}. The daemon ends, but tasks keep running until their pilots' leases expire"
                ))
            })?;
            self.entries.clear();
            self.recorded.clear();
        }
        for output in std::mem::take(&mut self.outputs) {
            match output {
                Output::Command(command) => self.carry_out(command),
                Output::Pilot(link, message) => self.send(link, message),
                // A client that has closed its connection gets no answer.
                Output::Answer(answer, response) => drop(answer.send(response)),
                Output::Record(answer) => self.record(answer),
            }
        }
        Ok(())
    }

    fn carry_out(&mut self, command: Command) {
        match command {
            Command::Say(text) => self.say(&text),
            Command::Order { link, order } => self.send(link, ToPilot::Order(self.adapted(order))),
            Command::Start { pilot, wall_s } => {
                self.parts.roster.requested(pilot, self.parts.clock.now());
                self.parts.has_pilots.store(true, Ordering::Relaxed);
                self.parts.backend.add(BackendTask::Start { pilot, wall_s });
            }
            Command::Cancel { pilot } => {
                let job = self.parts.core.job(pilot).map(str::to_owned);
                self.parts.backend.add(BackendTask::Cancel { pilot, job });
            }
        }
    }

    /// Adapts an order to launch a rank, so that the site's container program starts the rank.
    fn adapted(&self, order: Order) -> Order {
        match order {
            Order::Launch(launch) if !self.parts.container.is_empty() => {
                let mut command = self.parts.container.clone();
                command.extend(launch.command.iter().cloned());
                Order::Launch(Box::new(Launch { command, ..*launch }))
            }
            order => order,
        }
    }

    /// Sends a message on a pilot's connection. If the pilot does not read its messages, the connection is closed. The
    /// pilot then connects again, and the core repeats what the pilot has missed.
    fn send(&mut self, link: Link, message: ToPilot) {
        if !self.is_current(link) {
            return;
        }
        let connection = self.connections.get(&link.pilot);
        if connection.is_some_and(|connection| connection.outbox.try_send(message).is_err()) {
            self.connections.remove(&link.pilot);
        }
    }
}
