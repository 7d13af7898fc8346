//! Answers requests from clients.

use std::sync::{Arc, PoisonError};

use gleaner_domain::error::Result;
use gleaner_domain::words::counted;
use tokio::sync::oneshot;

use super::{Keeper, Output};
use crate::core::{Event, SearchSubmission, Submission};
use crate::record::{self, Outline};
use crate::task_file;
use crate::wire::{Request, Response};

impl Keeper {
    /// Carries out a request. The answer is sent once the events of the batch are in the journal. Another thread writes
    /// recordings and answers requests for them.
    pub(super) fn client(
        &mut self,
        request: Request,
        answer: oneshot::Sender<Response>,
    ) -> Result<()> {
        let (event, text) = match request {
            Request::Status => {
                let now = self.parts.clock.now();
                let status = Box::new(self.parts.core.status(now));
                return self.answer(answer, Response::Status(status));
            }
            Request::Record => {
                self.outputs.push(Output::Record(answer));
                return Ok(());
            }
            Request::Submit {
                id,
                tasks,
                search,
                groups,
            } => {
                if let Some(reason) = refusal(&id, &tasks, search.as_deref()) {
                    return self.answer(answer, Response::Refused { reason });
                }
                let text = submitted(&tasks, search.as_deref());
                let event = Event::Submit {
                    id,
                    tasks,
                    search,
                    groups,
                };
                (event, text)
            }
            Request::Cancel { task } => {
                let core = &self.parts.core;
                let of_task = core.task(&task).map(|task| Event::Cancel { task });
                let of_search = || {
                    core.search(&task)
                        .map(|search| Event::CancelSearch { search })
                };
                let Some(event) = of_task.or_else(of_search) else {
                    let reason = format!(
                        "there is no task or search {task:?}: `gleaner harvest tasks` lists all tasks"
                    );
                    return self.answer(answer, Response::Refused { reason });
                };
                (event, format!("cancelled {task}"))
            }
            Request::Drain => {
                let text = "draining: no more pilots are requested, and no more tasks are accepted; tasks continue on \
                            running pilots";
                (Event::Drain, text.to_owned())
            }
            Request::Resume => (Event::Resume, "running again".to_owned()),
            Request::Stop { at_once } => {
                let text = if at_once {
                    "stopping: all tasks are killed, and the daemon ends after the last pilot"
                } else {
                    "stopping: tasks get time to write a checkpoint, and the daemon ends after the last pilot"
                };
                (Event::Stop { at_once }, text.to_owned())
            }
        };
        let response = match self.feed(event)? {
            None => Response::Done { text },
            Some(reason) => Response::Refused { reason },
        };
        self.answer(answer, response)
    }

    fn answer(&mut self, answer: oneshot::Sender<Response>, response: Response) -> Result<()> {
        self.outputs.push(Output::Answer(answer, response));
        Ok(())
    }
}

impl Keeper {
    /// Writes the recording in a separate thread, and then answers. Writing can take a long time, and the keeper can
    /// append to the journal in the meantime.
    pub(super) fn record(&self, answer: oneshot::Sender<Response>) {
        let parts = &self.parts;
        let (outline, now) = (Outline::of(&parts.core), parts.clock.now());
        let (directory, batches) = (parts.recording.clone(), parts.journal.batches());
        let is_recording = Arc::clone(&self.is_recording);
        let write = move || {
            // The lock protects no data, so a panic while it was held does no harm.
            let _locked = is_recording.lock().unwrap_or_else(PoisonError::into_inner);
            let written = batches.and_then(|all| record::write(&outline, all, now, &directory));
            let response = match written {
                Ok(()) => Response::Done {
                    text: directory.display().to_string(),
                },
                Err(error) => Response::Refused {
                    reason: error.to_string(),
                },
            };
            // A client that has closed its connection gets no answer.
            drop(answer.send(response));
        };
        let thread = std::thread::Builder::new().name("recording".to_owned());
        if let Err(error) = thread.spawn(write) {
            self.say(&format!("cannot start a thread for the recording: {error}"));
        }
    }
}

/// The reason to refuse a submission before it is passed to the core; `None` if there is no such reason.
fn refusal(id: &str, tasks: &[Submission], search: Option<&SearchSubmission>) -> Option<String> {
    if id.is_empty() || id.len() > 100 {
        return Some("the id of the submission must have 1 to 100 bytes".to_owned());
    }
    let trained = search.map_or(&[][..], |search| &search.tasks);
    let mut faults = tasks.iter().chain(trained).map(task_file::check);
    let name = search.and_then(|search| task_file::check_name(&search.name).err());
    name.or_else(|| faults.find_map(Result::err))
}

/// Describes a submission in one sentence.
fn submitted(tasks: &[Submission], search: Option<&SearchSubmission>) -> String {
    let names = |tasks: &[Submission]| {
        let names: Vec<&str> = tasks.iter().map(|task| task.name.as_str()).collect();
        names.join(", ")
    };
    match search {
        Some(search) => {
            let (name, trials) = (&search.name, counted(search.plan.all_trials(), "trial"));
            format!(
                "submitted search {name}: {trials} of {}",
                names(&search.tasks)
            )
        }
        None => format!(
            "submitted {}: {}",
            counted(tasks.len(), "task"),
            names(tasks)
        ),
    }
}
