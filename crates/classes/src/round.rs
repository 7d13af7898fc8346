//! A fast heuristic that turns prices into a feasible plan: most tasks take their best item, and the others take the
//! best item that still fits.

use crate::reduced::{Item, Items, Reduced};

/// Gives each task in turn an item: the task's item in `wish` if this item fits, and otherwise the fitting item with
/// the least loss. Tasks whose second-best item has the greatest loss come first. Then each task switches to the
/// fitting item with the greatest gain, possibly in another class. Returns `None` if none of a task's items fits, which
/// happens only if some tasks must hold nodes.
pub(crate) fn plan(problem: &Reduced, prices: &[f64], wish: Option<&[Item]>) -> Option<Vec<Item>> {
    let mut free = problem.capacity.clone();
    let losses: Vec<f64> = problem
        .kinds
        .iter()
        .map(|kind| second_loss(kind, prices))
        .collect();
    let tasks = problem.kind.iter().enumerate();
    let mut order: Vec<(f64, usize)> = tasks.map(|(task, kind)| (losses[*kind], task)).collect();
    order.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    let mut items = vec![Item::NONE; problem.len()];
    for (_, task) in &order {
        let wished = wish
            .map(|wish| wish[*task])
            .filter(|item| fits(item, &free));
        let best = match wished {
            Some(item) => item,
            None => greatest(problem.items(*task), &free, |item| item.profit(prices))?,
        };
        take(&best, &mut free);
        items[*task] = best;
    }
    // The last tasks had the fewest nodes to choose from, so they are the first to improve.
    for (_, task) in order.iter().rev() {
        let held = &mut items[*task];
        give_back(held, &mut free);
        let best = greatest(problem.items(*task), &free, |item| item.gain);
        if let Some(best) = best.filter(|best| best.gain > held.gain) {
            *held = best;
        }
        take(held, &mut free);
    }
    Some(items)
}

/// Rounds a mix of plans to one plan: the tasks of each kind hold its items in proportion to their shares. For example,
/// in the mix, 10 tasks of one kind hold 2 nodes with a share of 0.7 and 5 nodes with a share of 0.3. Then 7 of the
/// tasks hold 2 nodes, and 3 hold 5. A task that is the only one of its kind holds an item with a large share. The plan
/// may not fit into the classes. Returns `None` if the mix is empty.
pub(crate) fn shared(problem: &Reduced, mix: &[(f64, Vec<Item>)]) -> Option<Vec<Item>> {
    let mut plans: Vec<&(f64, Vec<Item>)> = mix.iter().collect();
    plans.sort_by(|a, b| b.0.total_cmp(&a.0));
    let total: f64 = plans.iter().map(|(share, _)| share).sum();
    let mut sizes = vec![0usize; problem.kinds.len()];
    problem.kind.iter().for_each(|kind| sizes[*kind] += 1);
    let mut next = vec![0usize; problem.kinds.len()];
    let tasks = problem.kind.iter().enumerate();
    tasks
        .map(|(task, kind)| {
            let position = (next[*kind] as f64 + 0.5) / sizes[*kind] as f64 * total;
            next[*kind] += 1;
            let mut sum = 0.0;
            let plan = plans.iter().find(|(share, _)| {
                sum += share;
                position < sum
            });
            plan.or(plans.last()).map(|(_, items)| items[task])
        })
        .collect()
}

/// The item with the greatest `worth` among the items that fit.
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
fn second_loss(items: &Items, prices: &[f64]) -> f64 {
    let (mut first, mut second) = (f64::NEG_INFINITY, f64::NEG_INFINITY);
    for item in &items.all {
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
