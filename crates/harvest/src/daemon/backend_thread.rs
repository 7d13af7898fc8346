//! The thread that calls the backend. A batch scheduler's commands can take seconds, and the keeper must not wait for
//! them.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self as queue, RecvTimeoutError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use gleaner_domain::error::{Error, Result};
use tokio::sync::mpsc;

use super::clock::Clock;
use super::keeper::Message;
use super::log::Log;
use crate::backend::{Backend, Listed, Started};
use crate::core::{Event, Millis, PilotId};

/// Time between two calls of [`Backend::tick`].
const TICK: Duration = Duration::from_millis(200);

/// The longest pause after a failed query.
const LONGEST_PAUSE: Duration = Duration::from_secs(120);

/// A request to the backend.
pub enum Task {
    /// Start a pilot.
    Start {
        /// The pilot to start.
        pilot: PilotId,
        /// Wall time of the pilot, in seconds.
        wall_s: u64,
    },
    /// Cancel a pilot.
    Cancel {
        /// The pilot to cancel.
        pilot: PilotId,
        /// The id that the backend assigned to the pilot, if it is known.
        job: Option<String>,
    },
}

/// A report from the backend.
pub enum News {
    /// The backend has accepted or rejected a pilot.
    Answered(Event),
    /// The result of a query for the backend's pilots.
    Listed {
        /// Time at which the query began.
        began: Millis,
        /// The pilots that the backend listed.
        pilots: Vec<Listed>,
        /// Whether pilots that are running may be missing from the list.
        can_forget: bool,
        /// Whether a heterogeneous job is waiting.
        has_heterogeneous_job: bool,
    },
    /// A problem that the operator must resolve before more pilots are requested.
    Alarm(String),
}

/// The queue of requests to the backend's thread. When the queue is dropped, the thread carries out the remaining
/// requests and then ends.
pub struct BackendQueue(queue::Sender<Task>);

impl BackendQueue {
    /// Adds a request to the end of the queue.
    pub fn add(&self, task: Task) {
        // An error means that the thread has failed; the keeper then ends too.
        let _ = self.0.send(task);
    }
}

/// The backend, and everything else that its thread uses.
pub struct BackendParts {
    /// The backend.
    pub backend: Box<dyn Backend>,
    /// Time between two queries.
    pub poll: Duration,
    /// The daemon's clock.
    pub clock: Clock,
    /// The daemon's log.
    pub log: Log,
    /// The queue of messages to the keeper.
    pub keeper: mpsc::Sender<Message>,
    /// Whether any pilot has not ended.
    pub has_pilots: Arc<AtomicBool>,
}

/// Starts the thread that calls the backend.
///
/// # Errors
/// The system cannot start a thread.
pub fn start(parts: BackendParts) -> Result<(BackendQueue, JoinHandle<()>)> {
    let (sender, receiver) = queue::channel();
    let thread = thread::Builder::new().name("backend".to_owned());
    let worker = Worker {
        pause: parts.poll,
        next: Instant::now(),
        parts,
    };
    let started = thread.spawn(move || worker.run(&receiver));
    let handle = started.map_err(|e| Error::Run(format!("cannot start a thread: {e}")))?;
    Ok((BackendQueue(sender), handle))
}

struct Worker {
    parts: BackendParts,
    /// Time between the last query and the next. It grows while queries fail.
    pause: Duration,
    next: Instant,
}

impl Worker {
    fn run(mut self, tasks: &queue::Receiver<Task>) {
        loop {
            match tasks.recv_timeout(TICK) {
                Ok(task) => self.carry_out(task),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
            self.parts.backend.tick();
            if self.parts.has_pilots.load(Ordering::Relaxed) && Instant::now() >= self.next {
                self.list();
            }
        }
    }

    fn carry_out(&mut self, task: Task) {
        match task {
            Task::Start { pilot, wall_s } => match self.parts.backend.start(pilot, wall_s) {
                Started::Accepted(job) => {
                    self.report(News::Answered(Event::Accepted { pilot, job }))
                }
                Started::Rejected(reason) => {
                    self.report(News::Answered(Event::Rejected { pilot, reason }))
                }
                // Later lists show whether the backend has accepted the pilot.
                Started::Unknown(reason) => {
                    self.say(&format!("{pilot} may have started: {reason}"))
                }
            },
            Task::Cancel { pilot, job } => {
                // If this fails, the next list still contains the pilot, and the pilot is cancelled again.
                if let Err(error) = self.parts.backend.cancel(pilot, job.as_deref()) {
                    self.say(&format!("cannot cancel {pilot}: {error}"));
                }
            }
        }
    }

    fn list(&mut self) {
        let began = self.parts.clock.now();
        match self.parts.backend.list() {
            Ok(pilots) => {
                self.pause = self.parts.poll;
                let can_forget = self.parts.backend.can_forget();
                let has_heterogeneous_job = self.parts.backend.has_heterogeneous_job();
                self.report(News::Listed {
                    began,
                    pilots,
                    can_forget,
                    has_heterogeneous_job,
                });
                while let Some(reason) = self.parts.backend.alarm() {
                    self.report(News::Alarm(reason));
                }
            }
            Err(error) => {
                self.pause = (self.pause * 2).min(LONGEST_PAUSE.max(self.parts.poll));
                let seconds = self.pause.as_secs_f64();
                self.say(&format!(
                    "cannot list the pilots, next attempt in {seconds} s: {error}"
                ));
            }
        }
        self.next = Instant::now() + self.pause;
    }

    fn say(&self, text: &str) {
        (self.parts.log)(text);
    }

    fn report(&self, news: News) {
        // If the keeper has ended, the daemon is about to end.
        let _ = self.parts.keeper.blocking_send(Message::Backend(news));
    }
}
