//! Option `--monotone`: features whose contributions must be monotone.

use std::str::FromStr;

use gleaner_learn::isotonic::Direction;
use gleaner_learn::lucid::{throughput, workload};
use gleaner_learn::{Column, Table};

use gleaner_domain::error::{Error, Result};
use gleaner_predict::Kind;

/// A feature whose contribution must never decrease, or never increase.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Monotone {
    /// Name of the feature.
    pub feature: String,
    /// The direction in which the contribution may change.
    pub direction: Direction,
}

impl FromStr for Monotone {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (feature, way) = text.rsplit_once('=').unwrap_or((text, ""));
        let direction = match way {
            "increasing" => Direction::Increasing,
            "decreasing" => Direction::Decreasing,
            _ => return Err("expected FEATURE=increasing or FEATURE=decreasing".to_owned()),
        };
        Ok(Monotone {
            feature: feature.to_owned(),
            direction,
        })
    }
}

/// Checks that a model has the features that must be monotone. Packing models have no curves and are not checked.
/// `profile` states whether a workload model learns from profiles.
///
/// # Errors
/// The model lacks a feature, or a feature is not numeric.
pub fn check(curves: &[Monotone], kind: Kind, profile: bool) -> Result<()> {
    let numbers = match kind {
        Kind::Packing => return Ok(()),
        Kind::Throughput => throughput::FEATURES.map(str::to_owned).to_vec(),
        Kind::Workload => numbers(&workload::features(&[], profile)),
    };
    match curves
        .iter()
        .find(|curve| !numbers.contains(&curve.feature))
    {
        None => Ok(()),
        Some(Monotone { feature, .. }) => Err(Error::Usage(format!(
            "--monotone {feature}: the {kind} model has no numeric feature of that name, expected \
             one of {}",
            numbers.join(", ")
        ))),
    }
}

/// Names of the numeric columns.
fn numbers(table: &Table) -> Vec<String> {
    let columns = table.names().iter().zip(table.columns());
    let numbers = columns.filter(|(_, column)| matches!(column, Column::Numeric(_)));
    numbers.map(|(name, _)| name.clone()).collect()
}
