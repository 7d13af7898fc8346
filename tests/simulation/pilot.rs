//! The pilots, as specified. Each connection is a session, and launches can be repeated. A pilot reports the end of a
//! rank until the daemon has recorded it. Its lease begins at the time when it sent the last answered beat.

mod orders;

use std::collections::{BTreeMap, VecDeque};

use gleaner_harvest::core::{
    Event, Hello, Launch, Link, Millis, Order, PilotId, RankReport, RankState, Report, RunId,
};

use crate::network::{FromPilot, ToPilot};
use crate::noise::For;
use crate::sabotage::Sabotage;
use crate::world::{Happening, World};

/// Time for which a departing pilot waits for the daemon to record that all ranks have ended.
const PARTING_MS: Millis = 1000;
/// Maximum time from the end of the grace period to the end of the pilot, even if a rank is still running.
const PATIENCE_MS: Millis = 5000;

/// A pilot whose process is alive.
#[derive(Debug)]
pub struct Pilot {
    pub id: PilotId,
    pub node: usize,
    started: Millis,
    ends: Millis,
    session: u32,
    pub connection: Option<u64>,
    is_welcome: bool,
    /// Time at which the daemon's last message arrived.
    heard: Millis,
    /// The beats that have not been answered yet, with the times at which they were sent. The greeting counts as a
    /// beat.
    beats: VecDeque<(u64, Millis)>,
    next_beat: u64,
    last_beat: Millis,
    /// Time at which the last answered beat was sent.
    lease_begun: Millis,
    pub known: BTreeMap<RunId, Known>,
    /// For each task, the last run that the pilot has forgotten.
    forgotten: BTreeMap<u32, u32>,
    departure: Option<Departure>,
    /// The events that the pilot has sent. Any of them may be repeated as a late message.
    pub old: Vec<(Link, Event)>,
    steps: u64,
}

/// A rank that a pilot knows.
#[derive(Debug)]
pub struct Known {
    pub state: RankState,
    /// The last report of progress.
    pub progress: Option<Report>,
    /// Whether this report must still be sent on the current connection.
    pub is_new: bool,
}

#[derive(Debug)]
struct Departure {
    is_announced: bool,
    at_last: Millis,
    /// Time since which no rank has been running.
    idle_since: Option<Millis>,
}

impl Pilot {
    /// Whether the daemon has welcomed the pilot, and the pilot is not leaving.
    pub fn is_serving(&self) -> bool {
        self.is_welcome && self.departure.is_none()
    }

    fn is_forgotten(&self, run: RunId) -> bool {
        let last = self.forgotten.get(&run.task);
        last.is_some_and(|last| run.generation <= *last)
    }

    fn any_running(&self) -> bool {
        let mut known = self.known.values();
        known.any(|known| known.state == RankState::Running)
    }

    fn reports(&self) -> Vec<RankReport> {
        let known = self.known.iter();
        known
            .map(|(&run, known)| RankReport {
                run,
                state: known.state,
            })
            .collect()
    }
}

impl World {
    pub fn grace_ms(&self) -> Millis {
        (self.plan.settings.grace_s * 1000.0) as Millis
    }

    fn lease_ms(&self) -> Millis {
        (self.plan.settings.lease_s * 1000.0) as Millis
    }

    fn beat_ms(&self) -> Millis {
        self.lease_ms() / 6
    }

    /// Starts a pilot for the scheduler.
    pub fn begin_pilot(&mut self, id: PilotId, node: usize, wall_s: u64) {
        let now = self.now;
        let ends = now + (wall_s * 1000) as Millis;
        self.say(|| format!("{id} starts on n{node}"));
        self.pilots.insert(
            id,
            Pilot {
                id,
                node,
                started: now,
                ends,
                session: 0,
                connection: None,
                is_welcome: false,
                heard: now,
                beats: VecDeque::new(),
                next_beat: 1,
                last_beat: now,
                lease_begun: now,
                known: BTreeMap::new(),
                forgotten: BTreeMap::new(),
                departure: None,
                old: Vec::new(),
                steps: 0,
            },
        );
        self.after(200, Happening::Pilot(id));
        self.at(ends + 8000, Happening::KillJob(id));
    }

    /// Performs the actions of a pilot that are due.
    pub fn step_pilot(&mut self, id: PilotId) {
        let Some(pilot) = self.pilots.get_mut(&id) else {
            return;
        };
        pilot.steps += 1;
        let mut draw = self.noise.draw(For::Pilot, &[id.0, pilot.steps]);
        self.after(draw.between(500, 900), Happening::Pilot(id));
        self.look_at_connection(id);
        self.look_at_beats(id);
        self.look_at_ends(id);
        self.look_at_departure(id);
    }

    /// Connects the pilot, or lets it notice that its connection is lost.
    fn look_at_connection(&mut self, id: PilotId) {
        let (now, quiet_ms) = (self.now, 3 * self.beat_ms());
        let Some(pilot) = self.pilots.get_mut(&id) else {
            return;
        };
        if let Some(number) = pilot.connection {
            let found = &self.connections[&number];
            let is_known = found.broken.is_some() && !found.is_quiet;
            if is_known || now - pilot.heard > quiet_ms {
                (pilot.connection, pilot.is_welcome) = (None, false);
                pilot.beats.clear();
                self.break_connection(number, false);
            }
            return;
        }
        if now < self.cuts[pilot.node] || self.daemon.core.is_none() {
            return;
        }
        pilot.session += 1;
        pilot.heard = now;
        pilot.beats.push_back((pilot.next_beat, now));
        pilot.next_beat += 1;
        let link = Link {
            pilot: id,
            session: pilot.session,
        };
        let mut ranks = pilot.reports();
        if self.sabotage == Some(Sabotage::SilentGreeting) {
            ranks.clear();
        }
        let node = pilot.node;
        let leaving = self.sabotage != Some(Sabotage::NoLeaving)
            && pilot.departure.as_ref().is_some_and(|d| d.is_announced);
        let ends = Some(pilot.ends);
        let class = self.reported_class(id, node);
        let hello = Event::Hello(Hello {
            link,
            node: format!("n{node}"),
            ends,
            ranks,
            leaving,
            class,
        });
        let number = self.connect(link);
        if let Some(pilot) = self.pilots.get_mut(&id) {
            pilot.connection = Some(number);
        }
        self.tell_event(id, |_| hello);
    }

    fn look_at_beats(&mut self, id: PilotId) {
        let (now, beat_ms) = (self.now, self.beat_ms());
        let Some(pilot) = self.pilots.get_mut(&id) else {
            return;
        };
        if pilot.is_welcome && now - pilot.last_beat >= beat_ms {
            let number = pilot.next_beat;
            pilot.next_beat += 1;
            pilot.last_beat = now;
            pilot.beats.push_back((number, now));
            self.tell(id, FromPilot::Beat(number));
            self.send_exits(id);
        }
    }

    /// Lets the pilot depart before its lease expires or its wall time ends.
    fn look_at_ends(&mut self, id: PilotId) {
        let (now, grace, lease) = (self.now, self.grace_ms(), self.lease_ms());
        let Some(pilot) = self.pilots.get(&id) else {
            return;
        };
        let lease_ends = pilot.lease_begun + lease;
        let (ends, wall) = (pilot.ends, pilot.ends - pilot.started);
        let has_lease =
            self.sabotage == Some(Sabotage::NoLease) || now < lease_ends - grace.min(lease / 2);
        if !has_lease {
            self.depart(id, lease_ends, true);
        }
        if now >= ends - grace.min(wall / 2) {
            self.depart(id, ends, true);
        }
    }

    /// Begins the departure of a pilot. Ranks that are still running at the time `end` are killed.
    pub fn depart(&mut self, id: PilotId, end: Millis, is_announced: bool) {
        let at_last = end + PATIENCE_MS;
        let Some(pilot) = self.pilots.get_mut(&id) else {
            return;
        };
        if pilot
            .departure
            .as_ref()
            .is_some_and(|old| at_last >= old.at_last)
        {
            return;
        }
        pilot.departure = Some(Departure {
            is_announced,
            at_last,
            idle_since: None,
        });
        let node = pilot.node;
        let running = pilot
            .known
            .iter()
            .filter(|(_, known)| known.state == RankState::Running);
        let running: Vec<RunId> = running.map(|(run, _)| *run).collect();
        self.say(|| format!("{id} departs"));
        if is_announced {
            self.tell_event(id, |link| Event::Leaving { link });
        }
        for run in running {
            self.terminate(node, run);
            self.kill_at(node, run, end);
        }
    }

    fn look_at_departure(&mut self, id: PilotId) {
        let now = self.now;
        let Some(pilot) = self.pilots.get_mut(&id) else {
            return;
        };
        let (is_idle, is_linked) = (!pilot.any_running(), pilot.is_welcome);
        let is_clear = pilot.known.is_empty();
        let Some(departure) = &mut pilot.departure else {
            return;
        };
        if is_idle {
            departure.idle_since.get_or_insert(now);
        }
        let is_parted = departure
            .idle_since
            .is_some_and(|since| !is_linked || is_clear || now - since >= PARTING_MS);
        if is_parted {
            self.tell(id, FromPilot::Bye);
            self.lose_pilot(id);
            self.clear_job(id);
        } else if now >= departure.at_last {
            self.kill_job(id);
        }
    }

    /// Ends the process of a pilot. The processes of its ranks may continue.
    pub fn lose_pilot(&mut self, id: PilotId) {
        if let Some(pilot) = self.pilots.remove(&id) {
            self.say(|| format!("{id} ends"));
            if let Some(connection) = pilot.connection {
                self.close_connection(connection);
            }
        }
    }

    /// Sends a message to the daemon, if the pilot is connected.
    fn tell(&mut self, id: PilotId, message: FromPilot) {
        let pilot = self.pilots.get(&id).filter(|pilot| pilot.is_welcome);
        if let Some(connection) = pilot.and_then(|pilot| pilot.connection) {
            self.send_to_daemon(connection, message);
        }
    }

    /// Sends an event on the pilot's connection. Only a greeting can be sent before the welcome.
    fn tell_event(&mut self, id: PilotId, event: impl FnOnce(Link) -> Event) {
        let Some(pilot) = self.pilots.get_mut(&id) else {
            return;
        };
        let link = Link {
            pilot: id,
            session: pilot.session,
        };
        let event = event(link);
        let is_open = pilot.is_welcome || matches!(event, Event::Hello(_));
        let is_hidden =
            self.sabotage == Some(Sabotage::NoLeaving) && matches!(event, Event::Leaving { .. });
        if let Some(connection) = pilot.connection.filter(|_| is_open && !is_hidden) {
            pilot.old.push((link, event.clone()));
            self.send_to_daemon(connection, FromPilot::Event(event));
        }
    }

    pub fn report_progress(&mut self, id: PilotId, run: RunId) {
        let Some(pilot) = self.pilots.get_mut(&id).filter(|pilot| pilot.is_welcome) else {
            return;
        };
        if let Some(known) = pilot.known.get_mut(&run)
            && std::mem::take(&mut known.is_new)
            && let Some(report) = known.progress
        {
            self.tell(id, FromPilot::Progress(run, report));
        }
    }

    pub fn send_exit(&mut self, id: PilotId, run: RunId) {
        let pilot = self.pilots.get(&id);
        let known = pilot.and_then(|pilot| pilot.known.get(&run));
        if let Some(RankState::Exited { code }) = known.map(|known| known.state) {
            self.tell_event(id, |link| Event::Exited { link, run, code });
        }
    }

    fn send_exits(&mut self, id: PilotId) {
        let runs: Vec<RunId> = self.pilots[&id].known.keys().copied().collect();
        for run in runs {
            self.send_exit(id, run);
        }
    }
}

impl Pilot {
    /// Records that the daemon has answered a beat and thus all earlier beats.
    fn answer(&mut self, number: u64) {
        while let Some(&(first, sent)) = self.beats.front()
            && first <= number
        {
            self.lease_begun = self.lease_begun.max(sent);
            self.beats.pop_front();
        }
    }
}
