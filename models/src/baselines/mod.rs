//! Models from libraries, to compare the interpretable ones with.
//!
//! Settings are those that the libraries of the reference, scikit-learn and LightGBM, begin with;
//! each model says where it differs. Nothing is tuned. The same seed gives the same model,
//! whatever the number of threads.
//!
//! Texts become numbers in the order in which the training rows bring them, and −1 where training
//! had no such text. Infinite numbers count as missing. Gradient boosting learns on which side of
//! a split missing values belong; elsewhere they take the mean of the feature.
//!
//! ```
//! use gleaner_models::{Column, Table, baselines::Baseline};
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

/// A kind of model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Baseline {
    /// 100 trees, each on rows drawn with replacement (Breiman, 2001); smartcore.
    Forest,
    /// 100 trees of at most 32 leaves, each on what those before it leave (Friedman, 2001), on
    /// binned features as LightGBM (Ke et al., 2017); forust.
    Boosting,
    /// A network with one hidden layer of 100 neurons, trained by Adam; candle.
    Perceptron,
}

/// A trained model.
pub struct Fitted {
    encoding: Encoding,
    predictor: Box<dyn Predictor>,
}

/// Why a model cannot be trained or asked.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum BaselineError {
    /// Rows or labels to learn from.
    #[error(transparent)]
    Fit(#[from] FitError),
    /// A table with other features.
    #[error(transparent)]
    Mismatch(#[from] Mismatch),
    /// What a library says.
    #[error("{library}: {message}")]
    Library {
        /// Its name.
        library: &'static str,
        /// In its words.
        message: String,
    },
}

/// What a library has learnt.
trait Predictor: Send + Sync {
    /// A prediction for each row.
    fn predict(&self, rows: &Matrix) -> Result<Vec<f64>, BaselineError>;
}

impl Baseline {
    /// All kinds, in the order of tables.
    pub const ALL: [Self; 3] = [Self::Boosting, Self::Forest, Self::Perceptron];

    /// Its name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Forest => "random forest",
            Self::Boosting => "gradient boosting",
            Self::Perceptron => "perceptron",
        }
    }

    /// Learns a label from features.
    ///
    /// # Errors
    /// Where there is no row, not a label for each, a label that is no number within ±1e100, or
    /// the library gives up.
    pub fn fit(self, table: &Table, labels: &[f64], seed: u64) -> Result<Fitted, BaselineError> {
        ebm::check_labels(table, labels)?;
        let encoding = Encoding::learn(table);
        let rows = encoding.encode(table)?;
        let predictor: Box<dyn Predictor> = match self {
            Self::Forest => Box::new(forest::Forest::fit(&rows, labels, seed)?),
            Self::Boosting => Box::new(boosting::Boosting::fit(&rows, labels, seed)?),
            Self::Perceptron => Box::new(perceptron::Perceptron::fit(&rows, labels, seed)?),
        };
        Ok(Fitted {
            encoding,
            predictor,
        })
    }
}

impl Fitted {
    /// A prediction for each row.
    ///
    /// # Errors
    /// Where the table has other features than the model was trained on, or the library gives up.
    pub fn predict(&self, table: &Table) -> Result<Vec<f64>, BaselineError> {
        let rows = self.encoding.encode(table)?;
        if rows.rows == 0 {
            return Ok(Vec::new());
        }
        self.predictor.predict(&rows)
    }
}

impl BaselineError {
    /// What a library complains of.
    fn of(library: &'static str) -> impl Fn(String) -> Self {
        move |message| Self::Library { library, message }
    }
}
