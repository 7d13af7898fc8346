//! Lucid in the plain simulator.

use gleaner_domain::results::schedule::Correction;

use super::Rule;
use super::sim::Sim;

/// The parts of Lucid to switch off, and the changes to Lucid to switch on.
#[derive(Debug, Clone, Default)]
pub struct Switches {
    pub without_packing: bool,
    pub without_throughput: bool,
    pub without_estimates: bool,
    pub corrected: bool,
    /// The profiler's scaling steps. The virtual cluster that Lucid schedules loses a node when the
    /// profiler gains one, and vice versa.
    pub echo: Vec<(i64, i32)>,
}

pub struct Lucid {
    switches: Switches,
    sharing: bool,
}

/// GPU memory in MB.
const MEMORY: f64 = 24_576.0;

impl Lucid {
    pub fn new(switches: Switches) -> Self {
        Lucid {
            switches,
            sharing: false,
        }
    }

    fn work(&self, sim: &mut Sim) {
        // If a job's end changes a speed in this second, the new speed applies from the next step onwards.
        let with_speed = |&job: &usize| (job, sim.jobs[job].speed);
        let running: Vec<(usize, f64)> = sim.running.iter().map(with_speed).collect();
        for (job, speed) in running {
            if sim.jobs[job].remain > 0.0 {
                sim.jobs[job].remain -= speed;
                continue;
            }
            if !sim.jobs[job].exclusive {
                self.restore(sim, job);
            }
            sim.finish(job);
        }
    }

    /// When one job of a pair ends, the job that was placed first gets full speed, even if it is the one that ends.
    /// If corrected, the survivor gets full speed unless it ends too.
    fn restore(&self, sim: &mut Sim, ended: usize) {
        let (slot, gpus) = &sim.jobs[ended].nodes[0];
        let node = sim.nodes.node(*slot);
        let same = node.jobs.iter().filter(|(_, held)| held == gpus);
        let pair: Vec<usize> = same.map(|&(job, _)| job).collect();
        let mut restored = pair[0];
        if self.switches.corrected
            && restored == ended
            && let Some(&survivor) = pair.get(1)
            && sim.jobs[survivor].remain > 0.0
        {
            restored = survivor;
            sim.corrections.push(Correction {
                time: sim.time,
                ended,
                survivor,
            });
        }
        sim.set_speed(restored, 1.0);
        sim.jobs[restored].exclusive = true;
        sim.jobs[restored].delocated = sim.time;
    }

    fn prioritise(&self, sim: &mut Sim, new: usize) {
        let world = sim.world;
        for &job in sim.waiting.iter().rev().take(new) {
            let given = world.jobs[job];
            sim.jobs[job].priority = Some(if self.switches.without_estimates {
                -1.0
            } else {
                world.estimates.seconds(given).unwrap() * f64::from(given.gpus)
            });
        }
        let jobs = &sim.jobs;
        sim.waiting.sort_by(|&a, &b| {
            let priority = |job: usize| jobs[job].priority.unwrap();
            priority(a).total_cmp(&priority(b))
        });
    }

    /// Whether sharing is on. Sharing is off only while few jobs are forecast. After the end of the forecast, it is on.
    fn forecast(&self, sim: &Sim) -> bool {
        let jobs = if self.switches.without_throughput {
            Some(1.0)
        } else {
            sim.world.forecast.gpu_jobs(sim.time)
        };
        jobs.is_none_or(|jobs| jobs > 2.0)
    }

    /// The first running job, in start order, that this job may join.
    fn partner(&self, sim: &Sim, job: usize) -> Option<usize> {
        let given = |job: usize| sim.world.jobs[job];
        let score = |job: usize| sim.world.packing.score(given(job)).unwrap();
        let priority = |job: usize| sim.jobs[job].priority.unwrap();
        let suits = |&other: &usize| {
            sim.jobs[other].exclusive
                && given(other).gpus == given(job).gpus
                && given(other).usage.gmem < MEMORY - given(job).usage.gmem
                && (self.switches.without_packing
                    || (score(job) + score(other) <= 2 && priority(job) <= priority(other) * 2.0))
        };
        sim.running.iter().copied().find(suits)
    }

    fn join(&self, sim: &mut Sim, job: usize, partner: usize) {
        let jobs = &sim.world.jobs;
        let pair = sim.world.packing.pair(jobs[job], jobs[partner]).unwrap();
        sim.set_speed(job, pair.speeds.0);
        sim.set_speed(partner, pair.speeds.1);
        sim.jobs[job].exclusive = false;
        sim.jobs[partner].exclusive = false;
        sim.jobs[job].colocated = sim.time;
        let held = sim.jobs[partner].nodes.clone();
        for (slot, gpus) in &held {
            let node = sim.nodes.node_mut(*slot);
            node.hold(job, gpus);
            for &gpu in gpus {
                node.gpus[gpu].pair = (pair.gpu_util, pair.gmem);
            }
        }
        sim.jobs[job].nodes = held;
    }

    fn allocate(&self, sim: &mut Sim) {
        for job in sim.waiting.clone() {
            let may_share = self.sharing && sim.gpus(job) <= 8;
            let partner = if may_share {
                self.partner(sim, job)
            } else {
                None
            };
            if let Some(partner) = partner {
                self.join(sim, job, partner);
            } else if !sim.place(job) {
                if self.sharing {
                    continue;
                }
                break;
            }
            let entry = sim.world.entries[job];
            sim.jobs[job].start = sim.time;
            sim.jobs[job].queue += sim.time - entry;
            sim.start(job);
        }
    }

    fn echo(&self, sim: &mut Sim) {
        let now = sim.time;
        for &(_, step) in self.switches.echo.iter().filter(|step| step.0 == now) {
            if step < 0 {
                if sim.nodes.add(now) {
                    sim.scaling.push((now, 1));
                }
                continue;
            }
            let (removed, renamed) = sim.nodes.remove(now);
            if removed {
                sim.scaling.push((now, -1));
            }
            // The original simulator puts a renamed node at the end of the list.
            if let Some(slot) = renamed {
                for (job, _) in sim.nodes.node(slot).jobs.clone() {
                    sim.jobs[job].nodes.sort_by_key(|node| node.0 == slot);
                }
            }
        }
    }
}

impl Rule for Lucid {
    fn second(&mut self, sim: &mut Sim) {
        self.work(sim);
        let new = sim.arrive();
        self.prioritise(sim, new);
        if sim.time % 100 == 0 {
            self.sharing = self.forecast(sim);
        }
        self.allocate(sim);
        self.echo(sim);
    }
}
