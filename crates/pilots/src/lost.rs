//! The model in which the work of preempted pilots is lost.
//!
//! The scheduler does not know how long a fragment will last, but it knows its **age**: how long the node has been
//! idle. A plan is therefore a sequence of lengths. When a node becomes idle, the first pilot starts after the delay.
//! When the pilot ends, the age has grown by the delay and the pilot's length. The delay before the second pilot then
//! begins. Further pilots follow until another job needs the node. Only pilots that end by themselves count.
//!
//! Let S(x) be the number of fragments whose length is at least x. A pilot of length ℓ that is planned at age a ends by
//! itself in S(a + d + ℓ) fragments. In each of these fragments, the pilot has been ready for ℓ − w. The best plan that
//! starts at age a is therefore worth
//!
//! ```text
//! V(a) = max(0, max over ℓ of S(a + d + ℓ) · (ℓ − w) + V(a + d + ℓ)),   V(a) = 0 beyond the longest fragment,
//! ```
//!
//! which is computed from the greatest age down to 0. V(0) is the ready time of the best plan. The plan is chosen with
//! hindsight, so evaluate it on another log with [`planned`].

use gleaner_observer::Observer;
use serde::Serialize;

use super::ladder::gcd;
use super::{Costs, Fault, Fragments, Ladder};

/// The maximum number of ages that [`lost`] visits. Each age takes two bytes.
pub const MOST_AGES: u64 = 100_000_000;

/// Number of ages visited between two checks for a stop request.
const BETWEEN_CHECKS: usize = 1 << 16;

/// Marks the end of the plan, in place of the index of a length.
const END: u16 = u16::MAX;

/// A plan by age, and the ready time of its pilots.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Lost {
    /// Total time during which pilots that ended by themselves were ready.
    pub ready: u64,
    /// Number of pilots that ended by themselves.
    pub finished: u64,
    /// Number of pilots that were preempted.
    pub preempted: u64,
    /// The plan, by ascending age. No pilot starts after the last pilot of the plan.
    pub plan: Vec<Step>,
}

/// A pilot of a plan, with the numbers of fragments in which it starts and ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Step {
    /// Age of the fragment at which the pilot's delay begins.
    pub age: u64,
    /// The pilot's length.
    pub length: u64,
    /// Number of fragments in which the pilot starts.
    pub started: u64,
    /// Number of fragments in which the pilot ends by itself.
    pub finished: u64,
}

/// Finds the best plan by age.
///
/// # Errors
/// [`Fault::TooManyAges`] if there are more than [`MOST_AGES`] ages or at least 65,535 lengths. [`Fault::Stopped`] if
/// the observer stops the computation.
pub fn lost(
    fragments: &Fragments,
    ladder: &Ladder,
    observer: &dyn Observer,
) -> Result<Lost, Fault> {
    let ages = Ages::of(fragments, ladder)?;
    let choices = ages.choices(fragments, observer)?;
    Ok(ages.follow(fragments, &choices))
}

/// The ages that plans can reach.
struct Ages<'l> {
    ladder: &'l Ladder,
    /// The greatest common divisor of all ℓ + d. Every age that a plan reaches is a multiple of this unit. For
    /// example, pilots of 2 and 6 minutes with a delay of 10 s take 130 and 370 s, so a plan reaches only multiples
    /// of 10 s.
    unit: u64,
    /// ℓ + d of each length, in units.
    steps: Vec<usize>,
    /// Number of ages up to the longest fragment, in units.
    number: usize,
}

impl<'l> Ages<'l> {
    fn of(fragments: &Fragments, ladder: &'l Ladder) -> Result<Self, Fault> {
        let delay = ladder.costs().delay;
        let taken = ladder.lengths().iter().map(|length| length + delay);
        let unit = taken.clone().fold(0, gcd);
        let number = fragments.longest() / unit + 1;
        if number > MOST_AGES || ladder.lengths().len() >= usize::from(END) {
            return Err(Fault::TooManyAges(number));
        }
        Ok(Ages {
            ladder,
            unit,
            steps: taken.map(|taken| (taken / unit) as usize).collect(),
            number: number as usize,
        })
    }

    /// The best length at each age, as an index into the ladder, or [`END`].
    fn choices(&self, fragments: &Fragments, observer: &dyn Observer) -> Result<Vec<u16>, Fault> {
        let startup = self.ladder.costs().startup;
        let gains: Vec<u64> = self.ladder.lengths().iter().map(|l| l - startup).collect();
        // The value of an age depends only on ages up to the greatest step ahead, so only these values are kept, in a
        // ring buffer. The position of an age is the age modulo the ring's size.
        let size = self.steps.last().copied().unwrap_or(0) + 1;
        // S and V at each age in the ring.
        let mut ring = vec![(0u64, 0u64); size];
        let mut survivors = Survivors::of(fragments);
        let mut choices = vec![END; self.number];
        for age in (0..self.number).rev() {
            if age % BETWEEN_CHECKS == 0 {
                observer.progress(self.number - age, self.number);
                if observer.is_stopped() {
                    return Err(Fault::Stopped);
                }
            }
            let mut value = 0;
            for (choice, (&step, gain)) in self.steps.iter().zip(&gains).enumerate() {
                // No fragment reaches that age. The steps ascend, so this also holds for all further steps.
                if age + step >= self.number {
                    break;
                }
                let (surviving, then) = ring[(age + step) % size];
                let worth = surviving * gain + then;
                if worth > value {
                    value = worth;
                    choices[age] = choice as u16;
                }
            }
            ring[age % size] = (survivors.down_to(age as u64 * self.unit), value);
        }
        Ok(choices)
    }

    /// Follows the choices from age 0 to the end of the plan.
    fn follow(&self, fragments: &Fragments, choices: &[u16]) -> Lost {
        let mut tally = Tally::new(fragments, self.ladder.costs());
        let mut age = 0;
        while let Some(&choice) = choices.get(age).filter(|&&choice| choice != END) {
            let choice = usize::from(choice);
            tally.add(self.ladder.lengths()[choice]);
            age += self.steps[choice];
        }
        tally.lost
    }
}

/// Evaluates a plan by age: pilots of the given lengths, which a node runs one after another. The
/// plan usually comes from [`lost`] on another log. Pilots that are planned after the end of the
/// longest fragment are left out of [`Lost::plan`].
///
/// # Errors
/// [`Fault::NeverReady`] if a length does not exceed the start-up. [`Fault::TooLong`] if a length or a cost is too
/// long. The lengths of pilots that are left out are not checked.
pub fn planned(
    fragments: &Fragments,
    lengths: impl IntoIterator<Item = u64>,
    costs: Costs,
) -> Result<Lost, Fault> {
    let mut tally = Tally::new(fragments, costs);
    for length in lengths {
        if tally.is_over() {
            break;
        }
        Ladder::new([length], costs)?;
        tally.add(length);
    }
    Ok(tally.lost)
}

/// Counts the pilots of a plan, starting at age 0.
struct Tally<'f> {
    fragments: &'f Fragments,
    /// S at each length of the histogram.
    survivors: Vec<u64>,
    costs: Costs,
    /// Age of the node when the delay before the next pilot begins.
    age: u64,
    lost: Lost,
}

impl<'f> Tally<'f> {
    fn new(fragments: &'f Fragments, costs: Costs) -> Self {
        Tally {
            fragments,
            survivors: survivors(fragments),
            costs,
            age: 0,
            lost: Lost::default(),
        }
    }

    /// Whether no fragment is long enough for the next pilot to start.
    fn is_over(&self) -> bool {
        self.age.saturating_add(self.costs.delay) >= self.fragments.longest()
    }

    fn at_least(&self, length: u64) -> u64 {
        let counts = self.fragments.counts();
        self.survivors[counts.partition_point(|&(other, _)| other < length)]
    }

    /// Adds the next pilot of the plan to the totals.
    fn add(&mut self, length: u64) {
        // Sums may saturate: no fragment is as long as a sum that exceeds 64 bits.
        let begin = self.age.saturating_add(self.costs.delay);
        let end = begin.saturating_add(length);
        let step = Step {
            age: self.age,
            length,
            // If a fragment ends exactly when the delay ends, the pilot does not start.
            started: self.at_least(begin.saturating_add(1)),
            finished: self.at_least(end),
        };
        self.lost.ready += step.finished * (length - self.costs.startup);
        self.lost.finished += step.finished;
        self.lost.preempted += step.started - step.finished;
        self.lost.plan.push(step);
        self.age = end;
    }
}

/// S at each length of the histogram, and 0 for all longer lengths.
fn survivors(fragments: &Fragments) -> Vec<u64> {
    let numbers = fragments.counts().iter().rev().map(|&(_, number)| number);
    let sums = numbers.scan(0, |sum, number| {
        *sum += number;
        Some(*sum)
    });
    let mut survivors: Vec<u64> = std::iter::once(0).chain(sums).collect();
    survivors.reverse();
    survivors
}

/// S(x) for descending x.
struct Survivors<'f> {
    /// The lengths below the last queried x.
    shorter: &'f [(u64, u64)],
    number: u64,
}

impl<'f> Survivors<'f> {
    fn of(fragments: &'f Fragments) -> Self {
        Survivors {
            shorter: fragments.counts(),
            number: 0,
        }
    }

    /// The number of fragments whose length is at least `length`. `length` must not exceed the length passed to the
    /// previous call.
    fn down_to(&mut self, length: u64) -> u64 {
        while let Some((&(longest, number), shorter)) = self.shorter.split_last() {
            if longest < length {
                break;
            }
            self.number += number;
            self.shorter = shorter;
        }
        self.number
    }
}
