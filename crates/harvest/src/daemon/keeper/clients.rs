//! Answers requests from clients.

use gleaner_domain::error::Result;
use gleaner_domain::words::counted;

use super::Keeper;
use crate::core::{Event, SearchSubmission, Submission};
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
            Request::Submit {
                id,
                tasks,
                search,
                groups,
            } => {
                if let Some(reason) = refusal(&id, &tasks, search.as_deref()) {
                    return Ok(Response::Refused { reason });
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
                    return Ok(Response::Refused { reason });
                };
                (event, format!("cancelled {task}"))
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

/// The reason to refuse a submission before it reaches the core, if any.
fn refusal(id: &str, tasks: &[Submission], search: Option<&SearchSubmission>) -> Option<String> {
    if id.is_empty() || id.len() > 100 {
        return Some("the id of the submission must have 1 to 100 bytes".to_owned());
    }
    let trained = search.map_or(&[][..], |search| &search.tasks);
    let mut faults = tasks.iter().chain(trained).map(task_file::check);
    let name = search.and_then(|search| task_file::check_name(&search.name).err());
    name.or_else(|| faults.find_map(Result::err))
}

/// What was submitted, in a sentence.
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
