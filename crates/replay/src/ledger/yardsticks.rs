//! The references that a run is compared with: dedicated nodes, the best split of the idle nodes at
//! every moment, and the bound with hindsight.

use gleaner_domain::{NodeClasses, TrainingTask};

use super::efficiency::EfficiencyMeter;
use super::hindsight::CourseRecorder;

/// Records the data from which the references are computed.
#[derive(Debug)]
pub(super) struct Yardsticks {
    pub efficiency: EfficiencyMeter,
    /// Data for the bound; `None` if the bound is not requested.
    pub course: Option<CourseRecorder>,
}

impl Yardsticks {
    pub fn new(classes: Option<&NodeClasses>, bound: bool) -> Self {
        Yardsticks {
            efficiency: EfficiencyMeter::new(classes),
            course: bound.then(CourseRecorder::default),
        }
    }

    /// Records the numbers of nodes of each class that were idle for `seconds`.
    pub fn accrue(&mut self, idle: &[u32], seconds: f64) {
        self.efficiency.accrue(idle, seconds);
        if let Some(course) = &mut self.course {
            course.accrue(idle.iter().sum(), seconds);
        }
    }

    /// Sets the active tasks, as indices into `tasks`, for the time until the next call.
    pub fn set_active(
        &mut self,
        tasks: &[TrainingTask],
        active: impl Iterator<Item = u32> + Clone,
    ) {
        self.efficiency.set_active(tasks, active.clone());
        if let Some(course) = &mut self.course {
            course.set_active(&active.collect());
        }
    }
}
