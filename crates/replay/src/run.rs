//! The driver of a replay. It feeds the events of the log and the predicted completions to the allocator in
//! chronological order, and books the allocator's decisions in the ledger.

use gleaner_domain::Observer;
use gleaner_domain::error::{Error, Result};
use gleaner_domain::results::replay::{Ended, EventKind, Outcome};
use gleaner_domain::{Change, EventLog, RowQueue, TrainingTask, Utc};

use super::allocator::decide::Decider;
use super::allocator::node_choice::{self, NodeChoice};
use super::allocator::{Allocator, Batch, Progress, Searcher, Settings, Source};
use super::initial::FirstDeal;
use super::ledger::{Closing, Ledger};
use super::options::Options;

/// Replays `tasks` on `log` with the decisions of `decider`. The log must already be sliced and must not be empty.
/// A stopped replay ends at the next event, and its outcome is marked incomplete.
///
/// # Errors
/// The decider fails, its plan cannot be carried out, or a value of the objective is out of range. The
/// forward window, a task or the search in the options is invalid.
pub fn run(
    log: &EventLog,
    tasks: &[TrainingTask],
    options: &Options,
    decider: &mut dyn Decider,
    observer: &dyn Observer,
) -> Result<Outcome> {
    run_with(log, tasks, options, decider, Own::default(), observer)
}

/// Your own implementations of parts of a replay. They replace the implementations that the options specify.
#[derive(Default)]
pub struct Own<'a> {
    /// The choice of nodes for growing tasks.
    pub choice: Option<Box<dyn NodeChoice + 'a>>,
    /// The search whose trials train the tasks.
    pub search: Option<Box<dyn Searcher + 'a>>,
}

/// Like [`run`], but with your own implementations of some parts.
///
/// # Errors
/// Same as [`run`].
pub fn run_with<'a>(
    log: &'a EventLog,
    tasks: &'a [TrainingTask],
    options: &'a Options,
    decider: &'a mut dyn Decider,
    own: Own<'a>,
    observer: &dyn Observer,
) -> Result<Outcome> {
    let Some(&start) = log.times().first() else {
        return Err(Error::Run("the log slice contains no events".into()));
    };
    options.check(tasks)?;
    let mut replay = Replay::new(log, tasks, options, (decider, own), start)?;
    replay.deal(tasks, options)?;
    let mut ended = replay.walk(options.completion_events, observer)?;
    // A stop during the last decision also makes the run incomplete, because a stopped solver keeps the previous
    // allocation.
    if observer.is_stopped() {
        ended = Ended::Interrupted;
    }
    let closing = Closing {
        log,
        options,
        decider: replay.decider,
        ended,
        observer,
    };
    Ok(replay.ledger.close(replay.allocator, closing))
}

/// A step of the replay: an event of the log, or a completion between two events.
#[derive(Debug, Clone, Copy)]
pub(super) struct Step<'c> {
    pub time: Utc,
    /// Index of the event in the log. A completion has the index of the event before it.
    pub event: usize,
    /// Nodes that left and joined.
    pub changes: &'c [Change],
    /// The batch queue, if the log states it.
    pub queue: Option<RowQueue<'c>>,
    pub kind: EventKind,
}

/// A replay in progress.
struct Replay<'a> {
    log: &'a EventLog,
    decider: &'a mut dyn Decider,
    allocator: Allocator<'a>,
    ledger: Ledger,
    /// Buffer for the progress reports of a step.
    progress: Vec<Progress>,
}

impl<'a> Replay<'a> {
    fn new(
        log: &'a EventLog,
        tasks: &'a [TrainingTask],
        options: &'a Options,
        (decider, own): (&'a mut dyn Decider, Own<'a>),
        start: Utc,
    ) -> Result<Self> {
        let nodes = log.nodes().len();
        let source = match (own.search, &options.search) {
            (Some(searcher), _) => Source::Searcher {
                searcher,
                set: tasks,
            },
            (None, Some(search)) => Source::Search {
                search,
                set: tasks,
                seed: options.seed,
            },
            (None, None) if options.repeat_tasks && !tasks.is_empty() => Source::Rounds(tasks),
            (None, None) => Source::Batches,
        };
        let rule = || node_choice::of_rule(options.node_choice, options.node_order.as_deref(), log);
        let choice = own.choice.unwrap_or_else(rule);
        let classes = options.classes(log, tasks)?;
        let settings = Settings {
            classes: classes.clone(),
            ..options.allocator(log.clock().first_offset())
        };
        Ok(Replay {
            ledger: Ledger::new(start, log, classes.as_ref(), decider.name(), options),
            allocator: Allocator::new(settings, source, start, nodes, choice)?,
            log,
            decider,
            progress: Vec::new(),
        })
    }

    /// Carries out event 0: submits the tasks, unless a search or rounds do so, and assigns the idle nodes to the
    /// tasks that become active. Tasks that are submitted after event 0 wait in the allocator.
    fn deal(&mut self, tasks: &[TrainingTask], options: &Options) -> Result<()> {
        let nodes = self.log.changes(0);
        let is_listed = self.allocator.search_name().is_none() && self.allocator.rounds().is_none();
        let batch = Batch {
            nodes,
            submitted: if is_listed { tasks } else { &[] },
            ..Batch::at(0, self.allocator.now())
        };
        let mut decider = FirstDeal {
            initial: options.initial,
            nodes,
            seed: options.seed,
            decider: self.decider,
        };
        let change = self.allocator.advance(&batch, &mut decider)?;
        self.ledger.begin(self.allocator.tasks(), nodes, &change);
        Ok(())
    }

    /// Carries out all events after event 0, and the completions before each of these events. Returns the reason why
    /// the replay ended.
    fn walk(&mut self, completion_events: bool, observer: &dyn Observer) -> Result<Ended> {
        let last_event = self.decider.last_event();
        let log = self.log;
        for (event, (time, changes)) in log.rows().enumerate().skip(1) {
            if observer.is_stopped() {
                return Ok(Ended::Interrupted);
            }
            observer.progress(event, log.len());
            if last_event.is_some_and(|last| event > last) && self.leaves_a_choice(time, changes) {
                return Ok(Ended::ScriptEnded);
            }
            let step = Step {
                time,
                event,
                changes,
                queue: log.queue(event),
                kind: EventKind::Nodes,
            };
            let goes_on = (!completion_events || self.complete_until(time, event - 1)?)
                && self.step(&step)?;
            if !goes_on {
                // A repeated set of tasks ends before the log does only if another round would exceed the limit on
                // tasks.
                return Ok(match self.allocator.rounds() {
                    Some(_) => Ended::TaskLimit,
                    None => Ended::TasksFinished,
                });
            }
        }
        Ok(Ended::LogEnded)
    }

    /// Whether the event at `time` with `changes` requires a decision. It does if it leaves a node idle and a task
    /// unfinished.
    fn leaves_a_choice(&self, time: Utc, changes: &[Change]) -> bool {
        let joined = changes.iter().filter(|c| c.idle()).count();
        let idle = self.allocator.idle() as usize + joined - (changes.len() - joined);
        let all_finish = || {
            let tasks = self.allocator.tasks();
            self.ledger.all_finish_by(tasks, time, changes)
        };
        idle > 0 && (self.allocator.expects_tasks() || !all_finish())
    }

    /// Carries out a step at every completion before `until`. Returns false if the replay is over.
    fn complete_until(&mut self, until: Utc, event: usize) -> Result<bool> {
        while let Some(time) = self.ledger.next_completion().filter(|&t| t < until) {
            let step = Step {
                time,
                event,
                changes: &[],
                queue: None,
                kind: EventKind::Completion,
            };
            if !self.step(&step)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Carries out one step. Returns false if no task is active and none will become active.
    fn step(&mut self, step: &Step<'_>) -> Result<bool> {
        let rate_before = self.ledger.rate();
        let mut finished = self.ledger.advance(self.allocator.tasks(), step);
        self.progress.clear();
        if self.allocator.uses_progress() {
            self.progress.extend(self.ledger.progress());
        }
        let batch = Batch {
            nodes: step.changes,
            progress: &self.progress,
            finished: &finished,
            ..Batch::at(step.event, step.time)
        };
        let change = self.allocator.advance(&batch, self.decider)?;
        finished.retain(|task| !change.extended.iter().any(|of| of.task == *task));
        self.ledger.book(self.allocator.tasks(), &finished, &change);
        let is_over = self.allocator.is_over();
        if is_over {
            self.ledger.end_with_rate(rate_before);
        }
        Ok(!is_over)
    }
}
