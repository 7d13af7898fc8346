//! The users. Answers can be lost, so users repeat each request until they receive an answer.

use std::collections::BTreeSet;

use gleaner_harvest::core::{Core, Event, Millis};

use crate::checks::Invariant;
use crate::daemon::Fed;
use crate::noise::For;
use crate::plan::Act;
use crate::sabotage::Sabotage;
use crate::trials;
use crate::world::{Happening, World};

/// All requests so far.
#[derive(Debug, Default)]
pub struct Users {
    requests: Vec<Request>,
    /// Tasks of the plan whose submission was acknowledged.
    pub submitted: BTreeSet<usize>,
    /// Tasks of the plan whose cancellation was requested.
    pub cancelled: BTreeSet<usize>,
}

#[derive(Debug, Clone)]
struct Request {
    what: What,
    is_answered: bool,
    attempts: u64,
}

#[derive(Debug, Clone)]
enum What {
    Submit(Vec<usize>),
    SubmitTwice(usize),
    Cancel(usize),
    Drain,
    Resume,
    Stop { at_once: bool },
}

impl Users {
    /// Whether every request has been answered.
    pub fn are_content(&self) -> bool {
        self.requests.iter().all(|request| request.is_answered)
    }
}

impl World {
    /// Sends the request that an act of a user consists of. Other acts are ignored.
    pub fn user_acts(&mut self, act: &Act) {
        match act {
            Act::Submit { tasks } => self.ask(0, What::Submit(tasks.clone())),
            Act::SubmitTwice { task } => self.ask(0, What::SubmitTwice(*task)),
            Act::Cancel { task } => self.ask(0, What::Cancel(*task)),
            Act::Drain { ms } => {
                self.ask(0, What::Drain);
                self.ask(*ms, What::Resume);
            }
            Act::Stop { at_once } => self.ask(0, What::Stop { at_once: *at_once }),
            _ => {}
        }
    }

    /// Ends a drain, if there is one, and submits the last task, so that there is at least one more decision.
    pub fn calm_users(&mut self) {
        self.ask(10_000, What::Resume);
        self.ask(12_000, What::Submit(vec![self.plan.last]));
    }

    /// Stops everything at the end.
    pub fn stop_at_end(&mut self) {
        let at_once = self.plan.last_stop_kills;
        self.ask(0, What::Stop { at_once });
    }

    fn ask(&mut self, ms: Millis, what: What) {
        let request = Request {
            what,
            is_answered: false,
            attempts: 0,
        };
        self.users.requests.push(request);
        self.after(ms, Happening::User(self.users.requests.len() - 1));
    }

    /// Sends a user's request, for the first time or again.
    pub fn request(&mut self, index: usize) {
        let request = &mut self.users.requests[index];
        request.attempts += 1;
        let (what, attempts) = (request.what.clone(), request.attempts);
        let is_late = self.is_calm() && self.ending.is_none();
        let event = match self.event_of(&what, index) {
            Some(event) if !(is_late && matches!(what, What::Drain | What::Stop { .. })) => event,
            _ => {
                self.users.requests[index].is_answered = true;
                return;
            }
        };
        if let What::Cancel(task) = what {
            self.users.cancelled.insert(task);
        }
        let mut draw = self.noise.draw(For::User, &[index as u64, attempts]);
        self.say(|| format!("a user requests: {what:?}"));
        let before = self.daemon.core.as_ref().map(|core| core.status(self.now));
        let is_answer_lost = draw.percent(10) && !self.is_calm();
        let is_answered = match self.feed(event) {
            Fed::Done if is_answer_lost => false,
            Fed::Done => {
                self.granted(&what);
                true
            }
            Fed::Refused(reason) => {
                self.say(|| format!("refused: {reason}"));
                let after = self.daemon.core.as_ref().map(|core| core.status(self.now));
                if before != after {
                    self.fail(
                        Invariant::Submissions,
                        format!("a refusal changed something: {reason}"),
                    );
                }
                !matches!(what, What::Submit(_) | What::Resume)
            }
            Fed::Down => false,
        };
        if is_answered {
            self.users.requests[index].is_answered = true;
        } else {
            self.after(draw.between(1000, 6000), Happening::User(index));
        }
    }

    fn event_of(&self, what: &What, index: usize) -> Option<Event> {
        let submit = |tasks: &[usize]| {
            let groups = self.groups_of(tasks);
            let tasks = tasks.iter().map(|task| &self.plan.tasks[*task]);
            let search = tasks
                .clone()
                .find_map(|task| trials::submission(&self.plan, task));
            let plain = tasks.filter(|task| task.search.is_none());
            let plain = plain.map(|task| {
                let mut submission = task.submission.clone();
                if self.sabotage == Some(Sabotage::WiderBounds) {
                    submission.min_nodes = 1;
                }
                submission
            });
            Event::Submit {
                id: format!("request-{index}"),
                tasks: plain.collect(),
                search,
                groups,
            }
        };
        Some(match what {
            What::Submit(tasks) => submit(tasks),
            What::SubmitTwice(task) if self.users.submitted.contains(task) => submit(&[*task]),
            What::SubmitTwice(_) => return None,
            What::Cancel(task) => {
                let name = &self.plan.tasks[*task].submission.name;
                let core = self.daemon.core.as_ref()?;
                let task = core.task(name).map(|task| Event::Cancel { task });
                task.or_else(|| {
                    Some(Event::CancelSearch {
                        search: core.search(name)?,
                    })
                })?
            }
            What::Drain => Event::Drain,
            What::Resume => Event::Resume,
            What::Stop { at_once } => Event::Stop { at_once: *at_once },
        })
    }

    fn granted(&mut self, what: &What) {
        match what {
            What::Submit(tasks) => self.users.submitted.extend(tasks),
            What::SubmitTwice(task) => {
                self.fail(
                    Invariant::Submissions,
                    format!("task {task} was accepted twice"),
                );
            }
            What::Cancel(_) | What::Stop { .. } | What::Drain | What::Resume => {}
        }
    }

    /// Checks that the core knows every task whose submission was acknowledged.
    pub fn check_submissions(&mut self, core: &Core) {
        let mut submitted = self.users.submitted.iter();
        let lost = submitted.find(|task| {
            let name = &self.plan.tasks[**task].submission.name;
            core.task(name).is_none() && core.search(name).is_none()
        });
        if let Some(lost) = lost {
            self.fail(
                Invariant::Submissions,
                format!("task-{lost} was acknowledged, but is lost"),
            );
        }
    }
}
