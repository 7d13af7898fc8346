//! Baselines for the interpretable models: two models from libraries, and a neural network.
//!
//! Settings are the defaults of the reference libraries, scikit-learn and LightGBM. The
//! documentation of each model lists the differences. No setting was tuned. The same seed gives the
//! same model, regardless of the number of threads.
//!
//! Strings are numbered in the order of their first appearance in the training rows; strings that
//! do not occur there become −1. Infinite numbers count as missing. Gradient boosting learns to which side of a split
//! missing values go; the other models replace missing values with the mean of the feature.
//!
//! ```
//! use gleaner_learn::{Column, Table, baselines::Baseline};
//!
//! let x: Vec<f64> = (0..500).map(|k| f64::from(k % 50)).collect();
//! let labels: Vec<f64> = x.iter().map(|x| if *x < 20.0 { 1.0 } else { 3.0 }).collect();
//! let table = Table::new(vec![("x".to_owned(), Column::Numeric(x))])?;
//! for baseline in Baseline::ALL {
//!     let fitted = baseline.fit(&table, &labels, 1)?;
//!     assert!(fitted.predict(&table)?[0] < 2.0, "{}", baseline.name());
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod boosting;
mod encoding;
mod forest;
mod perceptron;
mod scale;

use crate::Table;
use crate::ebm::{self, FitError, Mismatch};
use encoding::{Encoding, Matrix};

/// A baseline model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Baseline {
    /// 100 trees from the smartcore library, each trained on rows drawn with replacement (Breiman,
    /// 2001).
    Forest,
    /// 100 trees of at most 32 leaves from the forust library. Each tree is trained on the
    /// residuals of the trees before it (Friedman, 2001). Features are binned as in LightGBM (Ke et
    /// al., 2017).
    Boosting,
    /// A network with one hidden layer of 100 neurons, trained with Adam and built from the layers
    /// of `gleaner-driple`.
    Perceptron,
}

/// A trained baseline.
pub struct Fitted {
    encoding: Encoding,
    predictor: Box<dyn Predictor>,
}

/// The reason why a baseline cannot be trained, or cannot predict.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum BaselineError {
    /// There are no rows, or the labels are invalid.
    #[error(transparent)]
    Fit(#[from] FitError),
    /// The table's features differ from the features that the model was trained on.
    #[error(transparent)]
    Mismatch(#[from] Mismatch),
    /// A library failed.
    #[error("{library}: {message}")]
    Library {
        /// Name of the library.
        library: &'static str,
        /// The library's error message.
        message: String,
    },
}

/// A trained model.
trait Predictor: Send + Sync {
    /// Predicts the label of each row.
    fn predict(&self, rows: &Matrix) -> Result<Vec<f64>, BaselineError>;
}

impl Baseline {
    /// All baselines, in the order in which they appear in tables of results.
    pub const ALL: [Self; 3] = [Self::Boosting, Self::Forest, Self::Perceptron];

    /// Name of the baseline in tables of results.
    pub fn name(self) -> &'static str {
        match self {
            Self::Forest => "random forest",
            Self::Boosting => "gradient boosting",
            Self::Perceptron => "perceptron",
        }
    }

    /// Trains the baseline on a table with one label per row.
    ///
    /// # Errors
    /// There are no rows, the number of labels differs from the number of rows, a label is NaN or
    /// outside ±1e100, or the library fails.
    pub fn fit(self, table: &Table, labels: &[f64], seed: u64) -> Result<Fitted, BaselineError> {
        ebm::check_labels(table, labels)?;
        let encoding = Encoding::learn(table);
        let rows = encoding.encode(table)?;
        let predictor: Box<dyn Predictor> = match self {
            Self::Forest => Box::new(forest::Forest::fit(&rows, labels, seed)?),
            Self::Boosting => Box::new(boosting::Boosting::fit(&rows, labels, seed)?),
            Self::Perceptron => Box::new(perceptron::Perceptron::fit(&rows, labels, seed)),
        };
        Ok(Fitted {
            encoding,
            predictor,
        })
    }
}

impl Fitted {
    /// Predicts the label of each row.
    ///
    /// # Errors
    /// The table's features differ from the features that the model was trained on, or the library
    /// fails.
    pub fn predict(&self, table: &Table) -> Result<Vec<f64>, BaselineError> {
        let rows = self.encoding.encode(table)?;
        if rows.rows == 0 {
            return Ok(Vec::new());
        }
        self.predictor.predict(&rows)
    }
}

impl BaselineError {
    /// Converts a library's message to an error.
    fn of(library: &'static str) -> impl Fn(String) -> Self {
        move |message| Self::Library { library, message }
    }
}
