//! Trains a machine.

use gleaner_observer::{Observer, Parts};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use super::bag::take;
use super::bins::{Bins, Feature};
use super::boost::{Boosted, CellMap, Shape, Split, boost};
use super::model::{Axis, Ebm, Term};
use super::pairs::{self, Coarse};
use super::settings::{MOST_BINS, Settings};
use super::tables::ABREAST;
use crate::metrics::mean;
use crate::table::{Column, Table};

/// The reason why a machine was not trained.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum FitError {
    /// A setting is out of its range.
    #[error("{0}")]
    Settings(String),
    /// The table has no rows.
    #[error("there are no rows to learn from")]
    NoRows,
    /// The number of labels differs from the number of rows.
    #[error("found {found} labels for {rows} rows, expected one label for each row")]
    Labels {
        /// Number of labels.
        found: usize,
        /// Number of rows.
        rows: usize,
    },
    /// A label is NaN, or too large to be squared.
    #[error("the label of row {row} is {found}, expected a number within ±1e100")]
    Label {
        /// Index of the row, from 0.
        row: usize,
        /// The label.
        found: f64,
    },
    /// A feature has more distinct strings than [`MOST_BINS`]. Holds the feature's name.
    #[error(
        "feature {0} has more than {MOST_BINS} different strings: leave it out, or merge rare \
         strings"
    )]
    Texts(String),
    /// The observer stopped the fit.
    #[error("the fit was stopped")]
    Stopped,
}

/// The greatest permitted absolute value of a label. The sum of squares of such labels is finite
/// even for 10^100 rows.
const GREATEST_LABEL: f64 = 1e100;

/// Trains a machine. First draws the bags and learns a curve for each feature. Then chooses the
/// pairs of features and learns a surface for each pair. Finally averages the terms that the bags
/// learnt.
pub(super) fn fit(
    table: &Table,
    labels: &[f64],
    settings: &Settings,
    observer: &dyn Observer,
) -> Result<Ebm, FitError> {
    check(table, labels, settings)?;
    let (features, index) = bins(table, settings)?;
    let parts = Parts::new(observer, settings.work(table.rows(), features.len()));
    let mut bags = Bags::draw(labels, settings);
    let mains = bags.learn(curves(&features, &index), settings, &parts)?;
    // The curves have been subtracted, so the residuals contain only what single features do not
    // explain.
    let axes = axes_of_pairs(&features, &index, &mains);
    let (least, most) = (settings.least_in_leaf, settings.interactions);
    let chosen = pairs::rank(&axes, &average(&bags.residuals), least, most);
    let crossed = bags.learn(surfaces(&axes, &chosen), settings, &parts)?;
    Ok(Ebm {
        intercept: mean(&bags.bases),
        terms: terms(&features, &axes, &chosen, &mains, &crossed),
        settings: *settings,
        rows: table.rows(),
        rounds: rounds(&mains.bags, &crossed.bags),
        features,
    }
    .centred())
}

/// The state of all bags during training.
struct Bags {
    splits: Vec<Split>,
    /// The mean label of each bag's training rows, which is the bag's prediction before it has
    /// learnt any term.
    bases: Vec<f64>,
    /// For each bag, the labels of all rows minus the bag's predictions.
    residuals: Vec<Vec<f64>>,
}

impl Bags {
    fn draw(labels: &[f64], settings: &Settings) -> Self {
        let splits = (0..settings.bags).map(|bag| split(labels.len(), bag, settings));
        let splits: Vec<Split> = splits.collect();
        let bases = splits.iter().map(|split| mean_of(labels, &split.train));
        let bases: Vec<f64> = bases.collect();
        let residuals = |base: &f64| labels.iter().map(|y| y - base).collect();
        Bags {
            residuals: bases.iter().map(residuals).collect(),
            splits,
            bases,
        }
    }

    /// Learns terms in every bag.
    fn learn(
        &mut self,
        maps: Vec<CellMap>,
        settings: &Settings,
        parts: &Parts<'_>,
    ) -> Result<Learnt, FitError> {
        let bags = run(&maps, &mut self.residuals, &self.splits, settings, parts)?;
        Ok(Learnt { maps, bags })
    }
}

/// Terms, and the scores that each bag learnt for them.
struct Learnt {
    maps: Vec<CellMap>,
    bags: Vec<Boosted>,
}

/// The cells of each feature's curve.
fn curves(features: &[Feature], index: &[Vec<u16>]) -> Vec<CellMap> {
    let curves = index.iter().zip(features);
    curves
        .map(|(cells, feature)| curve(cells, feature))
        .collect()
}

/// The features with merged bins, as axes for pairs.
fn axes_of_pairs(features: &[Feature], index: &[Vec<u16>], mains: &Learnt) -> Vec<Coarse> {
    let features = features.iter().zip(index).enumerate();
    features
        .map(|(k, (feature, index))| axis(feature, index, &mains.bags, k))
        .collect()
}

/// The cells of each pair's surface.
fn surfaces(axes: &[Coarse], pairs: &[(usize, usize)]) -> Vec<CellMap> {
    let surface = |&(a, b): &(usize, usize)| pairs::cells(&axes[a], &axes[b]);
    pairs.iter().map(surface).collect()
}

/// The mean of the terms that the bags learnt: the curves of all features, then the surfaces of the
/// pairs.
fn terms(
    features: &[Feature],
    axes: &[Coarse],
    pairs: &[(usize, usize)],
    mains: &Learnt,
    crossed: &Learnt,
) -> Vec<Term> {
    let curves = features.iter().enumerate().map(|(k, feature)| {
        let axis = Axis::fine(k, feature.bins.len());
        term(vec![axis], &mains.maps[k], &mains.bags, k)
    });
    let surfaces = pairs.iter().enumerate().map(|(k, &(a, b))| {
        let axes = [a, b].map(|k| Axis::coarse(k, &axes[k].groups));
        term(axes.into(), &crossed.maps[k], &crossed.bags, k)
    });
    curves.chain(surfaces).collect()
}

fn check(table: &Table, labels: &[f64], settings: &Settings) -> Result<(), FitError> {
    if let Some(fault) = settings.fault() {
        return Err(FitError::Settings(fault));
    }
    check_labels(table, labels)
}

/// Checks that there are rows, and that each row has a valid label.
pub(crate) fn check_labels(table: &Table, labels: &[f64]) -> Result<(), FitError> {
    if labels.len() != table.rows() {
        return Err(FitError::Labels {
            found: labels.len(),
            rows: table.rows(),
        });
    }
    if labels.is_empty() {
        return Err(FitError::NoRows);
    }
    let wrong = |y: &f64| y.is_nan() || y.abs() > GREATEST_LABEL;
    match labels.iter().position(wrong) {
        Some(row) => Err(FitError::Label {
            row,
            found: labels[row],
        }),
        None => Ok(()),
    }
}

/// The bins of every feature, and the bin of each row for every feature.
fn bins(table: &Table, settings: &Settings) -> Result<(Vec<Feature>, Vec<Vec<u16>>), FitError> {
    let columns: Vec<(&String, &Column)> = table.names().iter().zip(table.columns()).collect();
    let binned: Result<Vec<(Feature, Vec<u16>)>, FitError> = columns
        .into_par_iter()
        .map(|(name, column)| {
            let bins = Bins::of(column, settings.binning, settings.max_bins);
            let index = bins.as_ref().and_then(|bins| bins.index(column));
            let (Some(bins), Some(index)) = (bins, index) else {
                return Err(FitError::Texts(name.clone()));
            };
            let rows = counts(&index, bins.len());
            let name = name.clone();
            Ok((Feature { name, bins, rows }, index))
        })
        .collect();
    Ok(binned?.into_iter().unzip())
}

fn counts(cells: &[u16], size: usize) -> Vec<u32> {
    let mut rows = vec![0; size];
    cells.iter().for_each(|&cell| rows[cell as usize] += 1);
    rows
}

/// Draws the training and held-out rows of a bag, without replacement. Both parts keep the order of
/// the table.
fn split(rows: usize, bag: usize, settings: &Settings) -> Split {
    let mut rng = ChaCha8Rng::seed_from_u64(settings.seed);
    rng.set_stream(bag as u64);
    let mut order: Vec<usize> = (0..rows).collect();
    order.shuffle(&mut rng);
    let mut train = order.split_off((rows as f64 * settings.validation) as usize);
    order.sort_unstable();
    train.sort_unstable();
    Split {
        train,
        held: order,
        random: rng,
    }
}

fn mean_of(labels: &[f64], rows: &[usize]) -> f64 {
    rows.iter().map(|&row| labels[row]).sum::<f64>() / rows.len() as f64
}

fn curve(cells: &[u16], feature: &Feature) -> CellMap {
    CellMap {
        cells: cells.to_vec(),
        shape: Shape::Curve {
            bins: feature.bins.len(),
            ordered: matches!(feature.bins, Bins::Numeric { .. }),
        },
    }
}

/// Boosts the terms in every bag, and subtracts the learnt scores from the bag's residuals.
fn run(
    terms: &[CellMap],
    residuals: &mut [Vec<f64>],
    splits: &[Split],
    settings: &Settings,
    parts: &Parts<'_>,
) -> Result<Vec<Boosted>, FitError> {
    let threads = rayon::current_num_threads();
    let rows = residuals.first().map_or(0, Vec::len);
    let work = settings.work_of_bag(rows, terms.len());
    let abreast = (splits.len() / threads).clamp(1, ABREAST);
    let bags = residuals
        .par_chunks_mut(abreast)
        .zip(splits.par_chunks(abreast));
    let boosted = bags.flat_map_iter(|(residuals, splits)| {
        let boosted = boost(terms, residuals, splits, settings, parts.observer());
        for (residuals, boosted) in residuals.iter_mut().zip(&boosted) {
            for (term, scores) in terms.iter().zip(&boosted.scores) {
                take(residuals, &term.cells, scores);
            }
            // After a stop, a bag reports no work, because it may not have completed its work.
            if !parts.observer().is_stopped() {
                parts.add(work);
            }
        }
        boosted
    });
    let boosted = boosted.collect();
    if parts.observer().is_stopped() {
        Err(FitError::Stopped)
    } else {
        Ok(boosted)
    }
}

/// The mean over the bags, element by element.
fn average(residuals: &[Vec<f64>]) -> Vec<f64> {
    let mut sums = vec![0.0; residuals[0].len()];
    for bag in residuals {
        sums.iter_mut()
            .zip(bag)
            .for_each(|(sum, value)| *sum += value);
    }
    sums.iter()
        .map(|sum| sum / residuals.len() as f64)
        .collect()
}

fn axis(feature: &Feature, index: &[u16], mains: &[Boosted], k: usize) -> Coarse {
    let scores = || {
        average(
            &mains
                .iter()
                .map(|bag| bag.scores[k].clone())
                .collect::<Vec<_>>(),
        )
    };
    let order = matches!(feature.bins, Bins::Categorical { .. }).then(scores);
    Coarse::new(index, &feature.rows, order.as_deref())
}

/// The term with index `k`: the mean of the bags' scores, and their standard deviation.
fn term(axes: Vec<Axis>, map: &CellMap, bags: &[Boosted], k: usize) -> Term {
    let of = |cell: usize| bags.iter().map(move |bag| bag.scores[k][cell]);
    let cells = 0..map.shape.cells();
    let scores: Vec<f64> = cells
        .map(|cell| of(cell).sum::<f64>() / bags.len() as f64)
        .collect();
    let spread = |(cell, &score): (usize, &f64)| {
        (of(cell).map(|other| (other - score).powi(2)).sum::<f64>() / bags.len() as f64).sqrt()
    };
    Term {
        axes,
        rows: counts(&map.cells, scores.len()),
        deviations: scores.iter().enumerate().map(spread).collect(),
        scores,
    }
}

/// Number of rounds of each bag, for features and pairs together.
fn rounds(mains: &[Boosted], crossed: &[Boosted]) -> Vec<usize> {
    mains
        .iter()
        .zip(crossed)
        .map(|(a, b)| a.rounds + b.rounds)
        .collect()
}
