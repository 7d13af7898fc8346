//! Interpretable models for tables of features: every prediction can be explained. The crate can be
//! used on its own.
//!
//! ```
//! use gleaner_learn::ebm::{Ebm, Settings};
//! use gleaner_learn::{Column, Table};
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
//!
//! - [`ebm`]: the explainable boosting machine, an additive model in which every term can be
//!   plotted.
//! - [`lucid`]: the features and models of Lucid, a scheduler for GPU clusters.
//! - [`tree`]: decision trees that predict classes.
//! - `baselines`, enabled by the crate feature of the same name: a random forest, gradient boosting
//!   and a neural network, for comparison.
//! - [`metrics`]: measures of how well predictions match the true values.
//! - [`isotonic`]: isotonic regression, which makes curves monotone.
//!
//! A [`Table`] holds the features. The same seed gives the same results, regardless of the number
//! of threads.

#[cfg(feature = "baselines")]
pub mod baselines;
pub mod ebm;
pub mod isotonic;
pub mod lucid;
pub mod metrics;
pub mod table;
pub mod tree;

pub use table::{Categories, Column, Table, TableError};
