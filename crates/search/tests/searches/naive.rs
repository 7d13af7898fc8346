//! The algorithms of the papers, implemented with plain lists for resources that are whole numbers. They share no code
//! with the library.

/// The best `count` trials, given these losses.
fn top_k(losses: &[(f64, u32)], count: usize) -> Vec<u32> {
    let worst_if_diverged = |loss: f64| {
        if loss.is_finite() {
            loss
        } else {
            f64::INFINITY
        }
    };
    let mut sorted = losses.to_vec();
    sorted.sort_by_key(|(_, trial)| *trial);
    // The sort is stable: trials with equal losses stay in the order of their numbers.
    sorted.sort_by(|a, b| {
        let (a, b) = (worst_if_diverged(a.0), worst_if_diverged(b.0));
        a.partial_cmp(&b).unwrap()
    });
    sorted.truncate(count);
    sorted.into_iter().map(|(_, trial)| trial).collect()
}

/// Runs successive halving on `rungs` rungs and returns the trials of each rung. From the second rung on, the best
/// trials come first.
///
/// This is Algorithm 1 of Li et al. 2020. `loss(trial, i)` is its run_then_return_val_loss.
pub fn successive_halving(
    trials: Vec<u32>,
    rungs: usize,
    eta: usize,
    loss: &dyn Fn(u32, usize) -> f64,
) -> Vec<Vec<u32>> {
    let n = trials.len();
    let mut alive = trials;
    let mut all = Vec::new();
    for i in 0..rungs {
        let mut n_i = n;
        for _ in 0..i {
            n_i /= eta;
        }
        assert_eq!(alive.len(), n_i);
        let losses: Vec<(f64, u32)> = alive.iter().map(|&trial| (loss(trial, i), trial)).collect();
        all.push(alive);
        alive = top_k(&losses, n_i / eta);
    }
    all
}

/// A bracket of Hyperband: its s, and the resource and trials of each rung.
pub type HyperbandBracket = (u32, Vec<(f64, Vec<u32>)>);

/// Runs Hyperband (Li et al. 2018, Algorithm 1). `loss(trial, k)` is the loss at R·eta^-k.
pub fn hyperband(
    r: usize,
    big_r: usize,
    eta: usize,
    loss: &dyn Fn(u32, usize) -> f64,
) -> Vec<HyperbandBracket> {
    let mut s_max = 0;
    while r * eta.pow(s_max + 1) <= big_r {
        s_max += 1;
    }
    let mut first = 0;
    let mut all = Vec::new();
    for s in (0..=s_max).rev() {
        // The least integer n with n >= (s_max + 1) / (s + 1) * eta^s.
        let mut n = 1;
        while n * (s as usize + 1) < (s_max as usize + 1) * eta.pow(s) {
            n += 1;
        }
        let trials: Vec<u32> = (first..first + n as u32).collect();
        first += n as u32;
        let at = |trial: u32, i: usize| loss(trial, s as usize - i);
        let rungs = successive_halving(trials, s as usize + 1, eta, &at);
        let resource = |i: usize| big_r as f64 / eta.pow(s - i as u32) as f64;
        let rungs = rungs.into_iter().enumerate();
        all.push((s, rungs.map(|(i, trials)| (resource(i), trials)).collect()));
    }
    all
}

/// ASHA (Li et al. 2020, Algorithm 2), with a limit on the number of trials.
pub struct Asha {
    /// The losses reported on each rung, with their trials.
    rungs: Vec<Vec<(f64, u32)>>,
    /// The trials promoted from each rung.
    promoted: Vec<Vec<u32>>,
    eta: usize,
    started: u32,
    trials: u32,
}

impl Asha {
    pub fn new(rungs: usize, eta: usize, trials: u32) -> Self {
        Asha {
            rungs: vec![Vec::new(); rungs],
            promoted: vec![Vec::new(); rungs],
            eta,
            started: 0,
            trials,
        }
    }

    /// The trial of the next job, and the job's rung.
    pub fn get_job(&mut self) -> Option<(u32, u32)> {
        for k in (0..self.rungs.len() - 1).rev() {
            let candidates = top_k(&self.rungs[k], self.rungs[k].len() / self.eta);
            for trial in candidates {
                if !self.promoted[k].contains(&trial) {
                    self.promoted[k].push(trial);
                    return Some((trial, k as u32 + 1));
                }
            }
        }
        if self.started == self.trials {
            return None;
        }
        self.started += 1;
        Some((self.started - 1, 0))
    }

    pub fn report(&mut self, trial: u32, rung: u32, loss: f64) {
        self.rungs[rung as usize].push((loss, trial));
    }

    /// Trials whose last measurement was below the last rung and that have not been promoted since.
    pub fn unpromoted(&self) -> Vec<u32> {
        let mut left = Vec::new();
        for k in 0..self.rungs.len() - 1 {
            for (_, trial) in &self.rungs[k] {
                if !self.promoted[k].contains(trial) {
                    left.push(*trial);
                }
            }
        }
        left.sort();
        left
    }
}
