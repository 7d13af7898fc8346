//! Tests of the pickle reader as a whole.

mod asm;
mod fixtures;
mod hostile;
mod layout;
mod random;
mod shared_data;

/// The named fixtures, with their bytes.
macro_rules! fixtures {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_bytes!(concat!("../../tests/fixtures/", $name, ".pkl")))),*]
    };
}

/// A fixture's name and bytes.
type Fixture = (&'static str, &'static [u8]);

/// The event log, by pandas release and protocol.
const EVENTS: &[Fixture] = fixtures![
    "events-0.25.3-p4",
    "events-1.3.5-p4",
    "events-1.5.3-p2",
    "events-1.5.3-p3",
    "events-1.5.3-p4",
    "events-1.5.3-p5",
    "events-2.2.3-p2",
    "events-2.2.3-p3",
    "events-2.2.3-p4",
    "events-2.2.3-p5",
    "events-3.0.5-p4",
    "events-3.1.1-p2",
    "events-3.1.1-p3",
    "events-3.1.1-p4",
    "events-3.1.1-p5",
];

/// The table of tasks, by pandas release and protocol.
const TASKS: &[Fixture] = fixtures![
    "tasks-1.5.3-p2",
    "tasks-1.5.3-p5",
    "tasks-2.2.3-p2",
    "tasks-2.2.3-p5",
    "tasks-3.1.1-p2",
    "tasks-3.1.1-p5",
];

/// The scaling curves of the tasks, by pandas release and protocol.
const CURVES: &[Fixture] = fixtures![
    "curves-0.25.3-p4",
    "curves-1.3.5-p4",
    "curves-1.5.3-p2",
    "curves-1.5.3-p5",
    "curves-2.2.3-p2",
    "curves-2.2.3-p5",
    "curves-3.1.1-p2",
    "curves-3.1.1-p5",
];

/// All other kinds of columns, by pandas release and protocol.
const MIXED: &[Fixture] = fixtures![
    "mixed-1.5.3-p2",
    "mixed-1.5.3-p5",
    "mixed-2.2.3-p2",
    "mixed-2.2.3-p5",
    "mixed-3.1.1-p2",
    "mixed-3.1.1-p5",
];

/// Pickles that would run code if Python loaded them.
const HOSTILE: &[Fixture] = fixtures!["hostile-system", "hostile-eval"];

/// All fixtures that contain a table.
fn tables() -> impl Iterator<Item = Fixture> + Clone {
    [EVENTS, TASKS, CURVES, MIXED]
        .into_iter()
        .flatten()
        .copied()
}
