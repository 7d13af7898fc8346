//! Tests of schedules with invalid samples of the state.

use super::*;

broken! {
    busy_seconds_counted_twice: shared,
        |e| e.schedule.busy_gpu_seconds += 2 * 12,
        Violation::BusySeconds { found: 118, expected: 94 },
    an_idle_gpu_too_many: exclusive,
        |e| e.schedule.samples[1].state.idle_gpus = 3,
        Violation::Sample { time: 60, field: "idle GPUs", found: 3, expected: 2 },
    a_total_that_is_wrong: exclusive,
        |e| e.schedule.samples[1].state.total_gpus = 12,
        Violation::Sample { time: 60, field: "total GPUs", found: 12, expected: 8 },
    a_running_job_forgotten: exclusive,
        |e| e.schedule.samples[1].state.running_jobs = 1,
        Violation::Sample { time: 60, field: "running jobs", found: 1, expected: 2 },
    a_waiting_job_forgotten: exclusive,
        |e| e.schedule.samples[2].state.pending_jobs = 0,
        Violation::Sample { time: 120, field: "pending jobs", found: 0, expected: 1 },
    a_shared_node_that_is_none: exclusive,
        |e| e.schedule.samples[1].state.shared_nodes = 1,
        Violation::Sample { time: 60, field: "nodes with several jobs", .. },
    a_state_that_lasts_too_long: exclusive,
        |e| {
            e.schedule.samples[0].count = 2;
            e.schedule.samples.remove(1);
        },
        Violation::Sample { time: 60, field: "running jobs", found: 0, expected: 2 },
    a_minute_missing: exclusive,
        |e| e.schedule.samples.retain(|samples| samples.first != 60),
        Violation::SampleTimes { first: 120, count: 1, .. },
    samples_off_the_minute: exclusive,
        |e| e.schedule.samples[0].first = 1,
        Violation::SampleTimes { first: 1, count: 1, .. },
    samples_that_stop_early: exclusive,
        |e| e.schedule.samples.truncate(2),
        Violation::SampleTimes { first: 60, .. },
    samples_that_start_late: exclusive,
        |e| drop(e.schedule.samples.drain(..2)),
        Violation::SampleTimes { first: 120, .. },
}
