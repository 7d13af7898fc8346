//! Inspections of event logs.

use std::path::{Path, PathBuf};

use gleaner_document::text;
use gleaner_domain::Clock;
use gleaner_domain::Observer;
use gleaner_domain::error::Result;
use gleaner_inspect::{Inspection, RescaleCosts};
use gleaner_io::{Loaded, SourceId};
use gleaner_runs::inspect::{CostSource, printed};
use gleaner_runs::read::RunInfo;
use gleaner_setup::settings;
use gleaner_setup::settings::{Settings, Spec};
use gleaner_setup::{ClassArgs, SliceArgs};
use serde::Serialize;

settings! {
    /// The log to inspect, and the options of the inspection.
    #[derive(Debug, Clone, Serialize)]
    pub struct InspectionSettings {
        /// The part of the log to inspect.
        #[serde(flatten)]
        pub slice: SliceArgs;
        /// The classes of the log's nodes.
        #[serde(flatten)]
        pub classes: ClassArgs;
        /// Tasks whose rescale costs determine the suggested window [default: 18 s to grow, 12 s to shrink].
        pub tasks: Option<PathBuf> = None => Spec::of("FILE");
        /// Scaling curves: the original's pickle of curves.
        pub curves: Option<PathBuf> = None => Spec::of("FILE").requires("tasks");
        /// Maximum number of concurrently active tasks, like the replay option of the same name.
        pub max_tasks: usize = 10 => Spec::of("COUNT").within("at least 1", |count| *count >= 1);
    }
}

/// Remark on the hours and weekdays of a log without a time zone.
const ZONE_UNKNOWN: &str = "the log does not state its time zone: hours and weekdays are taken \
                            from the times as written (set the zone with --timezone)";

/// The inspection of a log.
pub struct Inspected {
    /// The findings.
    pub inspection: Inspection,
    file: PathBuf,
    sources: Vec<SourceId>,
    /// The source of the rescale costs on which the suggested window is based.
    pub costs: CostSource,
}

impl Inspected {
    /// Reads and inspects a log.
    ///
    /// # Errors
    /// The usage is wrong, or an input is unreadable or invalid. [`Error::Stopped`](gleaner_domain::Error::Stopped) if
    /// the observer stops the inspection.
    pub fn of(log: &Path, settings: &InspectionSettings, observer: &dyn Observer) -> Result<Self> {
        settings.check()?;
        let (slice, classes) = (&settings.slice, &settings.classes);
        let read = slice.read_with_still_rows(log, classes, observer)?;
        let costs = costs(settings, read.value.clock(), observer)?;
        if !read.value.clock().is_known() {
            observer.remark(&[ZONE_UNKNOWN.to_owned()]);
        }
        Ok(Inspected {
            inspection: gleaner_inspect::inspect(&read.value, costs.value, observer)?,
            file: log.to_owned(),
            sources: [read.sources, costs.sources].concat(),
            costs: cost_source(settings),
        })
    }

    /// Information about the inspection and its inputs, for a report page. `arguments` are the options that the user
    /// set.
    ///
    /// # Errors
    /// Does not occur in practice, because the arguments can be serialised.
    pub fn info(&self, arguments: &impl Serialize) -> Result<RunInfo> {
        RunInfo::of_this("inspect", &self.file, arguments, &self.sources)
    }

    /// The findings as text.
    pub fn text(&self) -> String {
        text(&printed(&self.inspection, self.costs))
    }
}

fn cost_source(settings: &InspectionSettings) -> CostSource {
    match settings.tasks {
        Some(_) => CostSource::Tasks,
        None => CostSource::Typical,
    }
}

/// The rescale costs, and the files from which they come.
fn costs(
    settings: &InspectionSettings,
    clock: &Clock,
    observer: &dyn Observer,
) -> Result<Loaded<RescaleCosts>> {
    let Some(path) = &settings.tasks else {
        return Ok(Loaded {
            value: RescaleCosts::typical(settings.max_tasks),
            sources: Vec::new(),
            notes: Vec::new(),
        });
    };
    let tasks = gleaner_inputs::tasks::read_on(path, settings.curves.as_deref(), false, clock)?;
    observer.remark(&tasks.notes);
    Ok(Loaded {
        value: RescaleCosts::of(&tasks.value.tasks, tasks.value.at_once(settings.max_tasks)),
        sources: tasks.sources,
        notes: Vec::new(),
    })
}
