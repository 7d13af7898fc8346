//! The resources and numbers of trials that follow from the settings.

use crate::Algorithm;
use crate::plan::{MAX_RUNGS, Plan};

/// Resources whose relative difference is below this limit are treated as equal. For example, 0.3·3² is 2.7, but
/// floating-point arithmetic gives a number below 2.7.
const SAME: f64 = 1e-9;

/// A resource at which trials are measured.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rung {
    /// Number of trials that reach this rung. For ASHA, the actual number depends on the order of the results, and this
    /// field is the minimum.
    pub trials: u32,
    /// The total resource that each of these trials has consumed when it reaches this rung.
    pub resource: f64,
}

/// Trials that compete with each other.
#[derive(Debug, Clone, PartialEq)]
pub struct Bracket {
    /// The bracket's number. For Hyperband it is the paper's s, one less than the number of rungs;
    /// otherwise it is 0.
    pub number: u32,
    /// Rungs of the bracket, from the bottom.
    pub rungs: Vec<Rung>,
}

impl Plan {
    /// The resources of the rungs, ascending. For Hyperband, these are the rungs of the first bracket, which include
    /// the rungs of all other brackets.
    ///
    /// With r for `min_resource` and R for `max_resource`:
    ///
    /// * Random search has one rung, R.
    /// * Successive halving and ASHA have the rungs r, r·eta, r·eta², … below R, and then R. If R/r is a power of eta,
    ///   these are the rungs of Li et al. 2020. Otherwise, the paper's last rung is the highest r·eta^k below R. Here,
    ///   R is an additional rung, to which the best trials of the rung below are trained.
    /// * Hyperband and BOHB have the rungs R·eta^-s for s from s_max = ⌊log_eta(R/r)⌋ down to 0, as in Li et al. 2018. If R/r is
    ///   not a power of eta, the first rung is above r.
    /// * Median stopping and population-based training have the rungs r, 2r, 3r, … below R, and then R.
    ///
    /// Resources that differ by less than one part in 10⁹ are treated as equal. Resources need not be whole numbers:
    /// with R = 100 and eta = 3, Hyperband has a rung at 33.3.
    ///
    /// If the plan is not valid, the result is meaningless, but it has at most [`MAX_RUNGS`] + 1 numbers.
    pub fn rungs(&self) -> Vec<f64> {
        match self.algorithm {
            Algorithm::Random => vec![self.max_resource],
            Algorithm::SuccessiveHalving | Algorithm::Asha => self.rungs_upward(),
            Algorithm::Hyperband | Algorithm::Bohb => self.rungs_downward(),
            Algorithm::Median | Algorithm::Pbt => self.rungs_evenly(),
        }
    }

    /// The rungs r, r·eta, r·eta², … below R, and then R.
    fn rungs_upward(&self) -> Vec<f64> {
        let below = |resource: &f64| *resource < self.max_resource * (1.0 - SAME);
        let resources = powers(self.eta).map(|power| self.min_resource * power);
        let mut rungs: Vec<f64> = resources.take_while(below).take(MAX_RUNGS).collect();
        rungs.push(self.max_resource);
        rungs
    }

    /// The rungs r, 2r, 3r, … below R, and then R.
    fn rungs_evenly(&self) -> Vec<f64> {
        let below = |resource: &f64| *resource < self.max_resource * (1.0 - SAME);
        let resources = (1..=MAX_RUNGS).map(|step| self.min_resource * step as f64);
        let mut rungs: Vec<f64> = resources.take_while(below).collect();
        rungs.push(self.max_resource);
        rungs
    }

    /// The rungs R, R/eta, R/eta², … down to r, in ascending order.
    fn rungs_downward(&self) -> Vec<f64> {
        let most = self.max_resource * (1.0 + SAME);
        // Compares r·eta^s with R, not R / eta^s with r, because rounding can put the quotient just below r.
        let fits = |power: &f64| self.min_resource * power <= most;
        let powers = powers(self.eta).take_while(fits).take(MAX_RUNGS + 1);
        let mut rungs: Vec<f64> = powers.map(|power| self.max_resource / power).collect();
        rungs.reverse();
        rungs
    }

    /// The brackets, in the order in which they start, with the number of trials that reach each rung:
    ///
    /// * Random search: all trials on one rung.
    /// * Successive halving: n_i = ⌊n·eta^-i⌋ trials on rung i, out of n.
    /// * ASHA: the numbers of successive halving, which are lower bounds for ASHA.
    /// * Median stopping and population-based training: all trials on every rung, which is an upper bound.
    /// * Hyperband and BOHB: brackets s = s_max, …, 0 with the last s + 1 of the rungs. Each bracket has n = ⌈(s_max +
    ///   1)·eta^s / (s + 1)⌉ trials, of which n_i = ⌊n·eta^-i⌋ reach rung i. The formula is taken from the paper's
    ///   Algorithm 1, where B = (s_max + 1)·R. With R/r = 81 and eta = 3, the brackets start with 81, 34, 15, 8 and 5
    ///   trials. Programs that round before they multiply have 27, 9 and 6 trials instead of 34, 15 and 8.
    ///
    /// If the plan is not valid, the result is meaningless.
    pub fn brackets(&self) -> Vec<Bracket> {
        let resources = self.rungs();
        if !self.algorithm.derives_trials() {
            return vec![self.bracket(0, self.trials.unwrap_or(0), &resources)];
        }
        let highest = resources.len().saturating_sub(1);
        let bracket = |s: usize| {
            let trials = hyperband_trials(self.eta, highest as u32, s as u32);
            self.bracket(s as u32, trials, &resources[highest - s..])
        };
        (0..resources.len()).rev().map(bracket).collect()
    }

    fn bracket(&self, number: u32, trials: u32, resources: &[f64]) -> Bracket {
        let rung = |(i, &resource): (u32, &f64)| Rung {
            trials: if self.algorithm.has_even_rungs() {
                trials
            } else {
                survivors(trials, self.eta, i)
            },
            resource,
        };
        Bracket {
            number,
            rungs: (0..).zip(resources).map(rung).collect(),
        }
    }

    /// Number of trials that the search starts, without the copies of population-based training.
    pub fn all_trials(&self) -> u64 {
        let brackets = self.brackets().into_iter();
        let first = brackets.filter_map(|bracket| Some(bracket.rungs.first()?.trials));
        first.map(u64::from).sum()
    }

    /// The greatest possible number of jobs: trials times rungs, summed over all brackets.
    pub fn most_jobs(&self) -> u64 {
        let of = |bracket: &Bracket| {
            let trials = bracket.rungs.first().map_or(0, |rung| rung.trials);
            u64::from(trials) * bracket.rungs.len() as u64
        };
        self.brackets().iter().map(of).sum()
    }
}

/// The powers 1, eta, eta², …, as long as they are finite. They are exact up to 2⁵³. They are computed by repeated
/// multiplication, because the precision of `powi` differs between platforms.
fn powers(eta: u32) -> impl Iterator<Item = f64> {
    let next = move |power: &f64| Some(power * f64::from(eta));
    std::iter::successors(Some(1.0), next).take_while(|power| power.is_finite())
}

/// The number of trials that reach rung i, ⌊n·eta^-i⌋. It is computed with integers, because a floating-point product
/// can fall just below a whole number.
fn survivors(trials: u32, eta: u32, i: u32) -> u32 {
    // A power that does not fit in a u32 is above every number of trials. (In valid settings, eta is at least 2.)
    eta.checked_pow(i)
        .and_then(|power| trials.checked_div(power))
        .unwrap_or(0)
}

/// The number of trials of Hyperband's bracket s, ⌈(s_max + 1)·eta^s / (s + 1)⌉, capped at the largest u32.
fn hyperband_trials(eta: u32, highest: u32, s: u32) -> u32 {
    let power = u128::from(eta).saturating_pow(s);
    let product = u128::from(highest + 1).saturating_mul(power);
    u32::try_from(product.div_ceil(u128::from(s + 1))).unwrap_or(u32::MAX)
}
