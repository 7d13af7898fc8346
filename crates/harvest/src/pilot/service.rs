//! The pilot's main loop.

use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use gleaner_domain::error::{Error, Result};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::time::MissedTickBehavior;

use super::connection::{Access, Backoff, Connection, connect};
use super::lease::Lease;
use super::ranks::Ranks;
use super::{Happening, say};
use crate::core::{Hello, Link, Millis, Order, PilotId};
use crate::state_dir::StateDir;
use crate::wire::{FromPilot, Greeting, Role, ToPilot, VERSION};

/// Time between two checks for actions that are due.
const TICK: Duration = Duration::from_millis(200);

/// Time limit for the daemon's answer to the greeting.
const WELCOME_LIMIT: Duration = Duration::from_secs(10);

/// If no message arrives for this number of beats, the connection counts as lost, because a network failure may go
/// unreported.
const QUIET_BEATS: u32 = 3;

/// Time for which the pilot waits, after its ranks have ended, for the daemon to record their end.
const PARTING: Duration = Duration::from_secs(1);

/// Time after the end of the grace period at which the pilot ends even if a rank may still be running, for example
/// because a file system does not answer. The batch scheduler then ends the remaining processes.
const PATIENCE: Duration = Duration::from_secs(5);

/// Upper bound on the durations in the daemon's welcome. The bound prevents overflow when durations are added to times.
const LONGEST: Duration = Duration::from_secs(366 * 86_400);

/// The daemon's settings for its pilots.
#[derive(Debug, Clone, Copy)]
struct Terms {
    lease: Duration,
    beat: Duration,
    grace: Duration,
}

/// The settings that apply until the daemon's welcome arrives.
const FIRST_TERMS: Terms = Terms {
    lease: Duration::from_secs(60),
    beat: Duration::from_secs(5),
    grace: Duration::from_secs(10),
};

/// State of the connection to the daemon.
enum Line {
    /// No connection is open. The value is the time of the next attempt to connect.
    Waiting(Instant),
    /// An attempt to connect is under way.
    Trying,
    /// A connection is open.
    Open(Connection),
}

/// A decision to end the pilot.
struct Departure {
    /// The reason why the pilot ends.
    reason: String,
    /// Whether the pilot must inform the daemon that it is leaving.
    is_announced: bool,
    /// Whether the pilot ends with an error.
    is_failure: bool,
    /// Time by which the pilot ends at the latest.
    at_last: Instant,
    /// Time since which no rank has been running; `None` while a rank is running.
    idle_since: Option<Instant>,
}

/// A running pilot, with its ranks and its connection to the daemon.
pub(super) struct Pilot {
    id: PilotId,
    node: String,
    class: Option<String>,
    state: Arc<StateDir>,
    /// End of the wall time, on the system clock and on the monotonic clock; `None` if it is unknown.
    ends: Option<(Millis, Instant)>,
    started: Instant,
    terms: Terms,
    lease: Lease,
    line: Line,
    backoff: Backoff,
    /// The reason why the last attempt to connect failed.
    complaint: String,
    session: u32,
    ranks: Ranks,
    departure: Option<Departure>,
    sender: UnboundedSender<Happening>,
    inbox: UnboundedReceiver<Happening>,
}

impl Pilot {
    pub fn new(
        state: Arc<StateDir>,
        id: PilotId,
        (node, class): (String, Option<String>),
        wall_s: Option<u64>,
    ) -> Result<Self> {
        let (sender, inbox) = unbounded_channel();
        let now = Instant::now();
        Ok(Pilot {
            id,
            node,
            class,
            ends: end_of_wall_time(now, wall_s),
            started: now,
            terms: FIRST_TERMS,
            lease: Lease::new(now),
            line: Line::Waiting(now),
            backoff: Backoff::new(id.0),
            complaint: String::new(),
            session: 0,
            ranks: Ranks::new(Arc::clone(&state), sender.clone()),
            departure: None,
            state,
            sender,
            inbox,
        })
    }

    /// Carries out the daemon's orders until the pilot ends.
    pub async fn serve(mut self) -> Result<()> {
        let caught = |error| Error::Run(format!("cannot catch signals: {error}"));
        let mut terminate = signal(SignalKind::terminate()).map_err(caught)?;
        let mut interrupt = signal(SignalKind::interrupt()).map_err(caught)?;
        let mut hangup = signal(SignalKind::hangup()).map_err(caught)?;
        let mut clock = tokio::time::interval(TICK);
        clock.set_missed_tick_behavior(MissedTickBehavior::Delay);
        while !self.is_over(Instant::now()) {
            tokio::select! {
                happening = self.inbox.recv() => if let Some(happening) = happening {
                    self.handle(happening);
                },
                _ = clock.tick() => {}
                () = any([&mut terminate, &mut interrupt, &mut hangup]) => {
                    self.depart("it received a signal", Instant::now() + self.terms.grace, true, false);
                }
            }
            self.look_at_clock(Instant::now());
        }
        self.end().await
    }

    fn handle(&mut self, happening: Happening) {
        match happening {
            Happening::Connected(access) => match *access {
                Ok(access) => self.greet(access),
                Err(error) => self.reconnect(&error.to_string()),
            },
            Happening::Message { session, message } => {
                if let Line::Open(connection) = &mut self.line
                    && connection.session == session
                {
                    connection.heard = Instant::now();
                    self.hear(message);
                }
            }
            Happening::Lost { session, reason } => {
                if matches!(&self.line, Line::Open(open) if open.session == session) {
                    self.reconnect(&reason);
                }
            }
            Happening::Exited { run, code } => {
                say(&format!("{run} has ended with code {code:?}"));
                let messages = self.ranks.exited(run, code);
                self.send_all(&messages);
            }
        }
    }

    /// Opens a session on a new connection.
    fn greet(&mut self, access: Access) {
        self.session += 1;
        self.lease.beat(Instant::now());
        let greeting = Greeting {
            version: VERSION,
            secret: access.secret,
            role: Role::Pilot(Hello {
                link: Link {
                    pilot: self.id,
                    session: self.session,
                },
                node: self.node.clone(),
                class: self.class.clone(),
                ends: self.ends.map(|(time, _)| time),
                ranks: self.ranks.reports(),
                leaving: self.departure.as_ref().is_some_and(|d| d.is_announced),
            }),
        };
        let inbox = self.sender.clone();
        let connection = Connection::open(access.stream, self.session, &greeting, inbox);
        say(&format!(
            "{} on {}: connected to {}",
            self.id, self.node, access.destination.address
        ));
        self.line = Line::Open(connection);
    }

    /// Handles a message from the daemon.
    fn hear(&mut self, message: ToPilot) {
        match message {
            ToPilot::Welcome {
                lease_s,
                beat_s,
                grace_s,
            } => {
                let seconds = |seconds| Duration::from_secs(seconds).min(LONGEST);
                self.terms = Terms {
                    lease: seconds(lease_s.max(1)),
                    beat: seconds(beat_s.max(1)),
                    grace: seconds(grace_s),
                };
                self.welcome();
            }
            ToPilot::Beat { number } => self.lease.answer(number),
            ToPilot::Order(order) => self.obey(order),
        }
    }

    /// Sends the messages that had to wait until the daemon accepted the greeting.
    fn welcome(&mut self) {
        if let Line::Open(connection) = &mut self.line {
            connection.is_welcome = true;
        }
        self.backoff.reset();
        self.complaint.clear();
        // The welcome answers the greeting, which is the only message that has been sent on this connection.
        self.lease.answer(u64::MAX);
        let now = Instant::now();
        self.beat(now);
        // Send this before the ends of ranks, so that a rank that ends because the pilot is leaving counts neither as
        // failed nor as finished.
        if self.departure.as_ref().is_some_and(|d| d.is_announced) {
            self.send(&FromPilot::Leaving);
        }
        self.ranks.repeat_progress();
        self.send_all(&self.ranks.progress(now));
        self.send_all(&self.ranks.exits());
    }

    fn obey(&mut self, order: Order) {
        let answer = match order {
            Order::Launch(launch) => self.ranks.launch(*launch),
            Order::Stop { run, kill } => self.ranks.stop(run, kill, self.terms.grace),
            Order::Nodes { run, nodes } => {
                self.ranks.set_nodes(run, nodes);
                None
            }
            Order::Forget { run } => {
                self.ranks.forget(run);
                None
            }
            Order::Dismiss => {
                let end = Instant::now() + self.terms.grace;
                self.depart("the daemon has dismissed it", end, false, false);
                None
            }
        };
        self.send_all(answer.as_slice());
    }

    /// Carries out the actions that are due at `now`, such as beats and attempts to connect.
    fn look_at_clock(&mut self, now: Instant) {
        match &self.line {
            Line::Waiting(until) if *until <= now => {
                self.line = Line::Trying;
                let (state, sender) = (Arc::clone(&self.state), self.sender.clone());
                tokio::spawn(async move {
                    let access = Box::new(connect(state).await);
                    let _ = sender.send(Happening::Connected(access));
                });
            }
            Line::Open(connection) => {
                let limit = if connection.is_welcome {
                    self.terms.beat * QUIET_BEATS
                } else {
                    WELCOME_LIMIT
                };
                if now.saturating_duration_since(connection.heard) > limit {
                    self.reconnect("the daemon does not answer");
                } else if connection.is_welcome {
                    if self.lease.is_beat_due(now, self.terms.beat) {
                        self.beat(now);
                        self.send_all(&self.ranks.exits());
                    }
                    self.send_all(&self.ranks.progress(now));
                }
            }
            Line::Waiting(_) | Line::Trying => {}
        }
        self.look_at_ends(now);
        let is_idle = !self.ranks.any_running();
        if let Some(departure) = &mut self.departure
            && is_idle
        {
            departure.idle_since.get_or_insert(now);
        }
    }

    /// Begins to end the pilot if its lease or its wall time is about to expire.
    fn look_at_ends(&mut self, now: Instant) {
        let lease = self.lease.end(self.terms.lease);
        if now >= self.start_of_grace(lease, self.terms.lease) {
            let silence = self.terms.lease.as_secs();
            let reason = format!("the daemon has not answered for too long (lease: {silence} s)");
            self.depart(&reason, lease, true, true);
        }
        if let Some((_, end)) = self.ends
            && now >= self.start_of_grace(end, end.saturating_duration_since(self.started))
        {
            self.depart("its wall time expires", end, true, false);
        }
    }

    /// Time at which ranks must be asked to end for their grace period to be over at `end`. The grace period is at most
    /// a third of `whole`, so that the loss of a single beat never starts the grace period.
    fn start_of_grace(&self, end: Instant, whole: Duration) -> Instant {
        let grace = self.terms.grace.min(whole / 3);
        end.checked_sub(grace).unwrap_or(self.started)
    }

    /// Asks all ranks to end, so that the pilot can end. Ranks that are still running at `end` are killed.
    fn depart(&mut self, reason: &str, end: Instant, is_announced: bool, is_failure: bool) {
        if let Some(departure) = &self.departure {
            // The lease may expire while the pilot departs for another reason.
            let is_earlier = end + PATIENCE < departure.at_last;
            if !is_earlier {
                return;
            }
        }
        say(&format!("{} ends: {reason}", self.id));
        if is_announced {
            self.send(&FromPilot::Leaving);
        }
        let grace = end.saturating_duration_since(Instant::now());
        self.ranks.close(grace);
        self.departure = Some(Departure {
            reason: reason.to_owned(),
            is_announced,
            is_failure,
            at_last: end + PATIENCE,
            idle_since: None,
        });
    }

    fn is_over(&self, now: Instant) -> bool {
        let Some(departure) = &self.departure else {
            return false;
        };
        let is_parted = departure.idle_since.is_some_and(|since| {
            let is_connected = matches!(&self.line, Line::Open(open) if open.is_welcome);
            let is_late = now.saturating_duration_since(since) >= PARTING;
            !is_connected || self.ranks.is_empty() || is_late
        });
        is_parted || now >= departure.at_last
    }

    /// Kills the ranks that are still running, closes the connection, and returns the pilot's result.
    async fn end(mut self) -> Result<()> {
        if self.ranks.any_running() {
            gleaner_process::kill_all();
        } else {
            self.send(&FromPilot::Bye);
        }
        let line = std::mem::replace(&mut self.line, Line::Trying);
        if let Line::Open(connection) = line {
            connection.close().await;
        }
        match self.departure {
            Some(departure) if departure.is_failure => {
                let Departure { reason, .. } = departure;
                Err(Error::Run(format!("{} has ended: {reason}", self.id)))
            }
            _ => Ok(()),
        }
    }

    fn beat(&mut self, now: Instant) {
        let number = self.lease.beat(now);
        self.send(&FromPilot::Beat { number });
    }

    fn send(&self, message: &FromPilot) {
        if let Line::Open(connection) = &self.line
            && connection.is_welcome
        {
            connection.send(message);
        }
    }

    fn send_all(&self, messages: &[FromPilot]) {
        messages.iter().for_each(|message| self.send(message));
    }

    /// Closes the connection, if there is one, and schedules the next attempt to connect.
    fn reconnect(&mut self, reason: &str) {
        // If successive attempts fail for the same reason, only the first is logged.
        if self.complaint != reason {
            say(&format!("{}: not connected: {reason}", self.id));
            self.complaint = reason.to_owned();
        }
        self.lease.forget_beats();
        self.line = Line::Waiting(Instant::now() + self.backoff.next());
    }
}

/// End of the wall time: `wall_s` seconds from now, or the end of the Slurm job if that comes first. `None` if neither
/// is known.
fn end_of_wall_time(now: Instant, wall_s: Option<u64>) -> Option<(Millis, Instant)> {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    let today = since.unwrap_or_default();
    let job_end = std::env::var("SLURM_JOB_END_TIME").ok();
    let job_end = job_end.and_then(|text| text.trim().parse().ok());
    let job_left = job_end.map(|end| Duration::from_secs(end).saturating_sub(today));
    let wall = wall_s.map(Duration::from_secs);
    let left = wall.into_iter().chain(job_left).min()?.min(LONGEST);
    let time = Millis::try_from((today + left).as_millis()).ok()?;
    Some((time, now + left))
}

/// Waits for one of the signals.
async fn any([one, two, three]: [&mut Signal; 3]) {
    tokio::select! {
        _ = one.recv() => {}
        _ = two.recv() => {}
        _ = three.recv() => {}
    }
}
