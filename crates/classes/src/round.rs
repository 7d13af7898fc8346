//! A fast heuristic that turns prices into a feasible plan: most tasks take their best item, and the others take the
//! best item that still fits.

use crate::reduced::{Item, Items, Reduced};

/// The plan that gives each task in turn the item with the least loss that still fits. Tasks whose second-best item has
/// the greatest loss come first. Then each task switches to the fitting item with the greatest gain, possibly in
/// another class. `None` if a task finds no item that fits, which happens only if some tasks must hold nodes.
pub(crate) fn plan(problem: &Reduced, prices: &[f64]) -> Option<Vec<Item>> {
    let mut free = problem.capacity.clone();
    let mut order: Vec<(f64, usize)> = (0..problem.tasks.len())
        .map(|task| (second_loss(problem, task, prices), task))
        .collect();
    order.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    let mut items = vec![Item::NONE; problem.tasks.len()];
    for (_, task) in &order {
        let best = greatest(&problem.tasks[*task], &free, |item| item.profit(prices))?;
        take(&best, &mut free);
        items[*task] = best;
    }
    // In reverse order, because the last tasks had the fewest nodes to choose from.
    for (_, task) in order.iter().rev() {
        let held = &mut items[*task];
        give_back(held, &mut free);
        let best = greatest(&problem.tasks[*task], &free, |item| item.gain);
        if let Some(best) = best.filter(|best| best.gain > held.gain) {
            *held = best;
        }
        take(held, &mut free);
    }
    Some(items)
}

/// The item with the greatest worth among those that fit.
fn greatest(items: &Items, free: &[u32], worth: impl Fn(&Item) -> f64) -> Option<Item> {
    let fitting = items.all.iter().filter(|item| fits(item, free));
    fitting
        .max_by(|a, b| worth(a).total_cmp(&worth(b)))
        .copied()
}

/// Whether the items of a plan fit into the classes.
pub(crate) fn fits_all(items: &[Item], capacity: &[u32]) -> bool {
    let mut free = capacity.to_vec();
    items.iter().all(|item| {
        let is_fitting = fits(item, &free);
        if is_fitting {
            take(item, &mut free);
        }
        is_fitting
    })
}

/// The loss of a task's second-best item.
fn second_loss(problem: &Reduced, task: usize, prices: &[f64]) -> f64 {
    let (mut first, mut second) = (f64::NEG_INFINITY, f64::NEG_INFINITY);
    for item in &problem.tasks[task].all {
        let profit = item.profit(prices);
        if profit > first {
            (first, second) = (profit, first);
        } else if profit > second {
            second = profit;
        }
    }
    first - second
}

fn fits(item: &Item, free: &[u32]) -> bool {
    item.held()
        .is_none_or(|held| held.count <= free[held.class])
}

fn take(item: &Item, free: &mut [u32]) {
    if let Some(held) = item.held() {
        free[held.class] -= held.count;
    }
}

fn give_back(item: &Item, free: &mut [u32]) {
    if let Some(held) = item.held() {
        free[held.class] += held.count;
    }
}
