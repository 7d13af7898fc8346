//! Faults that are built into the world on purpose. Each fault must violate an invariant. This proves that the
//! invariant can fail.

use gleaner_harvest::core::{Command, Event, Order};

use crate::checks::Invariant;
use crate::world::World;

/// A deliberate fault of the daemon, of a pilot or of the core.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sabotage {
    /// Orders to stop a run are dropped.
    NoStops,
    /// Silent pilots count as ended.
    SilentIsOver,
    /// Submissions are acknowledged, but not written to the journal.
    LostSubmissions,
    /// A pilot reports the end of a rank as soon as it sends SIGTERM.
    EarlyExits,
    /// Reports of earlier runs count as reports of the current run.
    OldReports,
    /// Reports of trials contain no losses.
    LostLosses,
    /// Every rank reports success.
    AllSucceed,
    /// The tasks' minimum numbers of nodes are ignored.
    WiderBounds,
    /// The journal records the times of events only in whole seconds.
    CoarseTimes,
    /// Limits on pilots and node-hours are ignored.
    NoCaps,
    /// Pilots are neither dismissed nor cancelled.
    NoDismissals,
    /// Runs are killed without a grace period.
    NoGrace,
    /// Pilots ignore their leases.
    NoLease,
    /// Pilots leave without informing the daemon.
    NoLeaving,
    /// Pilots do not list their ranks when they connect.
    SilentGreeting,
    /// The last entries of the journal are lost in a crash.
    NoSync,
    /// Tasks are not started again after a failure.
    NoRetries,
    /// Plans use more nodes than there are.
    BadPlans,
    /// No decision is ever made.
    NoDecisions,
    /// Pilots report classes that their nodes do not have.
    WrongClasses,
    /// Tasks are submitted without their groups.
    NoGroups,
    /// Snapshots claim to contain one event more than they do.
    EarlySnapshots,
}

/// Each fault, with a list of invariants, at least one of which must fail.
pub const ALL: &[(Sabotage, &[Invariant])] = &[
    (Sabotage::NoStops, &[Invariant::Liveness]),
    (
        Sabotage::SilentIsOver,
        &[Invariant::OneTask, Invariant::OneRun],
    ),
    (Sabotage::LostSubmissions, &[Invariant::Submissions]),
    (
        Sabotage::EarlyExits,
        &[Invariant::OneTask, Invariant::OneRun],
    ),
    (Sabotage::OldReports, &[Invariant::Progress]),
    (Sabotage::LostLosses, &[Invariant::Searches]),
    (Sabotage::AllSucceed, &[Invariant::Completion]),
    (Sabotage::WiderBounds, &[Invariant::Bounds]),
    (Sabotage::CoarseTimes, &[Invariant::Replay]),
    (Sabotage::NoCaps, &[Invariant::Caps]),
    (Sabotage::NoDismissals, &[Invariant::Stop]),
    (Sabotage::NoGrace, &[Invariant::Completion]),
    (Sabotage::NoLease, &[Invariant::OneTask, Invariant::OneRun]),
    (Sabotage::NoLeaving, &[Invariant::Failures]),
    (
        Sabotage::SilentGreeting,
        &[Invariant::OneTask, Invariant::OneRun],
    ),
    (
        Sabotage::NoSync,
        &[Invariant::Submissions, Invariant::OneTask],
    ),
    (Sabotage::NoRetries, &[Invariant::Liveness]),
    (Sabotage::BadPlans, &[Invariant::Alive]),
    (Sabotage::NoDecisions, &[Invariant::Liveness]),
    (Sabotage::WrongClasses, &[Invariant::Classes]),
    (Sabotage::NoGroups, &[Invariant::Groups]),
    (Sabotage::EarlySnapshots, &[Invariant::Replay]),
];

impl Sabotage {
    /// The event that the core receives instead of `event`.
    pub fn altered(self, event: Event, world: &World) -> Event {
        match (self, event) {
            (Sabotage::SilentIsOver, Event::Silent { pilot }) => Event::Over { pilot },
            (Sabotage::AllSucceed, Event::Exited { link, run, .. }) => Event::Exited {
                link,
                run,
                code: Some(0),
            },
            (Sabotage::LostLosses, Event::Progress { run, done, .. }) => Event::Progress {
                run,
                done,
                loss: None,
            },
            (Sabotage::OldReports, Event::Progress { run, done, loss }) => {
                let current = world
                    .daemon
                    .core
                    .as_ref()
                    .and_then(|core| core.run_of(run.task));
                Event::Progress {
                    run: current.unwrap_or(run),
                    done,
                    loss,
                }
            }
            (Sabotage::NoRetries, Event::Retry { .. }) | (Sabotage::NoDecisions, Event::Decide) => {
                Event::Retry { task: u32::MAX }
            }
            (_, event) => event,
        }
    }

    /// The command that is executed instead of `command`.
    pub fn hardened(self, command: Command) -> Command {
        match (self, command) {
            (
                Sabotage::NoGrace,
                Command::Order {
                    link,
                    order: Order::Stop { run, .. },
                },
            ) => {
                let order = Order::Stop { run, kill: true };
                Command::Order { link, order }
            }
            (_, command) => command,
        }
    }

    /// Whether a command is dropped instead of being executed.
    pub fn drops(self, command: &Command) -> bool {
        match (self, command) {
            (Sabotage::NoStops, Command::Order { order, .. }) => {
                matches!(order, Order::Stop { .. })
            }
            (Sabotage::NoDismissals, Command::Order { order, .. }) => *order == Order::Dismiss,
            (Sabotage::NoDismissals, Command::Cancel { .. }) => true,
            _ => false,
        }
    }
}
