//! The explainable boosting machine: an additive model in which every part can be plotted.
//!
//! y = β₀ + Σ fᵢ(xᵢ) + Σ fᵢⱼ(xᵢ, xⱼ) (Lou, Caruana and Gehrke, KDD 2012; Lou et al., KDD 2013; Nori
//! et al., "InterpretML", 2019). Features are binned. Small trees are boosted on one feature at a
//! time, in turn and in small steps, until held-out rows gain nothing. Several such runs on
//! different parts of the rows, the *bags*, are averaged. Then the strongest pairs of features by
//! the FAST score are boosted on the residuals.
//!
//! Each f is a *term*, which has a score for each of its *cells*: the bins of its feature, or the
//! combinations of groups of bins of its two features.
//!
//! ```
//! use gleaner_learn::{Column, Table, ebm::{Ebm, Settings}};
//!
//! let x: Vec<f64> = (0..500).map(|k| f64::from(k % 50)).collect();
//! let labels: Vec<f64> = x.iter().map(|x| if *x < 20.0 { 1.0 } else { 3.0 }).collect();
//! let table = Table::new(vec![("x".to_owned(), Column::Numeric(x))])?;
//! let machine = Ebm::fit(&table, &labels, &Settings::default())?;
//! let answer = machine.explain(&table, 0)?;
//! assert!((answer.prediction - 1.0).abs() < 0.01);
//! assert_eq!(answer.contributions[0].term, "x");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

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
