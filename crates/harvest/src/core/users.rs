//! Handles the requests of users.

use std::collections::BTreeSet;

use gleaner_domain::error::Result;
use gleaner_domain::words::counted;
use gleaner_domain::{Objective, TrainingTask, Utc};

use super::tasks::{Task, TaskState};
use super::{Command, Core, CoreError, Mode, Order, PilotId, PilotState, Submission, Why};

impl Core {
    /// Adds submitted tasks.
    ///
    /// # Errors
    /// The daemon is draining or stopping, or a task is invalid or has the name of an earlier task.
    pub(super) fn submit(&mut self, id: &str, tasks: &[Submission]) -> Result<(), CoreError> {
        if self.submissions.contains(id) {
            return Ok(());
        }
        let now = Utc::from_seconds(self.now.div_euclid(1000));
        let training: Vec<TrainingTask> =
            tasks.iter().map(|task| task.training_task(now)).collect();
        self.check_submission(tasks, &training)?;
        self.submissions.insert(id.to_owned());
        for (submission, training) in tasks.iter().zip(training) {
            let index = self.tasks.len() as u32;
            self.by_name.insert(submission.name.clone(), index);
            self.tasks.push(Task::new(submission.clone(), training));
        }
        self.say(format!("accepted {}", counted(tasks.len(), "task")));
        Ok(())
    }

    fn check_submission(
        &self,
        tasks: &[Submission],
        training: &[TrainingTask],
    ) -> Result<(), CoreError> {
        let refused = |text: String| Err(CoreError::Refused(text));
        match self.mode {
            Mode::Running => {}
            Mode::Draining => {
                return refused(
                    "the daemon is draining: end the drain, and submit again".to_owned(),
                );
            }
            Mode::Stopping => return refused("the daemon is stopping".to_owned()),
        }
        let mut names = BTreeSet::new();
        for task in tasks {
            let name = &task.name;
            if self.by_name.contains_key(name) || !names.insert(name) {
                return refused(format!(
                    "task {name}: another task has this name; give it a new one"
                ));
            }
            if task.command.is_empty() {
                return refused(format!("task {name}: found no command, expected a program"));
            }
        }
        let settings = self.settings.allocator(Objective::default());
        match settings.faults(training) {
            faults if faults.is_empty() => Ok(()),
            faults => refused(faults.join("; ")),
        }
    }

    /// Cancels a task.
    ///
    /// # Errors
    /// There is no such task, or it is already over.
    pub(super) fn cancel(&mut self, task: u32) -> Result<(), CoreError> {
        let Some(found) = self.tasks.get(task as usize) else {
            return Err(CoreError::Refused(format!(
                "there is no task number {task}"
            )));
        };
        if found.state.is_over() {
            let (name, state) = (&found.submission.name, found.state.name());
            return Err(CoreError::Refused(format!(
                "task {name} is already {state}"
            )));
        }
        self.end_task(task, TaskState::Cancelled);
        Ok(())
    }

    /// Begins or ends a drain.
    ///
    /// # Errors
    /// The daemon is stopping.
    pub(super) fn set_mode(&mut self, mode: Mode) -> Result<(), CoreError> {
        if self.mode == Mode::Stopping {
            return Err(CoreError::Refused("the daemon is stopping".to_owned()));
        }
        self.mode = mode;
        Ok(())
    }

    /// Stops everything.
    pub(super) fn stop(&mut self, at_once: bool, commands: &mut Vec<Command>) {
        self.mode = Mode::Stopping;
        self.release(commands);
        if at_once {
            for index in 0..self.tasks.len() as u32 {
                self.stop_run(index, Why::End, commands);
                let run = self.tasks[index as usize].run.as_mut();
                if let Some(stopping) = run.and_then(|run| run.stopping.as_mut()) {
                    stopping.at_once = true;
                }
                if let Some(run) = self.run_of(index) {
                    self.kill(run, commands);
                }
            }
        }
    }

    /// Resumes after a restart of the daemon. A completed stop is over; an incomplete one continues.
    pub(super) fn restart(&mut self, commands: &mut Vec<Command>) {
        if self.is_stopped() {
            self.mode = Mode::Running;
        }
        let dismissed = self.pilots.open.iter();
        let dismissed = dismissed.filter(|(_, pilot)| pilot.is_dismissed);
        commands.extend(dismissed.map(|(&pilot, _)| Command::Cancel { pilot }));
    }

    /// Dismisses all pilots, and cancels those that have not started.
    pub(super) fn release(&mut self, commands: &mut Vec<Command>) {
        self.is_released = true;
        let open: Vec<PilotId> = self.pilots.open.keys().copied().collect();
        for pilot in open {
            self.dismiss(pilot, commands);
        }
    }

    /// Tells a pilot to end. Its ranks are stopped first.
    pub(super) fn dismiss(&mut self, id: PilotId, commands: &mut Vec<Command>) {
        let Some(pilot) = self.pilots.open.get_mut(&id) else {
            return;
        };
        pilot.is_dismissed = true;
        match pilot.state {
            PilotState::Requested => commands.push(Command::Cancel { pilot: id }),
            PilotState::Waiting | PilotState::Up => {
                self.lose(id, PilotState::Leaving);
                if let Some(link) = self.pilots.link(id) {
                    let order = Order::Dismiss;
                    commands.push(Command::Order { link, order });
                }
            }
            PilotState::Silent | PilotState::Leaving | PilotState::Over => {}
        }
    }
}
