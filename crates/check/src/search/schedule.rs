//! Decides which trial trains next. The decision depends on the settings of the search, on the losses reported so far
//! and, for population-based training, on the recorded parents of copied trials.
//!
//! The algorithms follow these papers. Median stopping is described in section 3.2.2 of Golovin et al. 2017, and
//! population-based training in Jaderberg et al. 2017 (arXiv:1711.09846). Successive halving and ASHA are Algorithms 1
//! and 2 of Li et al. 2020 (arXiv:1810.05934), and Hyperband is Algorithm 1 of Li et al. 2018 (arXiv:1603.06560).

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use gleaner_search::{Algorithm, Plan};

use super::ranking::{Measured, ranked};

/// Relative difference below which two resources are treated as equal.
const SAME: f64 = 1e-9;

/// Maximum number of rungs. Without this limit, some settings would give an endless list of rungs.
const MAX_RUNGS: usize = 65;

/// The training of a trial up to a rung.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Job {
    pub trial: u32,
    pub bracket: u32,
    pub rung: usize,
}

/// A decision about a trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    Promoted,
    Stopped,
    Finished,
}

/// A group of trials that compete with each other.
#[derive(Debug)]
struct Bracket {
    number: u32,
    /// The resource of each rung.
    resources: Vec<f64>,
    /// The number of trials that are trained to each rung.
    sizes: Vec<u64>,
    /// Index of the bracket's first trial.
    first: u32,
    /// Number of trials started so far.
    started: u64,
    /// The current rung; not used by ASHA.
    rung: usize,
    /// Trials that were promoted to the current rung but have not started to train towards it; not used by ASHA.
    ready: Vec<u32>,
    /// The trials measured at each rung.
    measured: Vec<Vec<Measured>>,
    promoted: Vec<BTreeSet<u32>>,
}

/// The state of population-based training.
#[derive(Debug, Default)]
struct Population {
    /// The measured trials that have not ended: the last loss, the trial and its rung.
    members: Vec<(f64, u32, usize)>,
    /// For each copy that has not started, the trials that may be copied, each with its rung.
    copies: VecDeque<Vec<(u32, usize)>>,
    /// Number of copies that have started.
    copied: u32,
}

impl Population {
    /// Records a loss. Returns whether the trial is replaced. This is the case if it is in the worst fifth and a trial
    /// in the best fifth has reached the same rung.
    fn replaces(&mut self, loss: f64, trial: u32, rung: usize) -> bool {
        self.members.retain(|(_, other, _)| *other != trial);
        self.members.push((loss, trial, rung));
        self.members
            .sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let fifth = self.members.len() / 5;
        let place = self
            .members
            .iter()
            .position(|(_, other, _)| *other == trial);
        let is_worst = place.is_some_and(|place| place + fifth >= self.members.len());
        let best = self.members[..fifth].iter().filter(|of| of.2 >= rung);
        let best: Vec<(u32, usize)> = best.map(|of| (of.1, of.2)).collect();
        let is_replaced = is_worst && !best.is_empty();
        if is_replaced {
            self.members.retain(|(_, other, _)| *other != trial);
            self.copies.push_back(best);
        }
        is_replaced
    }
}

/// A search in progress.
#[derive(Debug)]
pub(crate) struct Schedule {
    is_asha: bool,
    /// Whether a trial that is not stopped trains towards the next rung without waiting.
    continues: bool,
    /// The population of population-based training; `None` for other algorithms.
    population: Option<Population>,
    eta: u64,
    brackets: Vec<Bracket>,
    outstanding: BTreeMap<u32, Job>,
}

impl Schedule {
    /// Creates a search with the given settings.
    pub fn new(plan: &Plan) -> Self {
        let is_pbt = plan.algorithm == Algorithm::Pbt;
        let continues = is_pbt || plan.algorithm == Algorithm::Median;
        let eta = u64::from(plan.eta.max(2));
        let mut first = 0u32;
        let mut bracket = |number: usize, trials: u64, resources: Vec<f64>| {
            let shrunk = |rung: u32| eta.checked_pow(rung).map_or(0, |power| trials / power);
            let sizes = (0..resources.len() as u32)
                .map(|rung| if continues { trials } else { shrunk(rung) })
                .collect();
            let bracket = Bracket {
                number: number as u32,
                sizes,
                first,
                started: 0,
                rung: 0,
                ready: Vec::new(),
                measured: vec![Vec::new(); resources.len()],
                promoted: vec![BTreeSet::new(); resources.len()],
                resources,
            };
            first = first.saturating_add(trials.min(u64::from(u32::MAX)) as u32);
            bracket
        };
        let trials = u64::from(plan.trials.unwrap_or(0));
        let brackets = match plan.algorithm {
            Algorithm::Random => vec![bracket(0, trials, vec![plan.max_resource])],
            Algorithm::SuccessiveHalving | Algorithm::Asha => {
                vec![bracket(0, trials, upward(plan))]
            }
            Algorithm::Median | Algorithm::Pbt => vec![bracket(0, trials, evenly(plan))],
            Algorithm::Hyperband | Algorithm::Bohb => {
                let all = downward(plan);
                let most = all.len();
                let of = |s: usize| {
                    let power = u128::from(eta).saturating_pow(s as u32);
                    let trials = (most as u128).saturating_mul(power).div_ceil(s as u128 + 1);
                    bracket(
                        s,
                        trials.min(u32::MAX.into()) as u64,
                        all[most - 1 - s..].to_vec(),
                    )
                };
                (0..most).rev().map(of).collect()
            }
        };
        Schedule {
            is_asha: plan.algorithm == Algorithm::Asha,
            continues,
            population: is_pbt.then(Population::default),
            eta,
            brackets,
            outstanding: BTreeMap::new(),
        }
    }

    /// The resource of the rung below a job's rung, and the resource of the job's rung.
    pub fn resources(&self, job: &Job) -> (f64, f64) {
        let own = self.brackets.iter().find(|b| b.number == job.bracket);
        let at = |rung: usize| own.and_then(|b| b.resources.get(rung)).copied();
        let below = job.rung.checked_sub(1).and_then(at);
        (below.unwrap_or(0.0), at(job.rung).unwrap_or(f64::NAN))
    }

    /// The next job; `None` if the search must wait for a loss, or is finished. `parent` is the recorded parent of the
    /// next new trial.
    pub fn next(&mut self, parent: Option<u32>) -> Option<Job> {
        if let Some(population) = &mut self.population
            && let Some(candidates) = population.copies.pop_front()
        {
            let known = |(trial, _): &&(u32, usize)| Some(*trial) == parent;
            let rung = candidates.iter().find(known)?.1;
            let bracket = self.brackets.first()?;
            let trial = bracket.started as u32 + population.copied;
            population.copied += 1;
            let job = bracket.job(trial, rung + 1)?;
            self.outstanding.insert(trial, job);
            return Some(job);
        }
        let copied = self.population.as_ref().map_or(0, |of| of.copied);
        let (is_asha, eta) = (self.is_asha, self.eta);
        let mut brackets = self.brackets.iter_mut();
        let job = brackets.find_map(|bracket| {
            if is_asha {
                bracket.asynchronous(eta)
            } else {
                bracket.synchronous()
            }
        })?;
        let job = Job {
            trial: job.trial + copied,
            ..job
        };
        self.outstanding.insert(job.trial, job);
        Some(job)
    }

    /// Whether no job is outstanding.
    pub fn is_idle(&self) -> bool {
        self.outstanding.is_empty()
    }

    /// Records the losses of a trial's job. Returns the job and the decisions that are now final, in
    /// order.
    pub fn report(&mut self, trial: u32, losses: &[f64]) -> Option<(Job, Vec<(u32, Verdict)>)> {
        let job = self.outstanding.remove(&trial)?;
        let bracket = self.brackets.iter_mut().find(|b| b.number == job.bracket)?;
        let row = Measured::new(trial, losses);
        let loss = row.first();
        bracket.measured.get_mut(job.rung)?.push(row);
        let is_last = job.rung + 1 == bracket.resources.len();
        let verdicts = if is_last {
            if let Some(population) = &mut self.population {
                population.members.retain(|(_, other, _)| *other != trial);
            }
            vec![(trial, Verdict::Finished)]
        } else if self.continues {
            let verdict = match &mut self.population {
                None => bracket.compare_with_median(trial, job.rung),
                Some(population) => {
                    if population.replaces(loss, trial, job.rung) {
                        Verdict::Stopped
                    } else {
                        Verdict::Promoted
                    }
                }
            };
            if verdict == Verdict::Promoted {
                let next = Job {
                    rung: job.rung + 1,
                    ..job
                };
                self.outstanding.insert(trial, next);
            }
            vec![(trial, verdict)]
        } else if !self.is_asha
            && bracket.measured[job.rung].len() as u64 == bracket.sizes[job.rung]
        {
            bracket.close(job.rung)
        } else {
            Vec::new()
        };
        Some((job, verdicts))
    }

    /// The next job of a trial that continues without waiting.
    pub fn resumed(&self, trial: u32) -> Option<Job> {
        self.outstanding.get(&trial).copied()
    }

    /// The trials that are waiting for a promotion, in ascending order of their numbers.
    pub fn unpromoted(&self) -> Vec<u32> {
        let mut found = BTreeSet::new();
        for bracket in &self.brackets {
            let below = bracket.resources.len().saturating_sub(1);
            for rung in 0..below {
                let is_done = !self.is_asha && bracket.rung > rung;
                let trials = bracket.measured[rung].iter().map(|row| row.trial);
                let is_done = is_done || self.continues;
                let waits = |trial: &u32| !is_done && !bracket.promoted[rung].contains(trial);
                found.extend(trials.filter(waits));
            }
        }
        found.into_iter().collect()
    }
}

impl Bracket {
    fn job(&self, trial: u32, rung: usize) -> Option<Job> {
        Some(Job {
            trial,
            bracket: self.number,
            rung,
        })
    }

    fn begin(&mut self) -> Option<Job> {
        if self.started >= *self.sizes.first()? {
            return None;
        }
        let trial = self.first + self.started as u32;
        self.started += 1;
        self.job(trial, 0)
    }

    /// Starts all trials of a rung before any trial of the next rung.
    fn synchronous(&mut self) -> Option<Job> {
        if self.rung == 0 {
            return self.begin();
        }
        if self.ready.is_empty() {
            return None;
        }
        let trial = self.ready.remove(0);
        self.job(trial, self.rung)
    }

    /// Promotes the best trials of a rung and stops the others.
    fn close(&mut self, rung: usize) -> Vec<(u32, Verdict)> {
        self.rung = rung + 1;
        let kept = self.sizes[rung + 1] as usize;
        let ranked = ranked(&self.measured[rung]);
        self.ready = ranked.iter().take(kept).copied().collect();
        let verdict = |(rank, trial): (usize, u32)| {
            let is_kept = rank < kept;
            (
                trial,
                if is_kept {
                    Verdict::Promoted
                } else {
                    Verdict::Stopped
                },
            )
        };
        ranked.into_iter().enumerate().map(verdict).collect()
    }

    /// The verdict on a trial at `rung`, which is below the last rung. For each trial that reached the last rung, the
    /// losses up to `rung` are averaged. The best loss of the judged trial so far is compared with the median of these
    /// averages.
    fn compare_with_median(&self, trial: u32, rung: usize) -> Verdict {
        let losses = |of: u32| {
            let rungs = self.measured.iter().take(rung + 1);
            rungs.filter_map(move |rung| Some(rung.iter().find(|row| row.trial == of)?.first()))
        };
        let finished = self.measured.last().into_iter().flatten();
        let mut means: Vec<f64> = finished
            .map(|other| losses(other.trial).sum::<f64>() / (rung + 1) as f64)
            .collect();
        means.sort_by(f64::total_cmp);
        let middle = |place: usize| means.get(place).map(|mean| mean / 2.0);
        let (low, high) = (means.len().saturating_sub(1) / 2, means.len() / 2);
        let median = middle(low).zip(middle(high)).map(|(a, b)| a + b);
        let best = losses(trial).fold(f64::INFINITY, f64::min);
        if median.is_some_and(|median| best > median) {
            Verdict::Stopped
        } else {
            Verdict::Promoted
        }
    }

    /// Visits the rungs from the top, and promotes at most one trial. A trial can be promoted if it is among the best
    /// 1/eta of its rung and has not yet been promoted from this rung. At the first rung with such trials, promotes the
    /// best of them. If no rung has such trials, starts a new trial. For example, with eta = 3 and 7 losses at a rung,
    /// the 2 best trials of the rung can be promoted.
    fn asynchronous(&mut self, eta: u64) -> Option<Job> {
        for rung in (0..self.resources.len().saturating_sub(1)).rev() {
            let top = self.measured[rung].len() / eta as usize;
            let mut best = ranked(&self.measured[rung]).into_iter().take(top);
            if let Some(trial) = best.find(|trial| !self.promoted[rung].contains(trial)) {
                self.promoted[rung].insert(trial);
                return self.job(trial, rung + 1);
            }
        }
        self.begin()
    }
}

/// The resources r, r·eta, r·eta², … below R, and R itself. Here, r is the minimum and R the maximum resource.
fn upward(plan: &Plan) -> Vec<f64> {
    let mut rungs = Vec::new();
    let mut power = 1.0;
    while plan.min_resource * power < plan.max_resource * (1.0 - SAME) && rungs.len() < MAX_RUNGS {
        rungs.push(plan.min_resource * power);
        power *= f64::from(plan.eta);
    }
    rungs.push(plan.max_resource);
    rungs
}

/// The resources r, 2r, 3r, … below R, and R itself.
fn evenly(plan: &Plan) -> Vec<f64> {
    let step = |n: usize| plan.min_resource * n as f64;
    let below = |resource: &f64| *resource < plan.max_resource * (1.0 - SAME);
    let rungs = (1..MAX_RUNGS).map(step).take_while(below);
    rungs.chain([plan.max_resource]).collect()
}

/// The resources R, R/eta, R/eta², … down to r, in ascending order.
fn downward(plan: &Plan) -> Vec<f64> {
    let mut rungs = Vec::new();
    let mut power = 1.0;
    while plan.min_resource * power <= plan.max_resource * (1.0 + SAME) && rungs.len() < MAX_RUNGS {
        rungs.push(plan.max_resource / power);
        power *= f64::from(plan.eta);
    }
    rungs.reverse();
    rungs
}

#[cfg(test)]
mod tests {
    use super::*;
    use gleaner_search::{Next, Search};
    use proptest::prelude::*;

    fn plan(algorithm: Algorithm, trials: u32, eta: u32, most: f64) -> Plan {
        Plan {
            trials: (!algorithm.derives_trials()).then_some(trials),
            eta,
            ..Plan::new(algorithm, most)
        }
    }

    proptest! {
        #![proptest_config(gleaner_testing::cases(128))]

        /// The search engine and this module produce the same jobs for all losses, regardless of the order in which the
        /// losses are reported.
        #[test]
        fn both_searches_agree(
            algorithm in 0usize..7,
            trials in 9u32..40,
            eta in 2u32..4,
            most in 1.0..30.0f64,
            losses in proptest::collection::vec(([0u8..9, 0u8..9], any::<u8>(), any::<bool>()), 400),
            number in 1usize..3,
        ) {
            let plan = plan(Algorithm::ALL[algorithm], trials, eta, most);
            // Only algorithms that rank trials by fronts support several losses.
            let has_fronts = !plan.algorithm.has_even_rungs() && plan.algorithm != Algorithm::Bohb;
            let number = if has_fronts { number } else { 1 };
            let values = [1, 2, 3].map(gleaner_search::Value::Whole).to_vec();
            let space = [("n".to_owned(), gleaner_search::Parameter::Choice(values))];
            let space = gleaner_search::Space(space.into());
            let Ok(mut theirs) = Search::seeded(plan.clone(), 5, &space) else { return Ok(()) };
            let mut ours = Schedule::new(&plan);
            let mut open: Vec<u32> = Vec::new();
            for (loss, pick, starts) in losses {
                if starts || open.is_empty() {
                    let next = match theirs.next() {
                        Next::Job(job) => Some(job),
                        Next::Wait | Next::Done => None,
                    };
                    let parent = match next {
                        Some(job) => theirs.parent(job.trial).map(|parent| parent.trial),
                        None => None,
                    };
                    let own = ours.next(parent);
                    prop_assert_eq!(next.map(|j| (j.trial, j.rung as usize, j.bracket)),
                        own.map(|j| (j.trial, j.rung, j.bracket)));
                    if let (Some(job), Some(own)) = (next, own) {
                        prop_assert_eq!((job.from, job.to), ours.resources(&own));
                        open.push(job.trial);
                    }
                } else {
                    let trial = open.remove(usize::from(pick) % open.len());
                    let losses = loss.map(|loss| if loss == 8 { f64::NAN } else { f64::from(loss) });
                    let verdicts = theirs.report_all(trial, &losses[..number]).unwrap();
                    let (_, own) = ours.report(trial, &losses[..number]).unwrap();
                    prop_assert_eq!(verdicts.len(), own.len());
                    for (verdict, (trial, own)) in verdicts.iter().zip(own) {
                        let same = match verdict {
                            gleaner_search::Verdict::Promoted { trial: of, .. } => (*of, Verdict::Promoted),
                            gleaner_search::Verdict::Stopped { trial: of } => (*of, Verdict::Stopped),
                            gleaner_search::Verdict::Finished { trial: of } => (*of, Verdict::Finished),
                        };
                        prop_assert_eq!(same, (trial, own));
                    }
                    if let Some(job) = theirs.resume(trial) {
                        let own = ours.resumed(trial).unwrap();
                        prop_assert_eq!((job.trial, job.rung as usize), (own.trial, own.rung));
                        prop_assert_eq!((job.from, job.to), ours.resources(&own));
                        open.push(trial);
                    } else {
                        prop_assert_eq!(ours.resumed(trial), None);
                    }
                }
                prop_assert_eq!(theirs.unpromoted(), ours.unpromoted());
            }
        }
    }
}
