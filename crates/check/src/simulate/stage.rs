//! Sweeps over time to find which jobs hold which GPUs of a virtual cluster or of the profiler.
//! Also computes the resulting states, GPU-seconds, speeds and corrections.
//!
//! Events of the same second happen in this order: ends, arrivals, starts, changes to the number of
//! nodes. The state of a minute is the state at the end of its first second.

use gleaner_domain::Job;
use gleaner_domain::cluster::{GPU_MEMORY, GpuSet};
use gleaner_domain::inputs::Pair;

use super::Given;
use super::nodes::Nodes;
use super::placer::Placer;
use super::runs::{Place, Run};
use super::states::{State, Stretch};
use crate::Findings;

/// Maximum number of GPUs of a job that starts on the GPUs of another job.
const SHARED_GPUS: u32 = 8;
/// Maximum sum of the sharing scores of two jobs that share GPUs.
const MOST_SCORE: u8 = 2;
/// Seconds between checks of the forecast. Each check decides whether GPUs can be shared until the next check.
const LOOK: i64 = 100;
/// GPUs are shared if the forecast exceeds this number of jobs per interval.
const QUIET_JOBS: f64 = 2.0;
/// Seconds in a minute.
const MINUTE: i64 = 60;
/// Number of GPUs below which waiting jobs are also counted separately.
const SMALL: u32 = 8;

/// The input of a sweep.
pub(super) struct Stage<'a> {
    /// The names of the table and the virtual cluster, for messages.
    pub place: String,
    /// The indices of the jobs that run in this virtual cluster or profiler, each with the second
    /// in which the job joins the queue.
    pub jobs: Vec<(usize, i64)>,
    /// The jobs' runs, in the order of their starts.
    pub runs: &'a [Run],
    /// Number of nodes at the start.
    pub nodes: u32,
    /// Seconds at which a node was added (1) or removed (-1).
    pub steps: &'a [(i64, i32)],
    /// Whether the nodes of runs are given by name. Otherwise, nodes are given by number, in the
    /// order in which they were added.
    pub by_name: bool,
    /// The placer; `None` for a policy that may choose GPUs itself.
    pub placer: Option<Placer>,
    /// Whether jobs may share GPUs.
    pub shares: bool,
    /// Whether a job always returns to full speed when its partner ends.
    pub is_corrected: bool,
    /// Whether nodes are added and removed according to the rules of the profiler.
    pub is_profiler: bool,
    /// The first and last submission times in the trace.
    pub arriving: (i64, i64),
}

/// The results of a sweep.
pub(super) struct Swept {
    /// The state in every minute; successive minutes with the same state form a stretch.
    pub stretches: Vec<Stretch>,
    /// GPU-seconds of GPUs held by at least one job.
    pub busy: i128,
    /// The part of `busy` between the first and the last submission.
    pub busy_arriving: i128,
    /// Seconds at which the number of held GPUs changed, each with the change.
    pub changes: Vec<(i64, i64)>,
    /// For each run, the nodes (by name) and the GPUs that it held at its end.
    pub named: Vec<Place>,
    /// The ends of jobs after which the partner returned to full speed, but would have stayed slow
    /// in the original simulator. Each entry has the second, the job that ended, and the partner.
    pub corrections: Vec<(i64, usize, usize)>,
}

/// The events of a sweep, in their order within a second.
#[derive(Debug, Clone, Copy)]
enum Event {
    End(usize),
    Arrival(usize),
    Start(usize),
    Step(i32),
}

/// The current state of a run during the sweep.
#[derive(Debug, Clone, Default)]
struct Live {
    /// The numbers of the run's nodes, each with the GPUs that the run holds. Empty before the run
    /// starts, or if the recorded nodes or GPUs do not exist.
    place: Place,
    /// The other run that shares, or has shared, this run's GPUs.
    partner: Option<usize>,
    /// Whether the simulation treats the run as the only one on its GPUs.
    is_alone: bool,
    is_running: bool,
    /// The speeds that the run should have, each with the second from which it applies.
    speeds: Vec<(i64, f64)>,
}

struct Sweep<'s, 'a, 'f> {
    stage: &'s Stage<'a>,
    given: &'s Given<'a>,
    findings: &'f mut Findings,
    nodes: Nodes,
    live: Vec<Live>,
    now: i64,
    next_minute: i64,
    running: i64,
    waiting: i64,
    waiting_small: i64,
    waiting_gpus: i64,
    swept: Swept,
}

/// Processes the events of a stage in order, until its last run has ended.
pub(super) fn sweep(stage: &Stage<'_>, given: &Given<'_>, findings: &mut Findings) -> Swept {
    let ends = stage.runs.iter().map(|run| run.until);
    let last = ends.max().unwrap_or(given.start).max(given.start);
    let mut events: Vec<(i64, Event)> = Vec::new();
    for (index, run) in stage.runs.iter().enumerate() {
        events.push((run.from, Event::Start(index)));
        events.push((run.until, Event::End(index)));
    }
    let jobs = stage.jobs.iter();
    events.extend(jobs.map(|&(job, second)| (second, Event::Arrival(job))));
    let steps = stage.steps.iter().filter(|step| step.0 <= last);
    events.extend(steps.map(|&(second, step)| (second, Event::Step(step))));
    events.sort_by_key(|&(second, event)| (second, event.phase(), event.index()));
    let mut sweep = Sweep {
        stage,
        given,
        findings,
        nodes: Nodes::new(stage.nodes, given.cluster.gpus_per_node),
        live: vec![Live::default(); stage.runs.len()],
        now: given.start,
        next_minute: given
            .start
            .saturating_add((-given.start).rem_euclid(MINUTE)),
        running: 0,
        waiting: 0,
        waiting_small: 0,
        waiting_gpus: 0,
        swept: Swept {
            stretches: Vec::new(),
            busy: 0,
            busy_arriving: 0,
            changes: Vec::new(),
            named: vec![Vec::new(); stage.runs.len()],
            corrections: Vec::new(),
        },
    };
    for (second, event) in events {
        sweep.advance(second);
        let before = sweep.nodes.busy();
        match event {
            Event::End(run) => sweep.end(run),
            Event::Arrival(job) => sweep.wait(job, 1),
            Event::Start(run) => sweep.start(run),
            Event::Step(step) => sweep.step(step),
        }
        let change = sweep.nodes.busy() - before;
        sweep.swept.changes.push((second, change));
    }
    sweep.advance(last.saturating_add(1));
    sweep.swept
}

impl Event {
    fn phase(self) -> u8 {
        match self {
            Event::End(_) => 0,
            Event::Arrival(_) => 1,
            Event::Start(_) => 2,
            Event::Step(_) => 3,
        }
    }

    fn index(self) -> usize {
        match self {
            Event::End(index) | Event::Arrival(index) | Event::Start(index) => index,
            Event::Step(_) => 0,
        }
    }
}

impl<'a> Sweep<'_, 'a, '_> {
    fn job(&self, run: usize) -> &'a Job {
        &self.given.trace.jobs[self.stage.runs[run].job]
    }

    fn place(&self, run: usize) -> String {
        let from = self.stage.runs[run].from;
        format!(
            "{}, job {:?} from {from}",
            self.stage.place,
            self.job(run).id
        )
    }

    /// Advances to `second`: adds up GPU-seconds, and records the state at each minute up to that second.
    fn advance(&mut self, second: i64) {
        if second <= self.now {
            return;
        }
        let busy = i128::from(self.nodes.busy());
        self.swept.busy += busy * i128::from(second.saturating_sub(self.now));
        let (first, last) = self.stage.arriving;
        let overlap = second.min(last).saturating_sub(self.now.max(first));
        self.swept.busy_arriving += busy * i128::from(overlap.max(0));
        if self.next_minute < second {
            let minutes = second.saturating_sub(1).saturating_sub(self.next_minute) / MINUTE + 1;
            let state = self.state();
            self.swept.stretches.push(Stretch {
                first: self.next_minute,
                minutes,
                state,
            });
            self.next_minute = self
                .next_minute
                .saturating_add(minutes.saturating_mul(MINUTE));
        }
        self.now = second;
    }

    fn state(&self) -> State {
        let (gpus, busy) = (self.nodes.gpus(), self.nodes.busy());
        let [one_job, more_jobs] = self.nodes.crowded();
        let [gpu_util, gmem] = self.nodes.load();
        let [gpu_util_active, gmem_active] = self.nodes.active_load();
        State {
            counts: [
                gpus,
                gpus - busy,
                self.waiting_gpus,
                self.running,
                self.waiting,
                self.waiting_small,
                self.nodes.count(),
                one_job,
                more_jobs,
            ],
            loads: [gpu_util, gmem, gpu_util_active, gmem_active],
        }
    }

    /// Counts a job that joins (1) or leaves (-1) the queue.
    fn wait(&mut self, job: usize, sign: i64) {
        let gpus = self.given.trace.jobs[job].gpus;
        self.waiting += sign;
        self.waiting_gpus += sign * i64::from(gpus);
        self.waiting_small += sign * i64::from(gpus < SMALL);
    }

    fn start(&mut self, index: usize) {
        let run = &self.stage.runs[index];
        self.running += 1;
        self.wait(run.job, -1);
        self.live[index].is_running = true;
        self.live[index].is_alone = true;
        self.live[index].speeds = vec![(self.now, 1.0)];
        let Some(place) = self.slots(index) else {
            return;
        };
        let holders = self.nodes.holders(&place);
        match holders[..] {
            [] => self.check_placement(index, &place),
            [other] if self.may_share(index, other, &place) => self.share(index, other),
            _ => {
                let other = self.place(holders[0]);
                let place = self.place(index);
                self.findings
                    .add(|| format!("{place}: its GPUs are already held by {other}"));
                return;
            }
        }
        self.live[index].place = place;
        self.occupy(index);
    }

    /// The nodes of a run, by number, each with the run's GPUs. `None` if the nodes or GPUs do not
    /// exist.
    fn slots(&mut self, index: usize) -> Option<Place> {
        let run = &self.stage.runs[index];
        let mut place: Place = Vec::new();
        for &(node, gpus) in &run.place {
            let slot = if self.stage.by_name {
                self.nodes.named(node)
            } else {
                self.nodes.is_there(node).then_some(node)
            };
            let slot = slot.filter(|&slot| {
                self.nodes.has(gpus) && place.iter().all(|&(other, _)| other != slot)
            });
            let Some(slot) = slot else {
                let place = self.place(index);
                self.findings.add(|| {
                    format!(
                        "{place}: the placement on node {node} is invalid: the node does not exist or is listed twice, \
                         or the run's GPUs on it are not GPUs of the node"
                    )
                });
                return None;
            };
            place.push((slot, gpus));
        }
        let held: u32 = place.iter().map(|(_, gpus)| gpus.count_ones()).sum();
        let asked = self.job(index).gpus;
        let words = self.place(index);
        self.findings
            .equal(format_args!("{words}: GPUs"), held, asked);
        (held == asked).then_some(place)
    }

    /// Checks that the GPUs are those that the placer chooses: the lowest free GPUs of each chosen node.
    fn check_placement(&mut self, index: usize, place: &Place) {
        let Some(placer) = self.stage.placer else {
            return;
        };
        let free = self.nodes.free();
        let gpus_per_node = self.given.cluster.gpus_per_node;
        let chosen = placer.choose(&free, self.job(index).gpus, gpus_per_node);
        let expected = chosen.map(|chosen| -> Place {
            let lowest = |(slot, gpus)| (slot, self.nodes.lowest_free(slot, gpus));
            chosen.into_iter().map(lowest).collect()
        });
        let words = self.place(index);
        self.findings.holds(expected.as_ref() == Some(place), || {
            format!("{words}: its GPUs differ from those that the placer chooses")
        });
    }

    /// Whether a job may share the GPUs of a running job.
    fn may_share(&self, index: usize, other: usize, place: &Place) -> bool {
        let (job, with) = (self.job(index), self.job(other));
        let partner = &self.live[other];
        let is_same_place = partner.place == *place && partner.is_alone;
        let has_room = job.gpus <= SHARED_GPUS && job.usage.gmem + with.usage.gmem < GPU_MEMORY;
        let scores = |job: &Job| self.given.packing.and_then(|packing| packing.score(job));
        let go_together = scores(job)
            .zip(scores(with))
            .is_some_and(|(a, b)| self.given.ignores_scores || a.saturating_add(b) <= MOST_SCORE);
        self.stage.shares
            && is_same_place
            && has_room
            && go_together
            && self.pair(index, other).is_some()
            && self.sharing_is_on()
    }

    /// Whether the most recent check of the forecast allows GPUs to be shared.
    fn sharing_is_on(&self) -> bool {
        let look = self.now - self.now.rem_euclid(LOOK);
        let jobs = self
            .given
            .forecast
            .and_then(|forecast| forecast.gpu_jobs(look));
        let is_busy = jobs.is_none_or(|jobs| jobs > QUIET_JOBS);
        look >= self.given.start && is_busy && !self.given.never_shares
    }

    fn pair(&self, first: usize, second: usize) -> Option<Pair> {
        let packing = self.given.packing?;
        packing.pair(self.job(first), self.job(second))
    }

    fn share(&mut self, index: usize, other: usize) {
        if let Some(pair) = self.pair(index, other) {
            self.live[index].speeds = vec![(self.now, pair.speeds.0)];
            self.change_speed(other, pair.speeds.1);
        }
        for (run, partner) in [(index, other), (other, index)] {
            self.live[run].is_alone = false;
            self.live[run].partner = Some(partner);
        }
    }

    fn change_speed(&mut self, run: usize, speed: f64) {
        let (now, speeds) = (self.now, &mut self.live[run].speeds);
        speeds.retain(|&(second, _)| second < now);
        if speeds.last().is_none_or(|&(_, last)| last != speed) {
            speeds.push((now, speed));
        }
    }

    /// Puts a run on its GPUs. The load of these GPUs is the load of the job alone, or the load
    /// that was measured for the pair of jobs.
    fn occupy(&mut self, index: usize) {
        let partner = self.live[index].partner;
        let pair = partner.and_then(|other| self.pair(index, other));
        let load = match pair {
            Some(pair) => [pair.gpu_util, pair.gmem],
            None => load(self.job(index)),
        };
        self.nodes.enter(index, &self.live[index].place, load);
    }

    fn end(&mut self, index: usize) {
        let run = &self.stage.runs[index];
        self.running -= 1;
        self.live[index].is_running = false;
        if !run.is_last {
            self.wait(run.job, 1);
        }
        let live = &self.live[index];
        let partner = live.partner.filter(|_| !live.is_alone);
        let survivor = partner.filter(|&other| self.live[other].is_running);
        if let Some(survivor) = survivor {
            self.restore(index, survivor);
        }
        let place = std::mem::take(&mut self.live[index].place);
        self.swept.named[index] = self.nodes.names(&place);
        let load = survivor.map_or([0.0; 2], |survivor| load(self.job(survivor)));
        self.nodes.leave(index, &place, load);
        let is_so = self.live[index].speeds == run.speeds;
        let words = self.place(index);
        self.findings.holds(is_so, || {
            format!("{words}: its speeds differ from the expected speeds: full speed while the job is alone, the measured speed of the pair while it shares GPUs")
        });
    }

    /// When a job ends, its partner returns to full speed if the partner was placed first. In the
    /// corrected simulation, a partner that was placed second also returns to full speed.
    fn restore(&mut self, ended: usize, survivor: usize) {
        let runs_on = self.stage.runs[survivor].until > self.now;
        let is_first = survivor < ended;
        if is_first || (self.stage.is_corrected && runs_on) {
            self.live[survivor].is_alone = true;
            if runs_on {
                self.change_speed(survivor, 1.0);
            }
        }
        if !is_first && self.stage.is_corrected && runs_on {
            let job = |run: usize| self.stage.runs[run].job;
            let correction = (self.now, job(ended), job(survivor));
            self.swept.corrections.push(correction);
        }
    }

    fn step(&mut self, step: i32) {
        if self.stage.is_profiler {
            self.check_step(step);
        }
        if let Some(renamed) = self.nodes.step(step) {
            // In the original simulator, a renamed node is listed last.
            for live in self.live.iter_mut().filter(|live| live.is_running) {
                if live.place.iter().any(|&(slot, _)| slot == renamed) {
                    live.place.sort_by_key(|&(slot, _)| slot == renamed);
                }
            }
        }
    }

    /// Checks that the profiler was allowed to borrow or to return a node. Every 10 s, a node is borrowed if more than
    /// 10 jobs are waiting and no node is borrowed yet. Every 100 s, the borrowed node is returned if it is idle, fewer
    /// than 5 jobs are waiting, and the forecast predicts few GPUs.
    fn check_step(&mut self, step: i32) {
        let has_borrowed = self.nodes.count() > i64::from(self.stage.nodes);
        let is_so = match step {
            1 => self.now % 10 == 0 && self.waiting > 10 && !has_borrowed,
            -1 => {
                let forecast = self.given.forecast.and_then(|f| f.gpus(self.now));
                let most = self.given.profiler.map_or(0, |p| p.most_gpus());
                let is_quiet = forecast.is_none_or(|gpus| gpus <= f64::from(most) * 5.0);
                let is_due = self.now % 100 == 0 && self.waiting < 5 && is_quiet;
                is_due && has_borrowed && self.nodes.added_is_idle()
            }
            _ => false,
        };
        let (place, now) = (&self.stage.place, self.now);
        self.findings.holds(is_so, || {
            format!("{place}: the change of {step:+} nodes at second {now} violates the rules of the profiler")
        });
    }
}

/// The load of a job that runs alone on its GPUs: utilisation in percent, memory in MB.
fn load(job: &Job) -> [f64; 2] {
    [job.usage.gpu_util, job.usage.gmem]
}

/// The set of all GPUs of a node.
pub(super) fn all_gpus(gpus_per_node: u32) -> GpuSet {
    match gpus_per_node {
        64.. => GpuSet::MAX,
        gpus => (1 << gpus) - 1,
    }
}
