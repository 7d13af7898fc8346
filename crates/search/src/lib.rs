//! Search algorithms, which schedule trials of hyperparameters or architectures, and learning curves that simulate
//! training.
//!
//! A **trial** is a candidate: one choice of hyperparameters. A **job** trains a trial from one **resource** (epochs,
//! steps, or another unit that the user chooses) to the next and measures its **loss**. A lower loss is better. The
//! resources at which trials are measured are **rungs**, and a trial that continues from one rung to the next is
//! **promoted**. A **bracket** is a set of trials that compete with each other.
//!
//! A [`Search`] hands out jobs and receives their losses. The caller decides when jobs run, how long they take and how
//! many run at a time:
//!
//! ```
//! use gleaner_search::{Algorithm, Family, LearningCurves, Next, Plan, Search};
//!
//! let plan = Plan {
//!     trials: Some(9),
//!     ..Plan::new(Algorithm::SuccessiveHalving, 9.0)
//! };
//! let curves = LearningCurves::Family(Family::default());
//! let mut search = Search::new(plan).map_err(|faults| format!("{faults:?}"))?;
//! while let Next::Job(job) = search.next() {
//!     let loss = curves.loss(job.trial, job.to);
//!     search.report(job.trial, loss)?;
//! }
//! assert_eq!(search.next(), Next::Done);
//! assert!(search.best().is_some());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Algorithms
//!
//! * Random search trains each trial to the end.
//! * Successive halving is Algorithm 1, and ASHA Algorithm 2, of Li et al., "A System for Massively Parallel
//!   Hyperparameter Tuning", MLSys 2020 (arXiv:1810.05934).
//! * Hyperband is Algorithm 1 of Li et al., "Hyperband: A Novel Bandit-Based Approach to Hyperparameter
//!   Optimization", JMLR 18(185), 2018 (arXiv:1603.06560).
//! * Median stopping is described in section 3.2.2 of Golovin et al., "Google Vizier: A Service for Black-Box
//!   Optimization", KDD 2017.
//! * Population-based training is described in Jaderberg et al., "Population Based Training of Neural Networks", 2017
//!   (arXiv:1711.09846).
//! * BOHB is described in Falkner et al., "BOHB: Robust and Efficient Hyperparameter Optimization at Scale", ICML 2018
//!   (arXiv:1807.01774).
//!
//! With several losses, trials are ranked by non-dominated fronts, as in multi-objective ASHA (Schmucker et al.,
//! "Multi-objective Asynchronous Successive Halving", 2021, arXiv:2106.12639); see [`Fronts`].
//!
//! To run an algorithm of your own, implement [`Scheduler`].
//!
//! [`Plan::brackets`] returns the resources and numbers of trials that follow from the settings.
//!
//! A search is deterministic. Its jobs depend only on the plan, the reported losses, and the order of the calls to
//! [`Search::next`] and [`Search::report`].

mod algorithm;
mod asha;
mod bohb;
mod fault;
mod fronts;
mod halving;
mod hyperband;
mod learning;
mod median;
mod pbt;
mod plan;
mod random;
mod rungs;
mod scheduler;
mod score;
mod search;
mod space;
mod standing;
mod tpe;

pub use algorithm::{Algorithm, UnknownAlgorithm};
pub use fault::Fault;
pub use fronts::Fronts;
pub use learning::{Curve, Draw, Family, LearningCurves, Point, Table};
pub use plan::{MAX_JOBS, MAX_RUNGS, Plan};
pub use random::task_of_trial;
pub use rungs::{Bracket, Rung};
pub use scheduler::{Parent, Scheduler};
pub use score::main_loss;
pub use search::{Job, Next, NoJob, Search, Verdict};
pub use space::{Parameter, Parameters, Space, Value};
