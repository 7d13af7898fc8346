//! The recording of a harvest: its events and decisions.
//!
//! | file | content |
//! |---|---|
//! | `events.csv` | an event log, with one event per batch. A node is idle while its pilot holds it |
//! | `batches.jsonl` | every batch that the allocator received, with the resulting decision. A batch contains nodes, submissions, groups, reported progress, completions, and measured curves and costs |
//! | `tasks.json` | the tasks for `gleaner replay`, with their groups and submission times. Their work is infinite, because the script determines when they hold nodes |
//! | `alloc.jsonl` | the script of `gleaner replay --scripted`: the nodes of each task after each event |
//! | `harvest.json` | the settings, and the start time of the harvest in seconds since 1970 |
//!
//! [`Recording::repeat`] passes the batches to a new allocator, which must make the same decisions.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use gleaner_domain::error::{Error, Fault, Result};
use gleaner_domain::{TaskGroup, TrainingTask, Utc};
use gleaner_io::fault::Place;
use gleaner_io::files::{self, AtomicFile};
use gleaner_replay::Decider;
use gleaner_replay::allocator::Allocator;
use serde::{Deserialize, Serialize};

use crate::core::{Capture, Core, GroupSubmission, Millis, Recorded, Repeat, Settings, parts_of};

/// Name of the event log.
pub const EVENTS: &str = "events.csv";
/// Name of the file with the batches.
pub const BATCHES: &str = "batches.jsonl";
/// Name of the task file.
pub const TASKS: &str = "tasks.json";
/// Name of the script.
pub const SCRIPT: &str = "alloc.jsonl";
/// Name of the file with the settings and the start time of the harvest.
pub const ABOUT: &str = "harvest.json";
/// Names of all files of a recording.
pub const FILES: [&str; 5] = [EVENTS, BATCHES, TASKS, SCRIPT, ABOUT];

/// A recording read from a directory.
#[derive(Debug, Clone, PartialEq)]
pub struct Recording {
    about: About,
    batches: Vec<Recorded>,
}

/// The content of `harvest.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct About {
    /// Time at which the harvest began, in seconds since 1970.
    begun: i64,
    settings: Settings,
}

/// The data of the core that a recording contains in addition to the batches.
#[derive(Debug, Clone)]
pub struct Outline {
    /// Time at which the harvest began.
    begun: Millis,
    settings: Settings,
    /// Names of the nodes by index.
    nodes: BTreeMap<u32, String>,
}

impl Outline {
    /// Copies the outline from the core.
    pub fn of(core: &Core) -> Self {
        Outline {
            begun: core.begun(),
            settings: core.settings().clone(),
            nodes: core.node_names().clone(),
        }
    }

    fn node(&self, node: u32) -> &str {
        self.nodes.get(&node).map_or("", String::as_str)
    }
}

/// Writes the recording of a harvest to a directory. It contains `batches`, which must be in order, and ends at the
/// time `now`. Batches are read one at a time, so memory use grows with the number of tasks, not with the number of
/// batches.
///
/// # Errors
/// A batch cannot be read, or a file cannot be written.
pub fn write(
    outline: &Outline,
    batches: impl Iterator<Item = Result<Recorded>>,
    now: Millis,
    directory: &Path,
) -> Result<()> {
    fs::create_dir_all(directory).map_err(|e| Error::io("create", directory, e))?;
    let mut writer = Writer::begin(outline, directory)?;
    for batch in batches {
        writer.add(&batch?)?;
    }
    writer.finish(now.div_euclid(1000))
}

fn json(value: &impl Serialize) -> Result<String> {
    let line = serde_json::to_string(value);
    let line = line.map_err(|error| Error::Run(format!("cannot write JSON: {error}")))?;
    Ok(line + "\n")
}

/// A file that is written line by line.
struct Lines {
    path: PathBuf,
    file: AtomicFile,
}

impl Lines {
    fn create(directory: &Path, name: &str) -> Result<Self> {
        let path = directory.join(name);
        let file = AtomicFile::create(&path)?;
        Ok(Lines { path, file })
    }

    fn write(&mut self, text: &str) -> Result<()> {
        let written = self.file.write_all(text.as_bytes());
        written.map_err(|e| Error::io("write", &self.path, e))
    }
}

/// Writes the files of a recording, batch by batch.
struct Writer<'o> {
    outline: &'o Outline,
    directory: &'o Path,
    events: Lines,
    batches: Lines,
    script: Lines,
    tasks: Vec<TrainingTask>,
    groups: Groups,
    /// An allocator that repeats the recorded decisions.
    allocator: Allocator<'static>,
    count: usize,
    /// Time of the last batch, in seconds since 1970.
    last: i64,
}

/// A line of the script.
#[derive(Serialize)]
struct Line<'c> {
    event: usize,
    allocation: BTreeMap<&'c str, Vec<&'c str>>,
}

impl<'o> Writer<'o> {
    /// Creates the files. The first event of the log marks the beginning of the harvest; no decision belongs to it.
    fn begin(outline: &'o Outline, directory: &'o Path) -> Result<Self> {
        let begun = outline.begun.div_euclid(1000);
        let mut writer = Writer {
            outline,
            directory,
            events: Lines::create(directory, EVENTS)?,
            batches: Lines::create(directory, BATCHES)?,
            script: Lines::create(directory, SCRIPT)?,
            tasks: Vec::new(),
            groups: Groups::default(),
            allocator: outline.settings.new_allocator(Utc::from_seconds(begun))?,
            count: 0,
            last: begun,
        };
        let class = if writer.has_classes() { ",class" } else { "" };
        writer.events.write(&format!("time,node,state{class}\n"))?;
        writer.begin_event(begun)?;
        Ok(writer)
    }

    fn has_classes(&self) -> bool {
        !self.outline.settings.classes.is_empty()
    }

    /// Begins an event of the log with a row without a node. If there are classes, the log has a column for them.
    fn begin_event(&mut self, second: i64) -> Result<()> {
        self.last = second;
        let end = if self.has_classes() { "," } else { "" };
        self.events.write(&format!("{second},,{end}\n"))
    }

    fn add(&mut self, batch: &Recorded) -> Result<()> {
        self.batches.write(&json(batch)?)?;
        self.begin_event(batch.second)?;
        for &(node, idle) in &batch.nodes {
            let (second, state) = (batch.second, u8::from(idle));
            let class = self.outline.settings.class_name(node);
            let class = class.map_or(String::new(), |class| format!(",{class}"));
            let name = self.outline.node(node);
            self.events
                .write(&format!("{second},{name},{state}{class}\n"))?;
        }
        let second = Utc::from_seconds(batch.second);
        let tasks = batch.submitted.iter().map(|task| TrainingTask {
            work: f64::INFINITY,
            ..task.training_task(second)
        });
        self.tasks.extend(tasks);
        self.groups.add(&batch.groups);
        let parts = parts_of(batch);
        let mut decider = Repeat(batch.decision.as_ref());
        let advanced = self
            .allocator
            .advance(&parts.batch(self.count, batch.second), &mut decider);
        advanced.map_err(Error::from)?;
        self.count += 1;
        self.write_allocation(self.count)
    }

    /// Writes the nodes of each task after an event.
    fn write_allocation(&mut self, event: usize) -> Result<()> {
        let mut allocation: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for holding in self.allocator.holdings() {
            let name = &self.tasks[holding.task as usize].name;
            let nodes = allocation.entry(name).or_default();
            nodes.push(self.outline.node(holding.node));
        }
        let line = json(&Line { event, allocation })?;
        self.script.write(&line)
    }

    /// Finishes the files. The last event of the log marks the end of the recording, at which all tasks keep their
    /// nodes.
    fn finish(mut self, now_s: i64) -> Result<()> {
        self.write_allocation(self.count + 1)?;
        if self.last < now_s {
            self.begin_event(now_s)?;
        }
        for lines in [self.events, self.batches, self.script] {
            lines.file.finish()?;
        }
        let path = self.directory.join(TASKS);
        gleaner_inputs::write::tasks::write_grouped(&self.tasks, &self.groups.joined, &path)?;
        let about = About {
            begun: self.outline.begun.div_euclid(1000),
            settings: self.outline.settings.clone(),
        };
        files::write_bytes(&self.directory.join(ABOUT), json(&about)?.as_bytes())
    }
}

/// The groups in the order in which the allocator received them, each with all of its tasks.
#[derive(Default)]
struct Groups {
    joined: Vec<TaskGroup>,
    places: BTreeMap<String, usize>,
}

impl Groups {
    fn add(&mut self, groups: &[GroupSubmission]) {
        for group in groups {
            if let Some(&place) = self.places.get(&group.name) {
                self.joined[place].tasks.extend_from_slice(&group.tasks);
            } else {
                self.places.insert(group.name.clone(), self.joined.len());
                self.joined.push(group.task_group());
            }
        }
    }
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

    /// Passes the batches to a new allocator. Returns the line number of the first batch whose decision differs from
    /// the recorded one; `None` if all decisions agree.
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
    use crate::core::{Event, Hello, Link, Submission};
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

    fn write_all(core: &mut Core, directory: &Path) {
        let batches = core.take_recorded().into_iter().map(Ok);
        write(&Outline::of(core), batches, 9000, directory).unwrap();
    }

    #[test]
    fn recorded_decisions_can_be_repeated() {
        let folder = tempfile::tempdir().unwrap();
        write_all(&mut harvested(Vec::new()), folder.path());
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
        let mut core = harvested(vec![group]);
        let status = core.status(9000);
        let used = status.nodes.iter().filter(|node| node.task.is_some());
        assert_eq!(used.count(), 1);
        assert_eq!(status.tasks[0].groups, ["g"]);
        write_all(&mut core, folder.path());
        let recording = Recording::read(folder.path()).unwrap();
        assert_eq!(recording.repeat(&mut exact()).unwrap(), None);
        let set = gleaner_inputs::tasks::read(&folder.path().join(TASKS), None, false);
        let groups = set.unwrap().value.groups;
        assert_eq!((groups.len(), groups[0].max_nodes), (1, Some(1)));
        assert_eq!(groups[0].tasks, ["a", "b"]);
        // With a maximum of 2 nodes, the first decision would give both nodes to the first task.
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
        write_all(&mut harvested(Vec::new()), folder.path());
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
