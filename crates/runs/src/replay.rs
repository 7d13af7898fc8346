//! The tables of a replay.

use gleaner_domain::EventLog;
use gleaner_domain::results::Table;
use gleaner_domain::results::replay::Outcome;
use gleaner_domain::results::replay::{AllocationRow, FragmentRow};
use gleaner_inspect::fragment_bins;

/// The idle fragments of a log, grouped by length.
pub fn fragments(log: &EventLog) -> Vec<FragmentRow> {
    let row = |bin: gleaner_inspect::Bin| FragmentRow {
        from_s: bin.from_s,
        to_s: bin.to_s,
        fragments: bin.count as u64,
        node_seconds: bin.sum_s,
    };
    fragment_bins(log).into_iter().map(row).collect()
}

/// The class of each node of the log; `None` if the results are not split by class.
fn class_of_node<'a>(outcome: &Outcome, log: &'a EventLog) -> Option<Vec<&'a str>> {
    let classes = log.classes().filter(|_| outcome.classes.is_some())?;
    let nodes = classes.of_nodes().iter();
    Some(
        nodes
            .map(|class| classes.names()[usize::from(*class)].as_str())
            .collect(),
    )
}

/// All tables of a replay of `log`. `fragments` are the idle fragments of the log. If a search trains the tasks, the
/// tables of the search are included. Times are local times at the first UTC offset of the log's clock.
pub fn tables<'a>(
    outcome: &'a Outcome,
    log: &'a EventLog,
    fragments: &'a [FragmentRow],
) -> Vec<Table<'a>> {
    let mut tables = vec![
        Table::of("steps", &outcome.steps),
        Table::of("timings", &outcome.timings),
        Table::of("tasks", &outcome.tasks),
        AllocationRow::table(
            &outcome.allocations,
            &outcome.tasks,
            log.nodes(),
            class_of_node(outcome, log),
        ),
        Table::of("fragments", fragments),
    ];
    if let Some(delays) = &outcome.delays {
        tables.push(Table::of("delays", delays));
    }
    if let Some(classes) = &outcome.classes {
        tables.push(Table::of("classes", &classes.rows));
        tables.push(Table::of("moves", &classes.moves));
        tables.push(Table::of("class_totals", &classes.totals));
    }
    if let Some(search) = &outcome.search {
        tables.push(Table::of("search", &search.events));
        tables.push(Table::of("trials", &search.trials));
        tables.push(Table::of("rungs", &search.rungs));
    }
    let offset = log.clock().first_offset();
    tables
        .into_iter()
        .map(|table| table.at_offset(offset))
        .collect()
}
