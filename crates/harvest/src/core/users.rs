//! Handles the requests of users, such as submissions, cancellations and stops.

use std::collections::BTreeSet;

use gleaner_domain::error::Result;
use gleaner_domain::words::counted;
use gleaner_domain::{TrainingTask, Utc};

use super::tasks::TaskState;
use super::{
    Command, Core, CoreError, GroupSubmission, Mode, Order, PilotId, PilotState, SearchSubmission,
    Settings, Submission, Why,
};

impl Core {
    /// Adds submitted tasks and a submitted search, with the groups of their tasks.
    ///
    /// # Errors
    /// The daemon is draining or stopping, or a task, the search or a group is invalid or has a name that is in use.
    pub(super) fn submit(
        &mut self,
        id: &str,
        tasks: &[Submission],
        search: Option<&SearchSubmission>,
        groups: &[GroupSubmission],
    ) -> Result<(), CoreError> {
        if self.submissions.contains(id) {
            return Ok(());
        }
        self.check_mode()?;
        let trained = search.map_or(&[][..], |search| &search.tasks);
        let training = self.check_tasks(&[tasks, trained].concat())?;
        let checked = self.check_groups(groups, &training);
        checked.map_err(CoreError::Refused)?;
        let begun = search.map(|search| self.begin_search(search, tasks));
        let begun = begun.transpose()?;
        self.submissions.insert(id.to_owned());
        self.groups.add(groups);
        for task in tasks {
            self.add_task(task.clone());
        }
        if !tasks.is_empty() {
            self.say(format!("accepted {}", counted(tasks.len(), "task")));
        }
        if let Some(search) = begun {
            self.say(format!("accepted search {}", search.name()));
            self.searches.push(search);
        }
        Ok(())
    }

    fn check_mode(&self) -> Result<(), CoreError> {
        let reason = match self.mode {
            Mode::Running => return Ok(()),
            Mode::Draining => "the daemon is draining: run `gleaner harvest drain --off` first",
            Mode::Stopping => "the daemon is stopping",
        };
        Err(CoreError::Refused(reason.to_owned()))
    }

    /// Checks tasks that are about to be added, or that the trials of a search will train. Returns them as the
    /// allocator sees them.
    ///
    /// # Errors
    /// A task is invalid or has a name that is in use.
    fn check_tasks(&self, tasks: &[Submission]) -> Result<Vec<TrainingTask>, CoreError> {
        let refused = |text: String| Err(CoreError::Refused(text));
        let mut names = BTreeSet::new();
        for task in tasks {
            let name = &task.name;
            if self.is_taken(name) || !names.insert(name) {
                return refused(format!(
                    "task {name}: another task or search has this name; rename this task"
                ));
            }
            if task.command.is_empty() {
                return refused(format!("task {name}: found no command, expected a program"));
            }
            if let Err(reason) = self.settings.check_terms(&task.classes) {
                return refused(format!("task {name}: {reason}"));
            }
        }
        let now = Utc::from_seconds(self.now.div_euclid(1000));
        let training = tasks.iter().map(|task| task.training_task(now));
        let training: Vec<TrainingTask> = training.collect();
        match self.settings.faults(&training) {
            faults if faults.is_empty() => Ok(training),
            faults => refused(faults.join("; ")),
        }
    }

    /// Whether this is the name of a task, of a search, or of a task that the trials of a search train.
    pub(super) fn is_taken(&self, name: &str) -> bool {
        let mut searches = self.searches.iter();
        self.by_name.contains_key(name) || searches.any(|search| search.has_name(name))
    }

    /// Cancels a task.
    ///
    /// # Errors
    /// There is no task with this index, or the task is already over.
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

    /// Stops the daemon: dismisses all pilots and, if `at_once` is true, kills all runs.
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

    /// Resumes after a restart of the daemon. If the daemon had been stopped and all pilots had ended, tasks can run
    /// again. An incomplete stop continues. Pilots that were dismissed are cancelled again, because the first request
    /// may have been lost.
    pub(super) fn restart(&mut self, commands: &mut Vec<Command>) {
        if self.is_stopped() {
            self.mode = Mode::Running;
        }
        let dismissed = self.pilots.open.iter();
        let dismissed = dismissed.filter(|(_, pilot)| pilot.is_dismissed);
        commands.extend(dismissed.map(|(&pilot, _)| Command::Cancel { pilot }));
    }

    /// Replaces the settings.
    ///
    /// # Errors
    /// A setting that must not change has changed.
    pub(super) fn change(&mut self, settings: &Settings) -> Result<(), CoreError> {
        let has_pilots = !self.pilots.open.is_empty();
        let checked = settings.check_change(&self.settings, has_pilots);
        checked.map_err(CoreError::Refused)?;
        for (_, text) in self.settings.differences(settings) {
            self.say(format!("changed setting: {text}"));
        }
        self.settings = settings.clone();
        Ok(())
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
