//! The recording of a harvest: what happened and what was decided.
//!
//! | file | content |
//! |---|---|
//! | `events.csv` | an event log, with one event per batch. A node is idle while its pilot holds it |
//! | `batches.jsonl` | every batch that the allocator received, with its decision: nodes, submissions, groups, reported progress, completions, and each measured curve and cost |
//! | `tasks.json` | the tasks for `gleaner replay`, with their groups and submission times. Their work is infinite, because the script determines when they hold nodes |
//! | `alloc.jsonl` | the script of `gleaner replay --scripted`: the nodes of each task after each event |
//! | `harvest.json` | the settings, and the second at which the harvest began |
//!
//! [`Recording::repeat`] passes the batches to a new allocator, which must make the same decisions.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use gleaner_domain::error::{Error, Fault, Result};
use gleaner_domain::{TaskGroup, TrainingTask, Utc};
use gleaner_io::fault::Place;
use gleaner_io::files;
use gleaner_replay::Decider;
use serde::{Deserialize, Serialize};

use crate::core::{Capture, Core, Millis, Recorded, Repeat, Settings, parts_of};

/// Name of the event log.
pub const EVENTS: &str = "events.csv";
/// Name of the file of batches.
pub const BATCHES: &str = "batches.jsonl";
/// Name of the file of tasks.
pub const TASKS: &str = "tasks.json";
/// Name of the script.
pub const SCRIPT: &str = "alloc.jsonl";
/// Name of the file of settings.
pub const ABOUT: &str = "harvest.json";
/// All files of a recording.
pub const FILES: [&str; 5] = [EVENTS, BATCHES, TASKS, SCRIPT, ABOUT];

/// A recording read from a directory.
#[derive(Debug, Clone, PartialEq)]
pub struct Recording {
    about: About,
    batches: Vec<Recorded>,
}

/// The file of settings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct About {
    /// Second at which the harvest began.
    begun: i64,
    settings: Settings,
}

/// Writes the recording of a harvest to a directory. `core` is the state of the harvest at the time `now`.
///
/// # Errors
/// A file cannot be written.
pub fn write(core: &Core, now: Millis, directory: &Path) -> Result<()> {
    fs::create_dir_all(directory).map_err(|e| Error::io("create", directory, e))?;
    let about = About {
        begun: core.begun().div_euclid(1000),
        settings: core.settings().clone(),
    };
    let events = events(core, now.div_euclid(1000));
    files::write_bytes(&directory.join(EVENTS), events.as_bytes())?;
    let lines: Result<Vec<String>> = core.recorded().iter().map(json).collect();
    files::write_bytes(&directory.join(BATCHES), lines?.concat().as_bytes())?;
    let tasks_path = directory.join(TASKS);
    gleaner_inputs::write::tasks::write_grouped(&tasks(core), &groups(core), &tasks_path)?;
    files::write_bytes(
        &directory.join(SCRIPT),
        script(core, about.begun)?.as_bytes(),
    )?;
    files::write_bytes(&directory.join(ABOUT), json(&about)?.as_bytes())
}

fn json(value: &impl Serialize) -> Result<String> {
    let line = serde_json::to_string(value);
    let line = line.map_err(|error| Error::Run(format!("cannot write JSON: {error}")))?;
    Ok(line + "\n")
}

/// The tasks in the order of submission.
fn tasks(core: &Core) -> Vec<TrainingTask> {
    let submitted = core.recorded().iter().flat_map(|recorded| {
        let second = Utc::from_seconds(recorded.second);
        let tasks = recorded.submitted.iter();
        tasks.map(move |task| TrainingTask {
            work: f64::INFINITY,
            ..task.training_task(second)
        })
    });
    submitted.collect()
}

/// The groups in the order in which the allocator received them, each with all of its tasks.
fn groups(core: &Core) -> Vec<TaskGroup> {
    let mut groups: Vec<TaskGroup> = Vec::new();
    let mut places: BTreeMap<&str, usize> = BTreeMap::new();
    for group in core.recorded().iter().flat_map(|batch| &batch.groups) {
        match places.get(group.name.as_str()) {
            Some(&place) => groups[place].tasks.extend_from_slice(&group.tasks),
            None => {
                places.insert(&group.name, groups.len());
                groups.push(group.task_group());
            }
        }
    }
    groups
}

/// A line of the script.
#[derive(Serialize)]
struct Line<'c> {
    event: usize,
    allocation: BTreeMap<&'c str, Vec<&'c str>>,
}

/// The script as lines of JSON. The decisions are those of the recording. The log's first event marks the beginning of
/// the harvest and has no decision. Its last event marks the end, at which the tasks keep their nodes.
fn script(core: &Core, begun: i64) -> Result<String> {
    let mut allocator = core.settings().new_allocator(Utc::from_seconds(begun))?;
    let mut text = String::new();
    let mut last = BTreeMap::new();
    for (event, batch) in core.recorded().iter().enumerate() {
        let mut decider = Repeat(batch.decision.as_ref());
        let advanced = allocator.advance(&parts_of(batch).batch(event, batch.second), &mut decider);
        advanced.map_err(Error::from)?;
        let mut allocation: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for holding in allocator.holdings() {
            let nodes = allocation.entry(core.task_name(holding.task)).or_default();
            nodes.push(core.node_name(holding.node));
        }
        last.clone_from(&allocation);
        let event = event + 1;
        text += &json(&Line { event, allocation })?;
    }
    let (event, allocation) = (core.recorded().len() + 1, last);
    text += &json(&Line { event, allocation })?;
    Ok(text)
}

/// The event log as CSV. A row without a node begins an event. If there are classes, the log has a column for them.
fn events(core: &Core, now_s: i64) -> String {
    let begun = core.begun().div_euclid(1000);
    let has_classes = !core.settings().classes.is_empty();
    let (head, end) = if has_classes {
        (",class", ",")
    } else {
        ("", "")
    };
    let mut csv = format!("time,node,state{head}\n{begun},,{end}\n");
    let mut last = begun;
    for recorded in core.recorded() {
        last = recorded.second;
        let _ = writeln!(csv, "{last},,{end}");
        for &(node, idle) in &recorded.nodes {
            let (name, state) = (core.node_name(node), u8::from(idle));
            let class = core.settings().class_name(node).unwrap_or_default();
            let _ = writeln!(csv, "{last},{name},{state}{end}{class}");
        }
    }
    if last < now_s {
        let _ = writeln!(csv, "{now_s},,{end}");
    }
    csv
}

impl Recording {
    /// Reads a recording.
    ///
    /// # Errors
    /// A file cannot be read, or is not part of a recording.
    pub fn read(directory: &Path) -> Result<Self> {
        let (about, batches) = (directory.join(ABOUT), directory.join(BATCHES));
        let text = |path: &Path| fs::read_to_string(path).map_err(|e| Error::io("read", path, e));
        let lines = text(&batches)?;
        let lines = (1..).zip(lines.lines());
        let batch = |(number, line): (u64, &str)| parsed(&batches, number, line);
        Ok(Recording {
            about: parsed(&about, 1, &text(&about)?)?,
            batches: lines.map(batch).collect::<Result<_>>()?,
        })
    }

    /// The settings of the daemon.
    pub fn settings(&self) -> &Settings {
        &self.about.settings
    }

    /// Number of batches that led to a decision.
    pub fn decisions(&self) -> usize {
        let decided = self.batches.iter().filter(|batch| batch.decision.is_some());
        decided.count()
    }

    /// Passes the batches to a new allocator. Returns the line of the first batch whose decision differs; `None` if all
    /// decisions are equal.
    ///
    /// # Errors
    /// The allocator rejects a batch, or the decider fails.
    pub fn repeat(&self, decider: &mut dyn Decider) -> Result<Option<usize>> {
        let begun = Utc::from_seconds(self.about.begun);
        let mut allocator = self.about.settings.new_allocator(begun)?;
        for (event, batch) in self.batches.iter().enumerate() {
            let mut capture = Capture::of(decider);
            let parts = parts_of(batch);
            let advanced = allocator.advance(&parts.batch(event, batch.second), &mut capture);
            advanced.map_err(Error::from)?;
            let is_same = match (&capture.kept, &batch.decision) {
                (Some(again), Some(then)) => again.is_same_plan(then),
                (again, then) => again.is_none() && then.is_none(),
            };
            if !is_same {
                return Ok(Some(event + 1));
            }
        }
        Ok(None)
    }
}

fn parsed<T: for<'de> Deserialize<'de>>(path: &Path, line: u64, text: &str) -> Result<T> {
    serde_json::from_str(text).map_err(|error| {
        let fault = Fault::of(path, error.to_string(), "a line of a harvest's recording");
        fault.at(Place::Line(line)).into()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::{Event, GroupSubmission, Hello, Link, Submission};
    use gleaner_replay::SolverDecider;
    use gleaner_solvers::{Limits, SolverKind, SolverSpec};

    fn exact() -> SolverDecider {
        SolverDecider::new(SolverSpec::new(SolverKind::Exact), Limits::default()).unwrap()
    }

    /// Two tasks are submitted at second 1, two nodes join at second 2, and one leaves at second 5.
    fn harvested(groups: Vec<GroupSubmission>) -> Core {
        let mut core = Core::new(crate::config::Config::example().core, 0).unwrap();
        let mut decider = exact();
        let mut handle = |now, event| {
            core.handle(now, &event, &mut decider).unwrap();
        };
        let submit = Event::Submit {
            id: "1".to_owned(),
            tasks: ["a", "b"].map(Submission::example).to_vec(),
            search: None,
            groups,
        };
        handle(1000, submit);
        for pilot in [1, 2] {
            handle(1500, Event::Request { wall_s: 600 });
            let link = Link {
                pilot: crate::core::PilotId(pilot),
                session: 1,
            };
            let hello = Event::Hello(Hello {
                link,
                node: format!("n{pilot}"),
                class: None,
                ends: None,
                ranks: Vec::new(),
                leaving: false,
            });
            handle(2000, hello);
        }
        handle(2500, Event::Decide);
        let link = Link {
            pilot: crate::core::PilotId(2),
            session: 1,
        };
        handle(5000, Event::Leaving { link });
        handle(5100, Event::Decide);
        core
    }

    #[test]
    fn recorded_decisions_can_be_repeated() {
        let folder = tempfile::tempdir().unwrap();
        write(&harvested(Vec::new()), 9000, folder.path()).unwrap();
        let recording = Recording::read(folder.path()).unwrap();
        assert_eq!(recording.decisions(), 2);
        assert_eq!(recording.repeat(&mut exact()).unwrap(), None);
        let log = gleaner_inputs::events::read(&folder.path().join(EVENTS)).unwrap();
        // n1 is idle from second 2 to 9, and n2 from 2 to 5.
        assert_eq!(log.value.idle_node_seconds(), 10.0);
    }

    #[test]
    fn groups_are_recorded() {
        let folder = tempfile::tempdir().unwrap();
        let group = GroupSubmission {
            name: "g".to_owned(),
            tasks: vec!["b".to_owned(), "a".to_owned()],
            min_nodes: None,
            max_nodes: Some(1),
        };
        let core = harvested(vec![group]);
        let status = core.status(9000);
        let used = status.nodes.iter().filter(|node| node.task.is_some());
        assert_eq!(used.count(), 1);
        assert_eq!(status.tasks[0].groups, ["g"]);
        write(&core, 9000, folder.path()).unwrap();
        let recording = Recording::read(folder.path()).unwrap();
        assert_eq!(recording.repeat(&mut exact()).unwrap(), None);
        let set = gleaner_inputs::tasks::read(&folder.path().join(TASKS), None, false);
        let groups = set.unwrap().value.groups;
        assert_eq!((groups.len(), groups[0].max_nodes), (1, Some(1)));
        assert_eq!(groups[0].tasks, ["a", "b"]);
        // Without the group, the first decision gives both nodes to the first task.
        let path = folder.path().join(BATCHES);
        let text = fs::read_to_string(&path).unwrap();
        fs::write(
            &path,
            text.replacen("\"max_nodes\":1}", "\"max_nodes\":2}", 1),
        )
        .unwrap();
        let recording = Recording::read(folder.path()).unwrap();
        assert_eq!(recording.repeat(&mut exact()).unwrap(), Some(1));
    }

    #[test]
    fn another_decision_is_noticed() {
        let folder = tempfile::tempdir().unwrap();
        write(&harvested(Vec::new()), 9000, folder.path()).unwrap();
        let path = folder.path().join(BATCHES);
        let text = fs::read_to_string(&path).unwrap();
        // After the first decision, the first task holds both nodes.
        let changed = text.replacen("\"counts\":[2,0]", "\"counts\":[1,1]", 1);
        assert_ne!(changed, text);
        fs::write(&path, changed).unwrap();
        let recording = Recording::read(folder.path()).unwrap();
        assert_eq!(recording.repeat(&mut exact()).unwrap(), Some(1));
        fs::write(&path, "{}\n").unwrap();
        let error = Recording::read(folder.path()).unwrap_err().to_string();
        assert!(error.contains("batches.jsonl, line 1"), "{error}");
    }
}
