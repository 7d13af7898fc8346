//! EASY backfilling on top of FIFO.

use super::Rule;
use super::nodes::Nodes;
use super::sim::Sim;

pub struct Easy;

impl Rule for Easy {
    fn second(&mut self, sim: &mut Sim) {
        sim.end_due();
        sim.arrive();
        let jobs = &sim.world.jobs;
        sim.waiting.sort_by_key(|&job| jobs[job].submit);
        while let Some(&head) = sim.waiting.first() {
            if !sim.start_until_end(head) {
                backfill(sim, head);
                break;
            }
        }
    }
}

/// Starts later jobs before the head of the queue if, according to the estimates, this does not delay the head.
fn backfill(sim: &mut Sim, head: usize) {
    let reserved = reservation(sim, head);
    let later: Vec<usize> = sim.waiting.iter().skip(1).copied().collect();
    for job in later {
        let Some(chosen) = sim.world.placer.select(&sim.nodes, sim.gpus(job)) else {
            continue;
        };
        let mut with_job = sim.nodes.clone();
        for (at, number) in chosen {
            with_job.list[at].allocate(job, number);
        }
        let over = sim.time + estimate(sim, job) <= reserved;
        if over || fits_at(sim, with_job, head, reserved) {
            assert!(sim.start_until_end(job));
        }
    }
}

/// Estimated duration of a job in seconds, at least 1.
fn estimate(sim: &Sim, job: usize) -> i64 {
    let seconds = sim.world.estimates.seconds(sim.world.jobs[job]).unwrap();
    (seconds.ceil() as i64).max(1)
}

fn estimated_end(sim: &Sim, job: usize) -> i64 {
    (sim.jobs[job].start + estimate(sim, job)).max(sim.time + 1)
}

/// The first estimated end of a running job at which the head fits.
fn reservation(sim: &Sim, head: usize) -> i64 {
    let running = sim.running.iter();
    let mut ends: Vec<i64> = running.map(|&job| estimated_end(sim, job)).collect();
    ends.sort();
    let fits = |&end: &i64| fits_at(sim, sim.nodes.clone(), head, end);
    ends.into_iter().find(fits).unwrap()
}

/// Whether a job fits at `second`, if all running jobs that are estimated to end by then have
/// ended.
fn fits_at(sim: &Sim, mut nodes: Nodes, job: usize, second: i64) -> bool {
    for &other in &sim.running {
        if estimated_end(sim, other) <= second {
            nodes.release(other);
        }
    }
    sim.world.placer.select(&nodes, sim.gpus(job)).is_some()
}

/// A job: its GPUs, submission, duration, estimate and expected start.
#[cfg(test)]
type Expected = (u32, i64, i64, f64, i64);

/// Small fixed examples on nodes of 4 GPUs, worked out by hand.
#[test]
fn backfilling_follows_the_rules() {
    let passes: &[Expected] = &[
        (3, 0, 100, 100.0, 0),
        (4, 1, 10, 10.0, 100),
        // The job ends in the second in which the head may start.
        (1, 2, 98, 98.0, 2),
    ];
    let delays: &[Expected] = &[
        (3, 0, 100, 100.0, 0),
        (4, 1, 10, 10.0, 100),
        (1, 2, 98, 98.5, 110),
    ];
    let beside: &[Expected] = &[
        (4, 0, 100, 100.0, 0),
        (2, 0, 300, 300.0, 0),
        (4, 2, 10, 10.0, 100),
        // The job runs beyond the head's start, but the head fits on the other node.
        (2, 3, 1000, 1000.0, 3),
    ];
    let overdue: &[Expected] = &[
        (3, 0, 100, 10.0, 0),
        (4, 1, 10, 10.0, 100),
        // The running job has exceeded its estimate, so it may end in any second. Only a job with an estimate of one
        // second may overtake the head.
        (1, 20, 30, 2.0, 110),
        (1, 20, 30, 0.3, 20),
    ];
    for (nodes, jobs) in [(1, passes), (1, delays), (2, beside), (1, overdue)] {
        let starts: Vec<i64> = jobs.iter().map(|job| job.4).collect();
        assert_eq!(easy_starts(nodes, jobs), starts);
    }
}

#[cfg(test)]
fn easy_starts(nodes: u32, jobs: &[Expected]) -> Vec<i64> {
    let given = |(index, &(gpus, submit, duration, ..)): (usize, &Expected)| {
        super::cases::job(index, gpus, submit, duration)
    };
    let given: Vec<gleaner_domain::Job> = jobs.iter().enumerate().map(given).collect();
    let estimate = |(job, row): (&gleaner_domain::Job, &Expected)| (job.id.clone(), row.3);
    let estimates = given.iter().zip(jobs).map(estimate).collect();
    let world = super::World {
        entries: given.iter().map(|job| job.submit).collect(),
        queued: vec![0; given.len()],
        jobs: given.iter().collect(),
        nodes,
        gpus_per_node: 4,
        start: 0,
        placer: super::Placer::Consolidate,
        estimates: &gleaner_domain::inputs::EstimateTable(estimates),
        forecast: &0.0,
        packing: &gleaner_domain::inputs::PackingTable::default(),
    };
    let schedule = super::run(&world, &mut Easy);
    schedule.jobs.iter().map(|job| job.start).collect()
}
