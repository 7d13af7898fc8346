//! Notes on the number of GPUs of each policy. Only policies that ran on the same number of GPUs can be compared.

use super::Named;

/// A number of GPUs, and the policies that ran on that number.
type Group<'a> = (u64, Vec<&'a str>);

/// Groups a run's policies by their number of GPUs. Groups are in the order of first appearance.
pub(super) fn of<'a>(run: &Named<'a>) -> Vec<Group<'a>> {
    let mut groups: Vec<Group<'a>> = Vec::new();
    for policy in &run.result.policies {
        let gpus = policy.figures.gpus;
        match groups.iter_mut().find(|(number, _)| *number == gpus) {
            Some((_, names)) => names.push(&policy.name),
            None => groups.push((gpus, vec![&policy.name])),
        }
    }
    groups
}

/// Formats the groups as text: `192 GPUs for fifo, sjf; 208 for lucid`.
pub(super) fn listed(groups: &[Group<'_>]) -> String {
    let parts = groups.iter().enumerate().map(|(place, (gpus, names))| {
        let unit = if place == 0 { " GPUs" } else { "" };
        format!("{gpus}{unit} for {}", names.join(", "))
    });
    parts.collect::<Vec<_>>().join("; ")
}

/// A note if the policies of one run had different numbers of GPUs.
pub(super) fn note(run: &Named<'_>) -> Option<String> {
    let groups = of(run);
    (groups.len() > 1).then(|| {
        format!(
            "The policies ran on different numbers of GPUs: {}. The difference comes from \
             profiler nodes that are not lent by any virtual cluster. To compare all policies on the same number \
             of GPUs, run gleaner simulate --lend auto.",
            listed(&groups)
        )
    })
}

/// A note if policies had different numbers of GPUs, either within a run or across the compared runs.
pub(super) fn note_of_all(runs: &[Named<'_>]) -> Option<String> {
    let numbers = runs.iter().flat_map(of).map(|(gpus, _)| gpus);
    let (least, most) = numbers.fold((u64::MAX, 0), |(least, most), gpus| {
        (least.min(gpus), most.max(gpus))
    });
    (least < most).then(|| {
        format!(
            "Not all policies ran on the same number of GPUs: the numbers range from {least} to {most} (see below)."
        )
    })
}
