//! The problem that a decision solves if the nodes are of several classes.
//!
//! Each task has its own bounds and curve in each class, so the same number of nodes can be worth more in one class
//! than in another. A task's options are all pairs of a class and a number of nodes that the task can hold. The value
//! of an option is the objective over the window, less the cost of the change. Example: a task holds 2 nodes of class
//! 0, where its objective is 10 per second. With 3 nodes, its objective is 14 per second, which gives 60 · 14 = 840
//! over a window of 60 s. Growing costs 5 · 10 = 50, because `rescale_up` is 5 s. So the value of 3 nodes is 790.

use gleaner_classes::{Choice, Class, Held, Offer, Problem, Rescaling, Task};
use gleaner_domain::objective::{Constants, OutOfRange, Sia, TaskState, ValueList};
use gleaner_domain::{NodeClasses, Objective, TrainingTask};

/// The active tasks with their values in each class, in the order of admission.
#[derive(Debug)]
pub(super) struct ClassDemand {
    t_fwd: f64,
    tasks: Vec<Asking>,
    /// The problem of the next decision. Its tasks correspond to `tasks`.
    problem: Problem,
}

/// An active task, with its values in each class that it can use.
#[derive(Debug)]
struct Asking {
    /// The classes that the task can use.
    classes: Vec<InClass>,
    /// Number of times that decisions changed the task's nodes after its first start.
    restarts: u32,
    has_started: bool,
}

/// The values of a task in one class.
#[derive(Debug)]
struct InClass {
    class: usize,
    /// The task with the bounds and the curve that it has in this class.
    task: TrainingTask,
    constants: Constants,
    values: ValueList,
}

impl InClass {
    fn offer(&self) -> Offer<'_> {
        Offer {
            class: self.class,
            min_nodes: self.task.min_nodes,
            max_nodes: self.task.max_nodes,
            nodes: &self.task.curve.nodes,
            objective: self.values.rates.list(),
        }
    }

    /// Objective per second on `count` nodes; 0 below the minimum.
    fn rate(&self, count: u32) -> f64 {
        if count < self.task.min_nodes {
            return 0.0;
        }
        self.values.weight * self.offer().rate(count)
    }
}

/// The state of a task at a decision.
pub(super) struct Standing<'a> {
    pub task: &'a TrainingTask,
    /// Class and number of the nodes that the task holds.
    pub held: Option<Held>,
    /// Seconds since the task's submission.
    pub age: f64,
}

impl ClassDemand {
    pub fn new(classes: &NodeClasses, t_fwd: f64) -> Self {
        let names = classes.names().iter();
        let class = |name: &String| Class {
            name: name.clone(),
            capacity: 0,
        };
        ClassDemand {
            t_fwd,
            tasks: Vec::new(),
            problem: Problem {
                id: String::new(),
                classes: names.map(class).collect(),
                tasks: Vec::new(),
                groups: Vec::new(),
            },
        }
    }

    /// Adds a task. [`TrainingTask::in_classes`] must have set its values in each class.
    ///
    /// # Errors
    /// A value of its objective is out of range.
    pub fn admit(
        &mut self,
        task: &TrainingTask,
        objective: &Objective,
        state: &TaskState,
    ) -> Result<(), OutOfRange> {
        self.tasks.push(Asking {
            classes: self.classes_of(task, objective, state)?,
            restarts: 0,
            has_started: false,
        });
        self.problem.tasks.push(Task {
            name: task.name.clone(),
            options: Vec::new(),
            none: 0.0,
            current: None,
            fixed: false,
        });
        Ok(())
    }

    /// The entries of a task, one for each class that it can use.
    fn classes_of(
        &self,
        task: &TrainingTask,
        objective: &Objective,
        state: &TaskState,
    ) -> Result<Vec<InClass>, OutOfRange> {
        let indices = 0..self.problem.classes.len();
        let used = indices.filter_map(|class| Some((class, task.in_class(class)?)));
        let used: Vec<(usize, TrainingTask)> = used.collect();
        let constants = used.iter().map(|(_, task)| objective.constants(task));
        let constants = Constants::across_classes(constants.collect());
        let classes = used.into_iter().zip(constants);
        let classes = classes.map(|((class, task), constants)| {
            Ok(InClass {
                values: objective.values(&task, &constants, state)?,
                class,
                task,
                constants,
            })
        });
        classes.collect()
    }

    /// Replaces the values of the task at position `place` after its curves or costs were measured.
    ///
    /// # Errors
    /// A value of its objective is out of range.
    pub fn measure(
        &mut self,
        place: usize,
        task: &TrainingTask,
        objective: &Objective,
        state: &TaskState,
    ) -> Result<(), OutOfRange> {
        self.tasks[place].classes = self.classes_of(task, objective, state)?;
        Ok(())
    }

    /// The problem of the next decision, for callers that set its groups.
    pub fn solved(&mut self) -> &mut Problem {
        &mut self.problem
    }

    /// Removes the task at position `place`.
    pub fn retire(&mut self, place: usize) {
        self.tasks.remove(place);
        self.problem.tasks.remove(place);
    }

    /// Recomputes the objective of the task at position `place` from the task's current state.
    ///
    /// # Errors
    /// A value is out of range.
    pub fn value(
        &mut self,
        place: usize,
        objective: &Objective,
        state: &TaskState,
    ) -> Result<(), OutOfRange> {
        for class in &mut self.tasks[place].classes {
            class.values = objective.values(&class.task, &class.constants, state)?;
        }
        Ok(())
    }

    /// Records that a decision changed the nodes of the task at position `place`.
    pub fn resized(&mut self, place: usize) {
        let task = &mut self.tasks[place];
        task.restarts += u32::from(task.has_started);
        task.has_started = true;
    }

    /// Number of times that decisions changed the nodes of the task at position `place` after its first start; `None` if
    /// it has not started.
    pub fn restarts(&self, place: usize) -> Option<u32> {
        let task = &self.tasks[place];
        task.has_started.then_some(task.restarts)
    }

    /// Sets what [`ClassDemand::restarts`] returns for the task that was admitted last.
    pub fn restore(&mut self, restarts: Option<u32>) {
        if let Some(task) = self.tasks.last_mut() {
            task.has_started = restarts.is_some();
            task.restarts = restarts.unwrap_or(0);
        }
    }

    /// Updates the problem and returns it. `idle` contains the number of idle nodes of each class, and `standings` the
    /// states of the tasks, in order.
    pub fn problem<'a>(
        &mut self,
        id: &str,
        idle: &[u32],
        sia: Option<Sia>,
        standings: impl Iterator<Item = Standing<'a>>,
    ) -> &Problem {
        self.problem.id.clear();
        self.problem.id.push_str(id);
        for (class, idle) in self.problem.classes.iter_mut().zip(idle) {
            class.capacity = *idle;
        }
        let tasks = self.tasks.iter().zip(&mut self.problem.tasks);
        for ((asking, solved), standing) in tasks.zip(standings) {
            solved.current = standing.held;
            solved.options.clear();
            match sia {
                None => asking.list_options(&standing, (self.t_fwd, idle), solved),
                Some(sia) => asking.list_sia_options(&standing, (self.t_fwd, idle), sia, solved),
            }
        }
        &self.problem
    }
}

impl Asking {
    /// The task's entry for the class of the nodes that it holds; `None` if it holds no nodes or cannot use their
    /// class.
    fn in_class(&self, held: Option<Held>) -> Option<&InClass> {
        let held = held?;
        self.classes.iter().find(|own| own.class == held.class)
    }

    /// Lists the task's options. The value of an option is the objective over the window, less the cost of the change.
    fn list_options(&self, standing: &Standing<'_>, (t_fwd, idle): (f64, &[u32]), out: &mut Task) {
        let task = standing.task;
        let own = self.in_class(standing.held).zip(standing.held);
        let rescaling = Rescaling {
            current: standing.held,
            rate: own.map_or(0.0, |(own, held)| own.rate(held.count)),
            up: task.rescale_up,
            down: task.rescale_down,
            moving: task.move_seconds(),
        };
        out.none = -rescaling.cost(None);
        for (own, next) in self.options(task, idle) {
            let gain = t_fwd * own.rate(next.count);
            out.options.push(Choice {
                class: next.class,
                count: next.count,
                value: gain - rescaling.cost(Some(next)),
            });
        }
    }

    /// Lists the task's options with the values of Sia's scheduler (SOSP 2023, section 3.4). A change of nodes counts
    /// as a loss of goodput. The younger the task, the greater the loss.
    fn list_sia_options(
        &self,
        standing: &Standing<'_>,
        (t_fwd, idle): (f64, &[u32]),
        sia: Sia,
        out: &mut Task,
    ) {
        let task = standing.task;
        let restart = Sia::restart_factor(standing.age, self.restarts, task.move_seconds());
        out.none = 0.0;
        for (own, next) in self.options(task, idle) {
            let stays = standing.held.is_none_or(|held| held == next);
            let goodput = own.rate(next.count) * if stays { 1.0 } else { restart };
            // Options without goodput, or with an infinite value, are omitted.
            if let Some(value) = sia.value(goodput) {
                out.options.push(Choice {
                    class: next.class,
                    count: next.count,
                    value: t_fwd * value,
                });
            }
        }
    }

    /// All pairs of a class and a number of nodes that the task can hold.
    fn options<'a>(
        &'a self,
        task: &'a TrainingTask,
        idle: &'a [u32],
    ) -> impl Iterator<Item = (&'a InClass, Held)> {
        self.classes.iter().flat_map(move |own| {
            let class = own.class;
            let counts = own.offer().counts(task.classes.counts, idle[class]);
            counts.map(move |count| (own, Held { class, count }))
        })
    }
}
