//! The scaling curves of a file. Equal curves share their lists.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::fields::Report;
use super::validate::CurveDraft;
use gleaner_domain::{CurveSet, ScalingCurve};

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
}

impl Curves {
    /// Returns the curve of `draft` if the curve satisfies every rule. Lists that have already been
    /// checked are not checked again.
    pub fn check(&mut self, draft: CurveDraft, report: &mut Report<'_>) -> Option<ScalingCurve> {
        let address = draft.address();
        if let Some((_, curve)) = self.by_address.get(&address) {
            return Some(curve.clone());
        }
        let is_shared = Arc::strong_count(&draft.progress) > 1;
        let kept = is_shared.then(|| draft.clone());
        let curve = self.set.share(draft.check(report)?);
        if let Some(draft) = kept {
            self.by_address.insert(address, (draft, curve.clone()));
        }
        Some(curve)
    }
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

    // The lists are shared as in a pickle in which several rows refer to the same array.
    #[test]
    fn repeated_lists_share_one_curve() {
        let (nodes, progress): (Arc<[f64]>, Arc<[f64]>) = ([0.0, 4.0].into(), [0.0, 3.0].into());
        let mut report = Report::new(Path::new("f"), "", Format::Table);
        let mut curves = Curves::default();
        let mut check = |draft| curves.check(draft, &mut report).unwrap();
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
                    .check(draft(&nodes, &progress), &mut report)
                    .is_none()
            );
        }
        assert_eq!(report.faults.len(), 2);
    }
}
