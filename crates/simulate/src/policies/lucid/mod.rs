//! Lucid (Hu et al., ASPLOS 2023): least estimated service first, with GPUs shared where this is
//! beneficial.

mod partners;
mod sharing;
mod waiting;

use super::{Context, Needs, PolicyEntry, Priority};
use crate::policy::{Decision, Policy};
use crate::view::View;
use gleaner_domain::Job;
use gleaner_domain::inputs::{Packing, Pair};

use gleaner_domain::results::simulate::Durations;
use partners::Partners;
use sharing::Sharing;
use waiting::{Pass, Waiting};

pub(super) const ENTRY: PolicyEntry<'static> = PolicyEntry {
    name: "lucid",
    title: "Lucid: jobs profiled, least estimated service first, GPUs shared where it pays",
    needs: Needs::Packing,
    durations: Durations::Estimated,
    notice: 1,
    profiled: true,
    published: true,
    make: &make,
};

/// Maximum number of GPUs of a job that may share its GPUs.
const SHARED_GPUS: u32 = 8;

fn make<'a>(context: &Context<'a>) -> Box<dyn Policy + 'a> {
    let rate = |(job, estimate): (&&Job, &f64)| {
        if context.without.estimate {
            -1.0
        } else {
            estimate * f64::from(job.gpus)
        }
    };
    let jobs = context.jobs.iter().zip(context.estimates);
    let priorities: Vec<f64> = jobs.map(rate).collect();
    Box::new(Lucid {
        partners: Partners::new(context, &priorities),
        priorities,
        packing: context.packing,
        sharing: Sharing::new(context),
        waiting: Waiting::default(),
        pass: None,
    })
}

/// Waiting jobs are considered in ascending order of estimated duration times GPUs. While sharing is
/// off, the first job that does not fit blocks all later jobs. While sharing is on, every job is tried:
/// first on the GPUs of a compatible running job, then on free GPUs.
///
/// A job that could not start is reconsidered only when enough GPUs for it are free or a possible
/// partner has appeared. The time per decision therefore does not grow with the length of the queue.
struct Lucid<'a> {
    priorities: Vec<f64>,
    packing: Option<&'a dyn Packing>,
    sharing: Sharing<'a>,
    waiting: Waiting,
    partners: Partners,
    /// The walk over the queue in this round, while sharing is on.
    pass: Option<Pass>,
}

impl Lucid<'_> {
    /// While sharing is off: starts the first waiting job if it fits.
    fn next_in_order(&self, view: &View<'_>) -> Option<Decision> {
        let (job, gpus) = self.waiting.first()?;
        let placement = view.place(gpus)?;
        Some(Decision::Start { job, placement })
    }

    /// While sharing is on: starts the next waiting job that can start.
    fn next_of_all(&mut self, pass: &mut Pass, view: &View<'_>) -> Option<Decision> {
        while let Some((job, gpus)) = pass.next(&self.waiting) {
            if let Some(with) = self.partners.find(job, gpus, view)
                && let Some(pair) = self.pair(job, with, view)
            {
                return Some(Decision::Share { job, with, pair });
            }
            if pass.may_fit(gpus)
                && let Some(placement) = view.place(gpus)
            {
                return Some(Decision::Start { job, placement });
            }
            pass.refuse(gpus, self.partners.appeared(gpus));
        }
        None
    }

    fn pair(&self, job: usize, with: usize, view: &View<'_>) -> Option<Pair> {
        self.packing?.pair(view.job(job), view.job(with))
    }
}

impl Policy for Lucid<'_> {
    fn submitted(&mut self, job: usize, view: &View<'_>) {
        let priority = Priority::new(self.priorities[job]);
        self.waiting.insert(priority, job, view.job(job).gpus);
    }

    fn started(&mut self, job: usize, view: &View<'_>) {
        let gpus = view.job(job).gpus;
        let priority = Priority::new(self.priorities[job]);
        self.waiting.remove(priority, job, gpus);
        self.partners.started(job, view);
    }

    fn ended(&mut self, job: usize, view: &View<'_>) {
        self.partners.ended(job, view);
    }

    fn restored(&mut self, job: usize, view: &View<'_>) {
        self.partners.appear(job, view);
    }

    fn open(&mut self, view: &View<'_>) {
        self.pass = self.sharing.is_on(view.now()).then(|| {
            let fits = |gpus| view.place(gpus).is_some();
            let appeared = |gpus| self.partners.appeared(gpus);
            Pass::begin(&mut self.waiting, fits, appeared)
        });
    }

    fn next(&mut self, view: &View<'_>) -> Option<Decision> {
        match self.pass.take() {
            None => self.next_in_order(view),
            Some(mut pass) => {
                let decision = self.next_of_all(&mut pass, view);
                self.pass = Some(pass);
                decision
            }
        }
    }

    /// Wakes at the next check that switches sharing on. While sharing is on, all jobs that can start have started.
    /// After a job has found neither GPUs nor a partner, no later job of the same size can start on free GPUs in this
    /// walk. Therefore, no new partner appears for the rejected job.
    fn wake(&mut self, view: &View<'_>) -> Option<i64> {
        if self.waiting.is_empty() || self.pass.is_some() {
            return None;
        }
        self.sharing.next_on(view.now())
    }

    fn priority(&self, job: usize) -> Option<f64> {
        Some(self.priorities[job])
    }
}
