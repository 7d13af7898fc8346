//! Models in use: their training data made from this program's types, the contents of their
//! files, and their estimates and forecasts as inputs of the simulator. The models themselves are
//! those of [`gleaner_learn`].

mod calendar;
pub mod driple;
pub mod evaluate;
pub mod expected;
pub mod explanation;
mod forecast;
mod scores;
pub mod stored;
mod trained;
mod weekly;
mod workload;

pub use calendar::Calendar;
pub use forecast::{forecast_by, forecast_trained, submissions};
pub use scores::{
    learn_scores, packing_pairs, packing_profiles, packing_row, score_profiles, score_workloads,
};
pub use trained::{Kind, Model, Span, Trained};
pub use weekly::{Simulated, Week, Weekly, WeeklyEstimates};
pub use workload::{estimates_by, known_jobs, past_jobs};
