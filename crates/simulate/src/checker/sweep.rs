//! At every second with an event, checks the GPUs held, the capacity and the samples of the state.

use super::claims::Claims;
use super::samples::Mark;
use super::{Held, Report, Terms, Violation, placement};
use gleaner_domain::cluster::GpuSet;
use gleaner_domain::results::schedule::{JobRun, Schedule, State};

/// Events, in the order in which they happen within a second.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    End(usize),
    Gone(usize),
    Added(usize),
    Submitted(usize),
    Start(usize),
}

/// Sweeps over the valid runs in chronological order. Returns for every run whether it ever shared its
/// GPUs.
pub(super) fn check(
    schedule: &Schedule,
    terms: &Terms,
    sound: &[bool],
    marks: &[Mark],
    report: &mut Report,
) -> Vec<bool> {
    let mut sweep = Sweep::new(schedule, terms, report);
    let events = events(schedule, terms, sound);
    let mut marks = marks.iter().peekable();
    for (index, &(time, event)) in events.iter().enumerate() {
        // A sample holds the state at the end of a second, so it is compared before later events are applied.
        while let Some(mark) = marks.next_if(|mark| mark.time < time) {
            mark.compare(&sweep.counts(), sweep.report);
        }
        sweep.pass_until(time);
        sweep.apply(event);
        if events.get(index + 1).is_none_or(|next| next.0 > time) {
            sweep.check_capacity();
        }
    }
    for mark in marks {
        mark.compare(&sweep.counts(), sweep.report);
    }
    sweep.finish()
}

fn events(schedule: &Schedule, terms: &Terms, sound: &[bool]) -> Vec<(i64, Event)> {
    let mut events = Vec::with_capacity(2 * schedule.runs.len() + terms.jobs.len());
    for (slot, node) in schedule.nodes.iter().enumerate() {
        events.push((node.from, Event::Added(slot)));
        events.push((node.until, Event::Gone(slot)));
    }
    for index in 0..terms.jobs.len() {
        events.push((terms.entry(index), Event::Submitted(index)));
    }
    let runs = schedule.runs.iter().zip(sound).enumerate();
    for (index, (run, _)) in runs.filter(|(_, (_, sound))| **sound) {
        events.push((run.from, Event::Start(index)));
        events.push((run.until, Event::End(index)));
    }
    events.sort_unstable();
    events
}

/// The state of the virtual cluster at the current point of the sweep.
struct Sweep<'a> {
    schedule: &'a Schedule,
    terms: &'a Terms<'a>,
    report: &'a mut Report,
    time: i64,
    nodes: Vec<Claims>,
    shared: Vec<bool>,
    now: Counts,
    busy_seconds: i64,
}

/// The fields of a [`State`] that follow from runs and outcomes alone.
#[derive(Clone, Copy, Default)]
pub(super) struct Counts {
    nodes: i64,
    busy_gpus: i64,
    running: i64,
    pending: i64,
    pending_small: i64,
    pending_gpus: i64,
    single_nodes: i64,
    shared_nodes: i64,
    gpus: i64,
}

impl Counts {
    /// The fields of a sample: name, value in the sample, and expected value.
    pub fn against(&self, state: &State) -> [(&'static str, i64, i64); 9] {
        [
            ("total GPUs", state.total_gpus as i64, self.gpus),
            (
                "idle GPUs",
                state.idle_gpus as i64,
                self.gpus - self.busy_gpus,
            ),
            ("pending GPUs", state.pending_gpus as i64, self.pending_gpus),
            ("running jobs", state.running_jobs.into(), self.running),
            ("pending jobs", state.pending_jobs.into(), self.pending),
            (
                "pending small jobs",
                state.pending_small_jobs.into(),
                self.pending_small,
            ),
            ("nodes", state.nodes.into(), self.nodes),
            (
                "nodes with one job",
                state.single_nodes.into(),
                self.single_nodes,
            ),
            (
                "nodes with several jobs",
                state.shared_nodes.into(),
                self.shared_nodes,
            ),
        ]
    }

    fn wait(&mut self, gpus: u32, jobs: i64) {
        self.pending += jobs;
        self.pending_gpus += jobs * i64::from(gpus);
        if gpus < SMALL {
            self.pending_small += jobs;
        }
    }

    /// Adds a node to the counts of busy GPUs and of nodes with one job or several jobs. If `sign` is -1, subtracts the
    /// node from these counts.
    fn node(&mut self, claims: &Claims, sign: i64) {
        self.busy_gpus += sign * i64::from(claims.busy().count_ones());
        match claims.len() {
            0 => {}
            1 => self.single_nodes += sign,
            _ => self.shared_nodes += sign,
        }
    }
}

/// A waiting job with fewer GPUs than this number is small, regardless of the number of GPUs per node.
const SMALL: u32 = 8;

impl<'a> Sweep<'a> {
    fn new(schedule: &'a Schedule, terms: &'a Terms, report: &'a mut Report) -> Self {
        Sweep {
            schedule,
            terms,
            report,
            time: i64::MIN,
            nodes: schedule.nodes.iter().map(|_| Claims::default()).collect(),
            shared: vec![false; schedule.runs.len()],
            now: Counts::default(),
            busy_seconds: 0,
        }
    }

    fn counts(&self) -> Counts {
        let gpus = self.now.nodes * i64::from(self.terms.gpus_per_node);
        Counts { gpus, ..self.now }
    }

    fn pass_until(&mut self, time: i64) {
        let passed = time.saturating_sub(self.time);
        let busy = passed.saturating_mul(self.now.busy_gpus);
        self.busy_seconds = self.busy_seconds.saturating_add(busy);
        self.time = time;
    }

    fn apply(&mut self, event: Event) {
        let schedule = self.schedule;
        match event {
            Event::Added(_) => self.now.nodes += 1,
            Event::Gone(_) => self.now.nodes -= 1,
            Event::Submitted(job) => self.now.wait(self.terms.jobs[job].gpus, 1),
            Event::Start(index) => {
                let run = &schedule.runs[index];
                self.now.running += 1;
                self.now.wait(self.terms.jobs[run.job].gpus, -1);
                self.start(index, run);
            }
            Event::End(index) => {
                let run = &schedule.runs[index];
                self.now.running -= 1;
                if !run.last {
                    self.now.wait(self.terms.jobs[run.job].gpus, 1);
                }
                for &(slot, _) in &run.placement {
                    self.change(slot, |claims| claims.release(index));
                }
            }
        }
    }

    fn change(&mut self, slot: u32, change: impl FnOnce(&mut Claims)) {
        let claims = &mut self.nodes[slot as usize];
        self.now.node(claims, -1);
        change(claims);
        self.now.node(claims, 1);
    }

    fn start(&mut self, index: usize, run: &JobRun) {
        for &(slot, gpus) in &run.placement {
            let claims = &self.nodes[slot as usize];
            if let Some(gpu) = claims.refused(gpus, self.terms.sharing) {
                let violation = self.held(run, slot, gpu);
                self.report.add(violation);
            } else {
                let partners: Vec<_> = claims.holders(gpus).collect();
                for (partner, common) in partners {
                    self.share(index, partner, slot, common);
                }
            }
            self.change(slot, |claims| claims.take(index, gpus));
        }
    }

    fn held(&self, run: &JobRun, slot: u32, gpu: u32) -> Violation {
        let holders = self.nodes[slot as usize].holders(1 << gpu);
        let id = |(run, _): (usize, GpuSet)| self.id(&self.schedule.runs[run]);
        Violation::Held {
            job: self.id(run),
            time: run.from,
            place: placement::place(self.schedule, slot),
            gpu,
            held: Held(holders.map(id).collect()),
        }
    }

    fn share(&mut self, index: usize, partner: usize, slot: u32, common: GpuSet) {
        self.shared[index] = true;
        self.shared[partner] = true;
        let (run, other) = (&self.schedule.runs[index], &self.schedule.runs[partner]);
        if !same_gpus(run, other) {
            self.report.add(Violation::Unequal {
                job: self.id(run),
                time: run.from,
                place: placement::place(self.schedule, slot),
                gpu: common.trailing_zeros(),
                other: self.id(other),
            });
        }
    }

    fn id(&self, run: &JobRun) -> String {
        self.terms.jobs[run.job].id.clone()
    }

    fn check_capacity(&mut self) {
        let Counts {
            gpus, busy_gpus, ..
        } = self.counts();
        let time = self.time;
        self.report
            .require(busy_gpus <= gpus, || Violation::Capacity {
                time,
                held: busy_gpus.max(0) as u64,
                gpus: gpus.max(0) as u64,
            });
    }

    fn finish(self) -> Vec<bool> {
        let (found, expected) = (self.schedule.busy_gpu_seconds, self.busy_seconds);
        self.report
            .require(found == expected, || Violation::BusySeconds {
                found,
                expected,
            });
        self.shared
    }
}

fn same_gpus(a: &JobRun, b: &JobRun) -> bool {
    let sorted = |run: &JobRun| {
        let mut placement = run.placement.clone();
        placement.sort_unstable();
        placement
    };
    a.placement == b.placement || sorted(a) == sorted(b)
}
