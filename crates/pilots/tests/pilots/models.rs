//! Compares the three models with plain simulations.

use gleaner_observer::Unobserved;
use gleaner_pilots::{Costs, Fault, Fragments, Ladder, Lost, fits, kept, lost, placed, planned};
use gleaner_testing::StopAtCheck;
use proptest::prelude::*;

use super::{costs, ladders, lengths};

/// The state of a node in one second of a plain simulation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Doing {
    Waiting,
    StartingUp,
    Ready,
    Nothing,
}

/// Simulates, second by second, a fragment whose end the scheduler knows. Returns the state of the node in each second,
/// and the number of pilots.
fn plain_fits(fragment: u64, ladder: &Ladder) -> (Vec<Doing>, u64) {
    let costs = ladder.costs();
    let (mut doing, mut pilots) = (Vec::new(), 0);
    while (doing.len() as u64) < fragment {
        let rest = fragment - doing.len() as u64;
        let fitting = ladder
            .lengths()
            .iter()
            .filter(|&&l| costs.delay + l <= rest);
        let Some(&length) = fitting.max() else {
            doing.push(Doing::Nothing);
            continue;
        };
        pilots += 1;
        for (seconds, what) in [
            (costs.delay, Doing::Waiting),
            (costs.startup, Doing::StartingUp),
            (length - costs.startup, Doing::Ready),
        ] {
            doing.extend((0..seconds).map(|_| what));
        }
    }
    (doing, pilots)
}

/// Simulates, second by second, a fragment with one pilot that is preempted.
fn plain_kept(fragment: u64, costs: Costs) -> Vec<Doing> {
    let at = |second| match second {
        _ if second < costs.delay => Doing::Waiting,
        _ if second < costs.delay + costs.startup => Doing::StartingUp,
        _ => Doing::Ready,
    };
    (0..fragment).map(at).collect()
}

fn count(doing: &[Doing], what: Doing) -> u64 {
    doing.iter().filter(|&&other| other == what).count() as u64
}

/// Simulates a plan by age, fragment by fragment, and returns its ready time.
fn plain_lost(fragments: &[u64], plan: &[u64], costs: Costs) -> u64 {
    let ready = |fragment: &u64| {
        let mut age = 0;
        let mut ready = 0;
        for length in plan {
            age += costs.delay + length;
            if age > *fragment {
                break;
            }
            ready += length - costs.startup;
        }
        ready
    };
    fragments.iter().map(ready).sum()
}

/// The greatest ready time of all plans that begin with `plan`.
fn best_plan(fragments: &[u64], plan: &mut Vec<u64>, ladder: &Ladder) -> u64 {
    let costs = ladder.costs();
    let mut best = plain_lost(fragments, plan, costs);
    let age: u64 = plan.iter().map(|length| costs.delay + length).sum();
    let longest = fragments.iter().max().copied().unwrap_or(0);
    for &length in ladder.lengths() {
        if age + costs.delay + length <= longest {
            plan.push(length);
            best = best.max(best_plan(fragments, plan, ladder));
            plan.pop();
        }
    }
    best
}

proptest! {
    #![proptest_config(gleaner_testing::cases(512))]

    #[test]
    fn fits_is_the_plain_simulation(lengths in lengths(60), ladder in ladders()) {
        let found = fits(&Fragments::new(lengths.iter().copied()).unwrap(), &ladder);
        let plain: Vec<_> = lengths.iter().map(|&length| plain_fits(length, &ladder)).collect();
        let sum = |what| plain.iter().map(|(doing, _)| count(doing, what)).sum::<u64>();
        prop_assert_eq!(found.ready, sum(Doing::Ready));
        prop_assert_eq!(found.startup, sum(Doing::StartingUp));
        prop_assert_eq!(found.delay, sum(Doing::Waiting));
        prop_assert_eq!(found.unused, sum(Doing::Nothing));
        prop_assert_eq!(found.pilots, plain.iter().map(|(_, pilots)| pilots).sum::<u64>());
    }

    #[test]
    fn placed_pilots_are_those_of_the_plain_simulation(length in 0u64..60, ladder in ladders()) {
        let (plain, pilots) = plain_fits(length, &ladder);
        let costs = ladder.costs();
        let mut doing = vec![Doing::Nothing; plain.len()];
        let mut number = 0;
        for pilot in placed(length, &ladder) {
            let start = pilot.start as usize;
            let ready = start + costs.startup as usize;
            let end = start + pilot.length as usize;
            doing[start - costs.delay as usize..start].fill(Doing::Waiting);
            doing[start..ready].fill(Doing::StartingUp);
            doing[ready..end].fill(Doing::Ready);
            number += 1;
        }
        prop_assert_eq!((doing, number), (plain, pilots));
    }

    #[test]
    fn kept_is_the_plain_simulation(lengths in lengths(60), costs in costs(20, 20)) {
        let found = kept(&Fragments::new(lengths.iter().copied()).unwrap(), costs);
        let plain: Vec<_> = lengths.iter().map(|&length| plain_kept(length, costs)).collect();
        let sum = |what| plain.iter().map(|doing| count(doing, what)).sum::<u64>();
        prop_assert_eq!(found.ready, sum(Doing::Ready));
        prop_assert_eq!(found.startup, sum(Doing::StartingUp));
        prop_assert_eq!(found.delay, sum(Doing::Waiting));
    }

    #[test]
    fn lost_is_the_best_of_all_plans(lengths in lengths(25), ladder in ladders()) {
        let fragments = Fragments::new(lengths.iter().copied()).unwrap();
        let found = lost(&fragments, &ladder, &Unobserved).unwrap();
        prop_assert_eq!(found.ready, best_plan(&lengths, &mut Vec::new(), &ladder));
        check_plan(&found, &lengths, &ladder);
        let plan = found.plan.iter().map(|step| step.length);
        prop_assert_eq!(planned(&fragments, plan, ladder.costs()).unwrap(), found);
    }

    #[test]
    fn any_plan_can_be_evaluated(
        lengths in lengths(60),
        ladder in ladders(),
        plan in prop::collection::vec(any::<prop::sample::Index>(), 0..20),
    ) {
        let fragments = Fragments::new(lengths.iter().copied()).unwrap();
        let plan: Vec<u64> = plan.iter().map(|index| *index.get(ladder.lengths())).collect();
        let found = planned(&fragments, plan.iter().copied(), ladder.costs()).unwrap();
        check_plan(&found, &lengths, &ladder);
        prop_assert_eq!(found.ready, plain_lost(&lengths, &plan, ladder.costs()));
        let best = lost(&fragments, &ladder, &Unobserved).unwrap();
        prop_assert!(found.ready <= best.ready);
    }

    // Under `kept`, pilots are ready at least as long as under the other two models.
    #[test]
    fn ignorance_and_losses_cost_ready_time(lengths in lengths(60), ladder in ladders()) {
        let fragments = Fragments::new(lengths).unwrap();
        let lost = lost(&fragments, &ladder, &Unobserved).unwrap().ready;
        let kept = kept(&fragments, ladder.costs()).ready;
        prop_assert!(lost <= kept);
        prop_assert!(fits(&fragments, &ladder).ready <= kept);
    }
}

/// Checks the steps of a plan against the fragments.
fn check_plan(found: &Lost, fragments: &[u64], ladder: &Ladder) {
    let costs = ladder.costs();
    let plan: Vec<u64> = found.plan.iter().map(|step| step.length).collect();
    assert_eq!(found.ready, plain_lost(fragments, &plan, costs));
    let number = |from: u64| fragments.iter().filter(|&&length| length >= from).count() as u64;
    let mut age = 0;
    for step in &found.plan {
        assert_eq!(step.age, age);
        assert_eq!(step.started, number(age + costs.delay + 1));
        assert_eq!(step.finished, number(age + costs.delay + step.length));
        age += costs.delay + step.length;
    }
    let sum = |of: fn(&gleaner_pilots::Step) -> u64| found.plan.iter().map(of).sum::<u64>();
    assert_eq!(found.finished, sum(|step| step.finished));
    assert_eq!(found.preempted, sum(|step| step.started - step.finished));
}

// After the delay of 1, a pilot of 4 fits only fragments of at least 5.
#[test]
fn a_fragment_that_is_just_long_enough_holds_a_pilot() {
    let costs = Costs {
        startup: 3,
        delay: 1,
    };
    let ladder = Ladder::new([4], costs).unwrap();
    let fragments = Fragments::new([4, 5]).unwrap();
    let found = fits(&fragments, &ladder);
    assert_eq!((found.ready, found.pilots, found.unused), (1, 1, 4));
    assert_eq!(lost(&fragments, &ladder, &Unobserved).unwrap().ready, 1);
    assert_eq!(kept(&fragments, costs).ready, 1);
}

#[test]
fn pilots_of_a_plan_must_become_ready() {
    let costs = Costs {
        startup: 3,
        delay: 0,
    };
    let fragments = Fragments::new([10]).unwrap();
    let fault = Fault::NeverReady {
        length: 3,
        startup: 3,
    };
    assert_eq!(planned(&fragments, [4, 3], costs), Err(fault));
    // Pilots planned after the end of the longest fragment are ignored, even if the plan is endless.
    let found = planned(&fragments, std::iter::repeat(4), costs).unwrap();
    assert_eq!((found.ready, found.plan.len()), (2, 3));
}

#[test]
fn without_fragments_nothing_is_ready() {
    let ladder = Ladder::new([4], Costs::default()).unwrap();
    let none = Fragments::new([0]).unwrap();
    assert_eq!((none.number(), none.total(), none.longest()), (0, 0, 0));
    assert_eq!(none.share(0), 0.0);
    assert_eq!(fits(&none, &ladder).ready, 0);
    let lost = lost(&none, &ladder, &Unobserved).unwrap();
    assert_eq!((lost.ready, lost.plan.len()), (0, 0));
}

#[test]
fn lost_bounds_its_memory_and_can_be_stopped() {
    let ladder = Ladder::new([60, 61], Costs::default()).unwrap();
    let century = Fragments::new([3_155_760_000]).unwrap();
    let fault = lost(&century, &ladder, &Unobserved).unwrap_err();
    assert_eq!(fault, Fault::TooManyAges(3_155_760_001));
    let day = Fragments::new([86_400]).unwrap();
    let stopped = lost(&day, &ladder, &StopAtCheck::new(1));
    assert_eq!(stopped, Err(Fault::Stopped));
}
