//! Records the idle nodes and active tasks of a replay for the bound with hindsight.

use std::collections::{BTreeMap, BTreeSet};

use gleaner_domain::{ScalingCurve, TrainingTask};

use crate::bound::{Course, Interval, Kind, Stay};

/// Records the idle nodes and active tasks of a replay over time.
#[derive(Debug, Default)]
pub(super) struct CourseRecorder {
    intervals: Vec<Interval>,
    /// The first interval of each active task.
    active: BTreeMap<u32, u32>,
    /// Tasks that were active, each with its first interval and the interval after its last interval.
    past: Vec<(u32, u32, u32)>,
}

impl CourseRecorder {
    /// Sets the indices of the active tasks for the time until the next call.
    pub fn set_active(&mut self, active: &BTreeSet<u32>) {
        let now = self.intervals.len() as u32;
        let past = &mut self.past;
        self.active.retain(|task, from| {
            let stays = active.contains(task);
            if !stays {
                past.push((*task, *from, now));
            }
            stays
        });
        for &task in active {
            self.active.entry(task).or_insert(now);
        }
    }

    /// Records that `idle` nodes were idle for `seconds`.
    pub fn accrue(&mut self, idle: u32, seconds: f64) {
        self.intervals.push(Interval { seconds, idle });
    }

    /// Ends the recording and returns the course of the replay. `tasks` are all tasks of the
    /// replay, and `nodes` is the number of nodes of the machine.
    pub fn finish(mut self, tasks: &[TrainingTask], nodes: u32) -> Course {
        self.set_active(&BTreeSet::new());
        let mut kinds = Kinds::default();
        let stay = |&(task, from, to): &(u32, u32, u32)| Stay {
            kind: kinds.number(&tasks[task as usize], nodes),
            from,
            to,
        };
        Course {
            stays: self.past.iter().map(stay).collect(),
            intervals: self.intervals,
            kinds: kinds.list,
        }
    }
}

/// The distinct kinds of tasks.
#[derive(Debug, Default)]
struct Kinds {
    list: Vec<Kind>,
    /// Index of each kind. The key consists of the curve, the minimum and maximum number of nodes,
    /// and the bits of the rescaling costs.
    numbers: BTreeMap<(ScalingCurve, [u32; 2], [u64; 2]), u32>,
}

impl Kinds {
    /// The index of this task's kind.
    fn number(&mut self, task: &TrainingTask, nodes: u32) -> u32 {
        let most = task.as_solved().cap().min(nodes);
        let costs = [task.rescale_up, task.rescale_down];
        let key = (
            task.curve.clone(),
            [task.min_nodes, most],
            costs.map(f64::to_bits),
        );
        *self.numbers.entry(key).or_insert_with(|| {
            self.list.push(Kind {
                rates: (0..=most).map(|n| task.rate(n)).collect(),
                rescale_up: task.rescale_up,
                rescale_down: task.rescale_down,
            });
            self.list.len() as u32 - 1
        })
    }
}
