//! Answers requests of clients.

use gleaner_domain::error::Result;
use gleaner_domain::words::counted;

use super::Keeper;
use crate::core::{Event, Submission};
use crate::record;
use crate::task_file;
use crate::wire::{Request, Response};

impl Keeper {
    /// Carries out a request, and returns the answer.
    pub(super) fn respond(&mut self, request: Request) -> Result<Response> {
        let (event, text) = match request {
            Request::Status => {
                let now = self.parts.clock.now();
                return Ok(Response::Status(Box::new(self.parts.core.status(now))));
            }
            Request::Record => return Ok(self.record()),
            Request::Submit { id, tasks } => {
                if let Some(reason) = refusal(&id, &tasks) {
                    return Ok(Response::Refused { reason });
                }
                let names: Vec<&str> = tasks.iter().map(|task| task.name.as_str()).collect();
                let count = counted(names.len(), "task");
                let text = format!("submitted {count}: {}", names.join(", "));
                (Event::Submit { id, tasks }, text)
            }
            Request::Cancel { task } => {
                let Some(index) = self.parts.core.task(&task) else {
                    let reason = format!(
                        "there is no task {task:?}: `gleaner harvest tasks` lists all tasks"
                    );
                    return Ok(Response::Refused { reason });
                };
                (Event::Cancel { task: index }, format!("cancelled {task}"))
            }
            Request::Drain => {
                let text = "draining: no more pilots are requested and no tasks accepted; tasks continue on running pilots";
                (Event::Drain, text.to_owned())
            }
            Request::Resume => (Event::Resume, "running again".to_owned()),
            Request::Stop { at_once } => {
                let text = if at_once {
                    "stopping: all tasks are killed, and the daemon ends after the last pilot"
                } else {
                    "stopping: all tasks may write a checkpoint, and the daemon ends after the last pilot"
                };
                (Event::Stop { at_once }, text.to_owned())
            }
        };
        Ok(match self.feed(event)? {
            None => Response::Done { text },
            Some(reason) => Response::Refused { reason },
        })
    }
}

impl Keeper {
    /// Writes the recording.
    fn record(&self) -> Response {
        let directory = &self.parts.recording;
        match record::write(&self.parts.core, self.parts.clock.now(), directory) {
            Ok(()) => Response::Done {
                text: directory.display().to_string(),
            },
            Err(error) => Response::Refused {
                reason: error.to_string(),
            },
        }
    }
}

/// Why a submission is refused before the core sees it.
fn refusal(id: &str, tasks: &[Submission]) -> Option<String> {
    if id.is_empty() || id.len() > 100 {
        return Some("the id of the submission must have 1 to 100 bytes".to_owned());
    }
    let mut faults = tasks.iter().map(task_file::check);
    faults.find_map(Result::err)
}
