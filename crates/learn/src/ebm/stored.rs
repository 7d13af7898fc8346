//! The saved form of a machine, and the checks that it must pass when it is read.

use serde::Deserialize;

use super::bins::{Bins, Feature};
use super::model::{Axis, Ebm, Term};
use super::settings::{MOST_BINS, Settings};

#[derive(Deserialize)]
pub(super) struct Stored {
    features: Vec<Feature>,
    intercept: f64,
    terms: Vec<Term>,
    settings: Settings,
    rows: usize,
    rounds: Vec<usize>,
}

impl TryFrom<Stored> for Ebm {
    type Error = String;

    fn try_from(stored: Stored) -> Result<Self, String> {
        stored.check()?;
        Ok(Ebm {
            features: stored.features,
            intercept: stored.intercept,
            terms: stored.terms,
            settings: stored.settings,
            rows: stored.rows,
            rounds: stored.rounds,
        })
    }
}

impl Stored {
    fn check(&self) -> Result<(), String> {
        if !self.intercept.is_finite() {
            return Err("the intercept is not a finite number".to_owned());
        }
        self.features.iter().try_for_each(feature)?;
        if self.terms.len() < self.features.len() {
            return Err(format!(
                "there are {} features, but only {} terms",
                self.features.len(),
                self.terms.len()
            ));
        }
        for (k, term) in self.terms.iter().enumerate() {
            let main = self.features.get(k).map(|_| k);
            self.term(term, main)
                .map_err(|fault| format!("term {k}: {fault}"))?;
        }
        Ok(())
    }

    /// Checks a term. `main` is the feature to which the term must belong, or `None` if the term
    /// must be a pair.
    fn term(&self, term: &Term, main: Option<usize>) -> Result<(), String> {
        let axes: Vec<usize> = term.axes.iter().map(|axis| axis.feature).collect();
        if main.map_or(axes.len() != 2, |feature| axes != [feature]) {
            return Err(format!("it has the wrong features: {axes:?}"));
        }
        let mut cells = 1usize;
        for axis in &term.axes {
            self.axis(axis)?;
            cells = cells.saturating_mul(axis.size);
        }
        let lengths = [term.scores.len(), term.deviations.len(), term.rows.len()];
        if lengths.iter().any(|&length| length != cells) {
            return Err(format!(
                "the numbers of scores, deviations and rows are {lengths:?}, expected {cells} each"
            ));
        }
        if term.scores.iter().any(|score| !score.is_finite()) {
            return Err("a score is not a finite number".to_owned());
        }
        Ok(())
    }

    fn axis(&self, axis: &Axis) -> Result<(), String> {
        let feature = self
            .features
            .get(axis.feature)
            .ok_or("it uses an unknown feature")?;
        if axis.groups.len() != feature.bins.len() {
            return Err(format!(
                "{} bins are assigned to groups, expected {}",
                axis.groups.len(),
                feature.bins.len()
            ));
        }
        if axis
            .groups
            .iter()
            .any(|&group| usize::from(group) >= axis.size)
        {
            return Err(format!(
                "a bin is assigned to a group that is not among the {} groups",
                axis.size
            ));
        }
        Ok(())
    }
}

fn feature(feature: &Feature) -> Result<(), String> {
    let name = &feature.name;
    if feature.rows.len() != feature.bins.len() || feature.bins.len() > MOST_BINS + 1 {
        return Err(format!(
            "feature {name}: it has too many bins, or its numbers of bins and row counts differ"
        ));
    }
    if let Bins::Numeric { cuts, .. } = &feature.bins
        && !(cuts.iter().all(|cut| cut.is_finite()) && cuts.windows(2).all(|w| w[0] < w[1]))
    {
        return Err(format!(
            "feature {name}: its cuts are not finite numbers in ascending order"
        ));
    }
    Ok(())
}
