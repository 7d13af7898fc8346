//! Models in use: what they are trained from in this program's terms, files' contents, and
//! estimates and forecasts as the simulator takes them. The models themselves are those of
//! [`gleaner_models`].

mod calendar;
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
pub use weekly::{Week, Weekly, WeeklyEstimates};
pub use workload::{estimates_by, known_jobs, past_jobs};
