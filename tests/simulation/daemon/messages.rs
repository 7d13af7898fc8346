//! The daemon's handling of messages, of the passage of time, and of the scheduler's lists of pilots.

use super::*;

impl World {
    /// Handles a message from a pilot. Most messages of earlier connections are filtered out, but some reach the core.
    pub fn daemon_hears(&mut self, number: u64, message: FromPilot) {
        let Some(link) = self.arrives(number).filter(|_| self.daemon.core.is_some()) else {
            return;
        };
        if let FromPilot::Event(Event::Hello(_)) = message {
            let last = self
                .daemon
                .core
                .as_ref()
                .and_then(|core| core.link(link.pilot));
            if last.is_some_and(|last| last.session >= link.session) {
                return;
            }
            self.daemon
                .connections
                .insert(link.pilot, (link.session, number));
            self.send(link, ToPilot::Welcome);
        } else if !self.daemon.is_current(link) {
            let mut draw = self.noise.draw(For::Daemon, &[number, self.now as u64]);
            if let FromPilot::Event(event) = message
                && self.is_replaced(link)
                && draw.percent(30)
            {
                self.feed(event);
            }
            return;
        }
        self.daemon.heard.last.insert(link.pilot, self.now);
        match message {
            FromPilot::Beat(number) => self.send(link, ToPilot::Beat(number)),
            FromPilot::Bye => {
                self.daemon.connections.remove(&link.pilot);
                self.feed(Event::Over { pilot: link.pilot });
            }
            FromPilot::Progress(run, report) => self.feed_progress(run, report),
            FromPilot::Event(event) => {
                self.feed(event);
            }
        }
    }

    /// Whether the core knows a later connection of the pilot. Messages of one connection arrive in order or not at all.
    pub fn is_replaced(&self, link: Link) -> bool {
        let core = self.daemon.core.as_ref();
        let last = core.and_then(|core| core.link(link.pilot));
        last.is_some_and(|last| last.session > link.session)
    }

    /// Performs the actions of the daemon that are due.
    pub fn tick(&mut self) {
        self.daemon.ticks += 1;
        let ticks = self.daemon.ticks;
        let mut draw = self.noise.draw(For::Daemon, &[ticks]);
        self.after(draw.between(300, 1000) * self.pace(), Happening::Tick);
        if ticks.is_multiple_of(4) {
            self.check_liveness();
        }
        self.measure_day();
        if self.is_calm() {
            self.daemon.crash_after = None;
        }
        let daemon = &self.daemon;
        let due = daemon
            .core
            .as_ref()
            .map(|core| core.due(&daemon.heard, self.now));
        self.daemon.is_batching = draw.percent(50);
        for event in due.unwrap_or_default() {
            if let Event::Silent { pilot } | Event::Over { pilot } = event {
                self.daemon.connections.remove(&pilot);
            }
            self.feed(event);
        }
        self.daemon.is_batching = false;
        self.commit();
        if self.daemon.core.as_ref().is_some_and(Core::is_stopped) {
            self.stopped();
        } else if ticks.is_multiple_of(8) {
            self.check_status();
        }
    }

    /// Ends the daemon after a completed stop.
    fn stopped(&mut self) {
        self.say(|| "the daemon has stopped".to_owned());
        self.daemon.stopping = None;
        if let Some(((node, run), _)) = self.processes.first_key_value() {
            let text = format!("{run} runs on n{node} after a stop");
            self.fail(Invariant::Stop, text);
        }
        if self.ending.is_some() {
            self.is_over = true;
        }
        self.end_daemon(4000);
    }

    pub fn started(&mut self, pilot: PilotId, is_accepted: bool) {
        self.feed(if is_accepted {
            Event::Accepted {
                pilot,
                job: format!("j{pilot}"),
            }
        } else {
            Event::Rejected {
                pilot,
                reason: "limit".to_owned(),
            }
        });
    }

    /// Compares the scheduler's list with the pilots that the core knows.
    pub fn listed(&mut self, began: Millis, listed: &[PilotId]) {
        let Some(core) = &self.daemon.core else {
            return;
        };
        // Until the faults cease, a heterogeneous job waits during 20 of every 60 seconds.
        let is_waiting = began < self.plan.calm && began.div_euclid(20_000) % 3 == 0;
        if core.has_heterogeneous_job() != is_waiting {
            self.feed(Event::Heterogeneous { is_waiting });
        }
        let Some(core) = &self.daemon.core else {
            return;
        };
        let open = core.open_pilots();
        let mut over = Vec::new();
        for (pilot, job) in &open {
            let daemon = &mut self.daemon;
            if listed.contains(pilot) || daemon.connections.contains_key(pilot) {
                daemon.missing.remove(pilot);
                continue;
            }
            let requested = daemon.requested.get(pilot).copied();
            let requested = requested.unwrap_or(daemon.heard.since);
            if began > requested {
                let missing = daemon.missing.entry(*pilot).or_default();
                *missing += 1;
                if *missing >= 2 && (job.is_some() || began - requested >= PATIENCE_MS) {
                    over.push(*pilot);
                }
            }
        }
        for pilot in over {
            self.feed(Event::Over { pilot });
        }
        for &pilot in listed {
            let is_known = open.iter().any(|(known, _)| *known == pilot);
            // If a dismissed pilot is still listed, an earlier request to cancel it was lost.
            let core = self.daemon.core.as_ref();
            let is_dismissed = core.is_some_and(|core| core.is_dismissed(pilot));
            let is_linked = self.daemon.connections.contains_key(&pilot);
            let is_sabotaged = self.sabotage == Some(Sabotage::NoDismissals);
            if !is_known || (is_dismissed && !is_linked && !is_sabotaged) {
                self.cancel_pilot(pilot);
            }
        }
    }
}
