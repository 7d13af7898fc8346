//! The batch scheduler, which starts pilots on idle nodes, takes the nodes back, and answers unreliably.

use std::collections::BTreeMap;

use gleaner_harvest::core::{Millis, PilotId};

use crate::noise::For;
use crate::plan::Fate;
use crate::world::{Happening, World};

/// Milliseconds between the scheduler's SIGTERM and SIGKILL.
const GRACE_MS: Millis = 8000;
/// When the scheduler crashes, it forgets the events of this many milliseconds before the crash.
const UNSAVED_MS: Millis = 5000;

/// The job of a pilot. A job is removed after its end.
#[derive(Debug)]
pub struct Job {
    pub wall_s: u64,
    submitted: Millis,
    /// The node on which the job runs; `None` if it is pending.
    pub node: Option<usize>,
    /// Time at which the job was cancelled while it was pending.
    cancelled: Option<Millis>,
    /// Whether the scheduler has forgotten the job.
    is_forgotten: bool,
    is_ending: bool,
}

/// The scheduler.
#[derive(Debug)]
pub struct Scheduler {
    pub jobs: BTreeMap<PilotId, Job>,
    /// For each node, the time until which normal jobs need it.
    busy: Vec<Millis>,
    /// Time until which the scheduler is down.
    down: Millis,
    /// The fate of the next request to start a pilot; `None` if no fault is planned.
    pub next: Option<Fate>,
}

impl Scheduler {
    pub fn new(nodes: usize) -> Self {
        Scheduler {
            jobs: BTreeMap::new(),
            busy: vec![0; nodes],
            down: 0,
            next: None,
        }
    }
}

impl World {
    fn is_scheduler_up(&self) -> bool {
        self.now >= self.scheduler.down
    }

    /// The factor by which the time between recurring events is multiplied. While all tasks wait for the next day, it
    /// is larger, so that the simulation takes larger steps.
    pub fn pace(&self) -> Millis {
        let core = self.daemon.core.as_ref();
        let any_open = core.is_none_or(|core| !core.open_pilots().is_empty());
        let is_capped = self.plan.settings.node_hours_per_day.is_some();
        let is_waiting = is_capped
            && self.now > self.plan.calm + 60_000
            && self.ending.is_none()
            && self.scheduler.jobs.is_empty()
            && !any_open;
        if is_waiting { 60 } else { 1 }
    }

    /// Handles the daemon's request to start a pilot.
    pub fn start_pilot(&mut self, pilot: PilotId, wall_s: u64) {
        let fate = self.fate();
        let mut draw = self.noise.draw(For::Answer, &[pilot.0]);
        let soon = draw.between(20, 1500);
        let answer = |is_accepted| Happening::Started { pilot, is_accepted };
        if !self.is_scheduler_up() {
            return;
        }
        match fate {
            None | Some(Fate::AnsweredTwice) => {
                self.submit_job(pilot, wall_s);
                self.after(soon, answer(true));
                if fate.is_some() {
                    self.after(soon * 4, answer(true));
                }
            }
            Some(Fate::AnswerLost) => self.submit_job(pilot, wall_s),
            Some(Fate::NeverArrived) => {}
            Some(Fate::Late { ms }) => {
                self.after(ms, Happening::LateStart { pilot, wall_s });
                self.after(ms + soon, answer(true));
            }
            Some(Fate::Rejected) => self.after(soon, answer(false)),
        }
    }

    pub fn submit_job(&mut self, pilot: PilotId, wall_s: u64) {
        let job = Job {
            wall_s,
            submitted: self.now,
            node: None,
            cancelled: None,
            is_forgotten: false,
            is_ending: false,
        };
        self.scheduler.jobs.insert(pilot, job);
    }

    /// Handles the daemon's request to cancel a pilot.
    pub fn cancel_pilot(&mut self, pilot: PilotId) {
        if !self.is_scheduler_up() {
            return;
        }
        let now = self.now;
        let Some(job) = self.scheduler.jobs.get_mut(&pilot) else {
            return;
        };
        if job.node.is_some() {
            self.end_job(pilot);
        } else {
            job.cancelled = Some(now);
        }
    }

    /// Sends SIGTERM to the pilot of a job, and kills the job after the grace period.
    fn end_job(&mut self, pilot: PilotId) {
        if let Some(job) = self.scheduler.jobs.get_mut(&pilot)
            && !job.is_ending
        {
            job.is_ending = true;
            self.after(GRACE_MS, Happening::KillJob(pilot));
            self.depart(pilot, self.now + self.grace_ms(), true);
        }
    }

    /// Gives a node to a normal job for a while.
    pub fn take_node(&mut self, node: usize, ms: Millis) {
        let until = (self.now + ms).min(self.plan.calm);
        let busy = &mut self.scheduler.busy[node];
        *busy = until.max(*busy);
        let jobs = self.scheduler.jobs.iter();
        let mut own = jobs.filter(|(_, job)| job.node == Some(node));
        if let Some((&pilot, _)) = own.next() {
            self.end_job(pilot);
        }
    }

    /// Starts pending pilots on idle nodes.
    pub fn schedule(&mut self) {
        self.after(1000 * self.pace(), Happening::Schedule);
        if !self.is_scheduler_up() {
            return;
        }
        let saved = self.now - UNSAVED_MS;
        let is_kept = |job: &Job| job.cancelled.is_none_or(|time| time >= saved);
        self.scheduler.jobs.retain(|_, job| is_kept(job));
        for node in 0..self.plan.nodes {
            let is_free = self
                .scheduler
                .jobs
                .values()
                .all(|job| job.node != Some(node));
            if !is_free || self.scheduler.busy[node] > self.now {
                continue;
            }
            let mut jobs = self.scheduler.jobs.iter_mut();
            let pending = jobs.find(|(_, job)| job.node.is_none() && job.cancelled.is_none());
            if let Some((&pilot, job)) = pending {
                job.node = Some(node);
                let wall_s = job.wall_s;
                self.begin_pilot(pilot, node, wall_s);
            }
        }
    }

    /// Removes a job whose pilot and processes have all ended.
    pub fn clear_job(&mut self, pilot: PilotId) {
        let any_left = self
            .processes
            .values()
            .any(|process| process.pilot == pilot);
        let has_started = |job: &Job| job.node.is_some();
        if !any_left
            && !self.pilots.contains_key(&pilot)
            && self.scheduler.jobs.get(&pilot).is_some_and(has_started)
        {
            self.scheduler.jobs.remove(&pilot);
        }
    }

    /// Kills the pilot and all processes of a job.
    pub fn kill_job(&mut self, pilot: PilotId) {
        self.lose_pilot(pilot);
        let places = self.processes.iter();
        let own = places.filter(|(_, process)| process.pilot == pilot);
        let own: Vec<_> = own.map(|(place, _)| *place).collect();
        for (node, run) in own {
            self.end_process(node, run, None);
        }
        self.clear_job(pilot);
    }

    /// Crashes the scheduler. It forgets new jobs, and kills those that are already running. Jobs that were cancelled
    /// shortly before the crash are pending again.
    pub fn kill_scheduler(&mut self, ms: Millis) {
        let now = self.now;
        self.scheduler.down = (now + ms).min(self.plan.calm).max(self.scheduler.down);
        let mut orphans = Vec::new();
        self.scheduler.jobs.retain(|pilot, job| {
            if job.cancelled.is_some_and(|time| time >= now - UNSAVED_MS) {
                job.cancelled = None;
            }
            let is_lost = job.submitted >= now - UNSAVED_MS;
            if is_lost && job.node.is_some() {
                job.is_forgotten = true;
                orphans.push(*pilot);
            }
            !is_lost || job.node.is_some()
        });
        for pilot in orphans {
            let mut draw = self.noise.draw(For::Answer, &[pilot.0, 1]);
            self.after(draw.between(0, 3000), Happening::KillJob(pilot));
        }
    }

    /// Answers the daemon's query for the list of pilots.
    pub fn query(&mut self) {
        self.after(5000 * self.pace(), Happening::Query);
        if !self.is_scheduler_up() {
            return;
        }
        let jobs = self.scheduler.jobs.iter();
        let listed = jobs.filter(|(_, job)| !job.is_forgotten && job.cancelled.is_none());
        let pilots = listed.map(|(pilot, _)| *pilot).collect();
        let mut draw = self.noise.draw(For::Answer, &[self.now as u64]);
        let began = self.now;
        self.after(draw.between(20, 2000), Happening::Listed { began, pilots });
    }
}
