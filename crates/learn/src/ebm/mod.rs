//! The explainable boosting machine: an additive model whose terms can all be plotted.
//!
//! y = β₀ + Σ fᵢ(xᵢ) + Σ fᵢⱼ(xᵢ, xⱼ) (Lou, Caruana and Gehrke, KDD 2012; Lou et al., KDD 2013; Nori et al.,
//! "InterpretML", 2019). Features are binned. Boosting adds small trees in small steps, on one feature at a time, until
//! the error on held-out rows no longer decreases. Boosting is repeated on different parts of the rows, the *bags*, and
//! the results are averaged. Then the pairs of features with the highest FAST scores are boosted on the residuals.
//!
//! Each f is a *term*, which has a score for each of its *cells*. The cells of a curve are the bins
//! of its feature. A surface merges the bins of each of its two features into groups, and its cells
//! are the combinations of these groups. The [front page](crate) has an example.

mod bag;
mod bins;
mod boost;
mod cells;
mod curve;
mod fit;
mod model;
mod pairs;
mod settings;
mod stored;
mod surface;
mod tables;

pub use bins::{Bins, Feature};
pub use cells::Cell;
pub use fit::FitError;
#[cfg(feature = "baselines")]
pub(crate) use fit::check_labels;
pub use model::{Axis, Contribution, Ebm, Explanation, Mismatch, Term};
pub use settings::{Binning, MOST_BINS, Settings};
