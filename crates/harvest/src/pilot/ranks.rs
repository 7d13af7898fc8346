//! The ranks that a pilot knows: those that are running, and those whose end the daemon has not recorded yet.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::mpsc::UnboundedSender;

use super::Happening;
use super::progress::Progress;
use super::rank::Rank;
use crate::core::{Launch, RankReport, RankState, Report, RunId};
use crate::state_dir::StateDir;
use crate::wire::FromPilot;

/// The ranks of a pilot.
#[derive(Debug)]
pub(super) struct Ranks {
    state: Arc<StateDir>,
    inbox: UnboundedSender<Happening>,
    known: BTreeMap<RunId, Known>,
    /// For each task, the latest generation that was forgotten. This generation and all earlier ones are never started
    /// again.
    forgotten: BTreeMap<u32, u32>,
    /// Whether new ranks are refused.
    is_closed: bool,
}

#[derive(Debug)]
struct Known {
    state: RankState,
    /// `None` if the rank was never started or has ended.
    rank: Option<Rank>,
    progress: Arc<Progress>,
}

impl Known {
    /// A rank that was never started and counts as ended.
    fn refused() -> Self {
        Known {
            state: RankState::Exited { code: None },
            rank: None,
            progress: Arc::default(),
        }
    }

    fn is_running(&self) -> bool {
        self.state == RankState::Running
    }
}

impl Ranks {
    pub fn new(state: Arc<StateDir>, inbox: UnboundedSender<Happening>) -> Self {
        Ranks {
            state,
            inbox,
            known: BTreeMap::new(),
            forgotten: BTreeMap::new(),
            is_closed: false,
        }
    }

    /// Reports of the states of all known ranks.
    pub fn reports(&self) -> Vec<RankReport> {
        let known = self.known.iter();
        known
            .map(|(&run, known)| RankReport {
                run,
                state: known.state,
            })
            .collect()
    }

    /// Whether no rank is known.
    pub fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    /// Whether a rank is running.
    pub fn any_running(&self) -> bool {
        self.known.values().any(Known::is_running)
    }

    /// Starts a rank, unless the pilot already knows or has forgotten the rank's run. If the rank is not running
    /// afterwards, returns a report of its end for the daemon.
    pub fn launch(&mut self, launch: Launch) -> Option<FromPilot> {
        let run = launch.run;
        if self.is_forgotten(run) {
            return None;
        }
        if !self.known.contains_key(&run) {
            let known = if self.is_closed {
                Known::refused()
            } else {
                self.start(launch)
            };
            self.known.insert(run, known);
        }
        self.exit(run)
    }

    fn start(&self, launch: Launch) -> Known {
        let progress = Arc::<Progress>::default();
        let (inbox, run) = (self.inbox.clone(), launch.run);
        let report = move |code| {
            // If the inbox is closed, the pilot has ended, and the message is dropped.
            let _ = inbox.send(Happening::Exited { run, code });
        };
        let state = Arc::clone(&self.state);
        Known {
            state: RankState::Running,
            rank: Some(Rank::start(launch, state, Arc::clone(&progress), report)),
            progress,
        }
    }

    /// Ends a rank. An unknown run counts as ended, so a later order to start it has no effect. If the rank has already
    /// ended, returns a report of its end for the daemon.
    pub fn stop(&mut self, run: RunId, kill: bool, grace: Duration) -> Option<FromPilot> {
        if self.is_forgotten(run) {
            return None;
        }
        let known = self.known.entry(run).or_insert_with(Known::refused);
        if let Some(rank) = &known.rank {
            if kill {
                rank.kill();
            } else {
                rank.terminate(grace);
            }
        }
        self.exit(run)
    }

    /// Asks all ranks to end. No more ranks are started.
    pub fn close(&mut self, grace: Duration) {
        self.is_closed = true;
        let ranks = self.known.values().filter_map(|known| known.rank.as_ref());
        ranks.for_each(|rank| rank.terminate(grace));
    }

    /// Passes the new nodes of a run to the run's rank on this node, if the rank is running.
    pub fn set_nodes(&self, run: RunId, nodes: Vec<String>) {
        let rank = self.known.get(&run).and_then(|known| known.rank.as_ref());
        if let Some(rank) = rank {
            rank.set_nodes(nodes);
        }
    }

    /// Records the end of a rank. Returns the messages to the daemon: the rank's last report of progress, and its end.
    pub fn exited(&mut self, run: RunId, code: Option<i32>) -> Vec<FromPilot> {
        let Some(known) = self.known.get_mut(&run) else {
            return Vec::new();
        };
        known.state = RankState::Exited { code };
        known.rank = None;
        let last = self.progress_of(run, Instant::now(), true);
        last.into_iter().chain(self.exit(run)).collect()
    }

    /// Forgets a rank whose end the daemon has recorded.
    pub fn forget(&mut self, run: RunId) {
        if self.known.get(&run).is_some_and(Known::is_running) {
            return;
        }
        self.known.remove(&run);
        let last = self.forgotten.entry(run.task).or_default();
        *last = run.generation.max(*last);
    }

    /// Reports of the ends that the daemon has not recorded yet.
    pub fn exits(&self) -> Vec<FromPilot> {
        let runs = self.known.keys();
        runs.filter_map(|&run| self.exit(run)).collect()
    }

    /// The reports of progress that are due.
    pub fn progress(&self, now: Instant) -> Vec<FromPilot> {
        let runs = self.known.iter();
        runs.filter_map(|(&run, known)| self.progress_of(run, now, !known.is_running()))
            .collect()
    }

    /// Marks all reports of progress as due again, because some may have been lost with the connection.
    pub fn repeat_progress(&self) {
        self.known
            .values()
            .for_each(|known| known.progress.repeat());
    }

    fn progress_of(&self, run: RunId, now: Instant, is_last: bool) -> Option<FromPilot> {
        let Report { done, loss } = self.known.get(&run)?.progress.take(now, is_last)?;
        Some(FromPilot::Progress { run, done, loss })
    }

    fn exit(&self, run: RunId) -> Option<FromPilot> {
        match self.known.get(&run)?.state {
            RankState::Running => None,
            RankState::Exited { code } => Some(FromPilot::Exited { run, code }),
        }
    }

    fn is_forgotten(&self, run: RunId) -> bool {
        let last = self.forgotten.get(&run.task);
        last.is_some_and(|&last| run.generation <= last)
    }
}
