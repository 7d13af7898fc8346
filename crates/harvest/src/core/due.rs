//! The events that the passage of time alone triggers.

use std::collections::BTreeMap;

use super::{Core, Event, LiveSearch, Millis, Mode, PilotId, PilotState, RunId};

/// Seconds from the end of the lease and the grace period until a silent pilot and its ranks have certainly ended.
const MARGIN_S: f64 = 10.0;

/// The times at which the daemon last heard from its pilots. These times are not in the journal.
#[derive(Debug, Clone, Default)]
pub struct Heard {
    /// The time for each pilot; [`Heard::since`] if a pilot has no entry.
    pub last: BTreeMap<PilotId, Millis>,
    /// Time at which the daemon started.
    pub since: Millis,
}

impl Heard {
    fn last(&self, pilot: PilotId) -> Millis {
        let last = self.last.get(&pilot).copied();
        last.unwrap_or(self.since).max(self.since)
    }
}

impl Core {
    /// The events that the passage of time alone has triggered: silent pilots, expired leases and grace periods,
    /// requests for pilots, and decisions. The caller handles them in order, and calls this function again within a
    /// second.
    pub fn due(&self, heard: &Heard, now: Millis) -> Vec<Event> {
        let mut due: Vec<Event> = self.due_of_pilots(heard, now).collect();
        due.extend(self.due_of_runs(now));
        due.extend(self.due_of_demand(now));
        if now.div_euclid(1000) > self.decided && self.must_decide(now) {
            due.push(Event::Decide);
        }
        due
    }

    fn due_of_pilots(&self, heard: &Heard, now: Millis) -> impl Iterator<Item = Event> {
        let ms = |seconds: f64| (seconds * 1000.0) as Millis;
        let settings = &self.settings;
        let over = ms(settings.lease_s + settings.grace_s + MARGIN_S);
        self.pilots.open.iter().filter_map(move |(&pilot, found)| {
            let silence = now - heard.last(pilot);
            let is_ending = found
                .ends
                .is_some_and(|ends| now >= ends - ms(settings.lead_s));
            match found.state {
                PilotState::Up if silence > ms(settings.silence_s) => Some(Event::Silent { pilot }),
                PilotState::Up if is_ending => Some(Event::Ending { pilot }),
                PilotState::Waiting | PilotState::Silent | PilotState::Leaving
                    if silence > over =>
                {
                    Some(Event::Over { pilot })
                }
                _ => None,
            }
        })
    }

    fn due_of_runs(&self, now: Millis) -> impl Iterator<Item = Event> {
        let grace = self.settings.grace_ms();
        (0..).zip(&self.tasks).filter_map(move |(task, found)| {
            let generation = found.generation;
            match &found.run {
                Some(run) if run.is_overdue(now, grace) => Some(Event::GraceOver {
                    run: RunId { task, generation },
                }),
                _ if found.not_before.is_some_and(|time| now >= time) => {
                    Some(Event::Retry { task })
                }
                _ => None,
            }
        })
    }

    /// Events that request pilots if tasks need them, and release the pilots otherwise.
    fn due_of_demand(&self, now: Millis) -> Vec<Event> {
        let has_tasks = self.tasks.iter().any(|task| !task.state.is_over());
        let has_work = has_tasks || self.searches.iter().any(LiveSearch::is_open);
        if !has_work || self.is_capped(now) {
            let is_due = !self.is_released && !self.pilots.open.is_empty();
            return is_due.then_some(Event::Release).into_iter().collect();
        }
        let pause = (self.settings.retry_s * 1000.0) as Millis;
        let is_rejected = self.rejected.is_some_and(|time| now < time + pause);
        let is_paused = is_rejected || self.held_back.is_some_and(|time| now < time);
        if self.mode != Mode::Running || is_paused {
            return Vec::new();
        }
        let open = self.pilots.open.len();
        let mut room = self.settings.max_pilots.saturating_sub(open);
        let mut requests = Vec::new();
        for &(wall_s, wanted) in &self.settings.ladder {
            let waits = self.pilots.open.iter().filter(|(_, pilot)| {
                pilot.state == PilotState::Requested
                    && pilot.wall_s == wall_s
                    && !pilot.is_dismissed
            });
            let missing = wanted.saturating_sub(waits.count()).min(room);
            room -= missing;
            requests.extend((0..missing).map(|_| Event::Request { wall_s }));
        }
        requests
    }
}
