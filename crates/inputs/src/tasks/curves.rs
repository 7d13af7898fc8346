//! Collects the scaling curves of a file, and the terms of tasks (bounds and curve) for each class of nodes. Equal
//! curves share their lists.

use std::collections::BTreeMap;
use std::sync::Arc;

use gleaner_solvers::range::{or_zero, short};

use super::by_class::ByClass;
use super::fields::Report;
use super::validate::{CurveDraft, RATE};
use gleaner_domain::{CurveSet, ScalingCurve, Terms};

/// The curve of a task, or its curve in each class of nodes.
#[derive(Debug, Clone)]
pub(super) enum TaskCurve {
    Plain(ScalingCurve),
    ByClass(Arc<CurveMap>),
}

/// The curve of each class, by the name of the class.
pub(super) type CurveMap = BTreeMap<String, ScalingCurve>;

/// The factor for each class. Factors are stored as their bits so that they can serve as keys.
type FactorBits = Vec<(String, u64)>;

/// The key of the terms of a task: the memory address of its curves, and its minimum and maximum number of nodes.
type TermsKey = (usize, ByClass<u32>, ByClass<u32>);

/// The terms of each class, by the name of the class.
pub(super) type TermsMap = BTreeMap<String, Terms>;

/// Maximum number of rates in the scaled curves of a file. A rate takes 8 bytes. Without this limit, a short `speed`
/// could request a copy of a long curve for each of many classes.
const MOST_RATES: usize = 1 << 25;

/// Maximum number of terms by class in a file. The terms for one class take about 200 bytes. Tasks with the same curves
/// and bounds share their terms. Without this limit, a task of a few bytes could request many terms by referring to
/// curves for many classes.
const MOST_TERMS: usize = 2_000_000;

/// The curves read so far.
///
/// In a pickle, many tasks can refer to the same lists. A curve with such lists is checked only
/// once: it is recognised by the memory addresses of the lists.
#[derive(Debug, Default)]
pub(super) struct Curves {
    set: CurveSet,
    /// The valid curves, keyed by the addresses of their lists. The drafts keep these lists alive,
    /// so no other list can get the same address.
    by_address: BTreeMap<[usize; 3], (CurveDraft, ScalingCurve)>,
    /// The curves by class, keyed by the plain curve and the factors from which they are computed. Factors are stored
    /// as bits, which can be compared.
    scaled: BTreeMap<(ScalingCurve, FactorBits), Arc<CurveMap>>,
    /// Number of rates in `scaled`.
    scaled_rates: usize,
    /// The terms, keyed by the address of a set of curves, the minimum and the maximum. The value keeps the set alive,
    /// so no other set can get the same address.
    terms: BTreeMap<TermsKey, (Arc<CurveMap>, Arc<TermsMap>)>,
    /// Number of terms in `terms`.
    terms_count: usize,
}

impl Curves {
    /// Returns the curve of `draft` if the curve satisfies every rule. Lists that have already been checked are not
    /// checked again. `field` is the curve's name in messages.
    pub fn check(
        &mut self,
        draft: CurveDraft,
        field: &str,
        report: &mut Report<'_>,
    ) -> Option<ScalingCurve> {
        let address = draft.address();
        if let Some((_, curve)) = self.by_address.get(&address) {
            return Some(curve.clone());
        }
        let is_shared = Arc::strong_count(&draft.progress) > 1;
        let kept = is_shared.then(|| draft.clone());
        let curve = self.set.share(draft.check(field, report)?);
        if let Some(draft) = kept {
            self.by_address.insert(address, (draft, curve.clone()));
        }
        Some(curve)
    }

    /// Multiplies a plain curve by a factor for each class, and returns the curves by class.
    pub fn scale(
        &mut self,
        curve: &ScalingCurve,
        factors: &BTreeMap<String, f64>,
        report: &mut Report<'_>,
    ) -> Option<Arc<CurveMap>> {
        let bits = factors
            .iter()
            .map(|(class, factor)| (class.clone(), factor.to_bits()));
        let key = (curve.clone(), bits.collect());
        if let Some(curves) = self.scaled.get(&key) {
            return Some(Arc::clone(curves));
        }
        rates_stay_in_range(curve, factors, report)?;
        let rates = self.scaled_rates + 2 * curve.nodes.len() * factors.len();
        if rates > MOST_RATES {
            let found =
                format!("a total of more than {MOST_RATES} rates in the file's scaled curves");
            report.add("speed", found, "shorter curves or fewer classes");
            return None;
        }
        self.scaled_rates = rates;
        let scaled = |(class, factor): (&String, &f64)| {
            (class.clone(), self.set.share(curve.scaled(*factor)))
        };
        let curves: Arc<CurveMap> = Arc::new(factors.iter().map(scaled).collect());
        self.scaled.insert(key, Arc::clone(&curves));
        Some(curves)
    }

    /// Returns the terms of a task with these curves and bounds. A class without bounds is left out.
    pub fn terms(
        &mut self,
        curves: &Arc<CurveMap>,
        min_nodes: &ByClass<u32>,
        max_nodes: &ByClass<u32>,
        report: &mut Report<'_>,
    ) -> Option<Arc<TermsMap>> {
        let address = Arc::as_ptr(curves) as usize;
        let key = (address, min_nodes.clone(), max_nodes.clone());
        if let Some((_, terms)) = self.terms.get(&key) {
            return Some(Arc::clone(terms));
        }
        let count = self.terms_count + curves.len();
        if count > MOST_TERMS {
            let found = format!("more than {MOST_TERMS} pairs of a task and a class in the file");
            report.add(
                "curve",
                found,
                "fewer classes, or tasks with the same curves and bounds",
            );
            return None;
        }
        self.terms_count = count;
        let terms = curves.iter().filter_map(|(class, curve)| {
            let terms = Terms {
                min_nodes: min_nodes.of(class)?,
                max_nodes: max_nodes.of(class)?,
                curve: curve.clone(),
            };
            Some((class.clone(), terms))
        });
        let terms: Arc<TermsMap> = Arc::new(terms.collect());
        self.terms
            .insert(key, (Arc::clone(curves), Arc::clone(&terms)));
        Some(terms)
    }
}

/// Checks that the rates of a curve are valid after they are multiplied by each factor. Returns `None` if a rate is
/// invalid.
fn rates_stay_in_range(
    curve: &ScalingCurve,
    factors: &BTreeMap<String, f64>,
    report: &mut Report<'_>,
) -> Option<()> {
    let rates = [&curve.progress, &curve.objective].map(|rates| rates.extremes());
    let is_valid = |factor: f64| {
        let mut rates = rates.iter().flat_map(|(least, most)| [*least, *most]);
        rates.all(|rate| rate == 0.0 || RATE.contains(&(rate * factor)))
    };
    let Some((class, factor)) = factors.iter().find(|(_, factor)| !is_valid(**factor)) else {
        return Some(());
    };
    let expected = format!(
        "a factor with which the curve's rates are {}",
        or_zero(&RATE)
    );
    report.add(&format!("speed.{class}"), short(*factor), expected);
    None
}

impl CurveDraft {
    /// The memory addresses of the three lists; 0 for a missing objective.
    fn address(&self) -> [usize; 3] {
        let of = |list: &Arc<[f64]>| Arc::as_ptr(list).cast::<f64>() as usize;
        let objective = self.objective.as_ref().map_or(0, of);
        [of(&self.nodes), of(&self.progress), objective]
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::tasks::fields::Format;

    fn draft(nodes: &Arc<[f64]>, progress: &Arc<[f64]>) -> CurveDraft {
        CurveDraft {
            nodes: Arc::clone(nodes),
            progress: Arc::clone(progress),
            objective: None,
        }
    }

    // Both curves share their lists, as in a pickle in which several rows refer to the same array.
    #[test]
    fn repeated_lists_share_one_curve() {
        let (nodes, progress): (Arc<[f64]>, Arc<[f64]>) = ([0.0, 4.0].into(), [0.0, 3.0].into());
        let mut report = Report::new(Path::new("f"), "", Format::Table);
        let mut curves = Curves::default();
        let mut check = |draft| curves.check(draft, "curve", &mut report).unwrap();
        let first = check(draft(&nodes, &progress));
        let again = check(draft(&nodes, &progress));
        let equal = check(draft(&[0.0, 4.0].into(), &[0.0, 3.0].into()));
        let other = check(draft(&nodes, &[0.0, 2.0].into()));
        for same in [&again, &equal] {
            assert!(Arc::ptr_eq(&same.nodes, &first.nodes));
            assert!(Arc::ptr_eq(same.progress.list(), &progress));
            assert!(Arc::ptr_eq(same.objective.list(), &progress));
        }
        assert_ne!(other, first);
    }

    #[test]
    fn a_faulty_list_is_a_fault_every_time() {
        let nodes: Arc<[f64]> = [0.0, 4.0].into();
        let progress: Arc<[f64]> = [0.0, -3.0].into();
        let mut report = Report::new(Path::new("f"), "", Format::Table);
        let mut curves = Curves::default();
        for _ in 0..2 {
            assert!(
                curves
                    .check(draft(&nodes, &progress), "curve", &mut report)
                    .is_none()
            );
        }
        assert_eq!(report.faults.len(), 2);
    }
}
