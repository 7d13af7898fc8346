//! Idle node-time by class of nodes.

use serde::Serialize;

use super::distribution::Distribution;
use super::idle_since::IdleSince;
use super::ratio;
use gleaner_domain::error::{Result, check_stop};
use gleaner_domain::{EventLog, NodeClasses, Observer, Utc};

/// The idle node-time of a class of nodes.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ClassIdle {
    /// Name of the class.
    pub name: String,
    /// Number of nodes in the class.
    pub nodes: u32,
    /// Idle node-seconds.
    pub idle_node_seconds: f64,
    /// Share of the class's node-time that is idle.
    pub idle_share: f64,
    /// The class's share of the idle node-time of all nodes.
    pub share_of_idle: f64,
    /// Mean number of idle nodes over time.
    pub idle_nodes_mean: f64,
    /// Number of idle fragments.
    pub fragments: usize,
    /// Median length of the fragments in seconds; `None` if there are no fragments.
    pub median_fragment_s: Option<f64>,
}

/// The idle node-time of each class that has nodes; empty if the nodes belong to fewer than two classes.
///
/// # Errors
/// [`gleaner_domain::Error::Stopped`] if the observer requests a stop.
pub(super) fn by_class(
    log: &EventLog,
    span_seconds: f64,
    observer: &dyn Observer,
) -> Result<Vec<ClassIdle>> {
    let Some(classes) = log.classes() else {
        return Ok(Vec::new());
    };
    let sizes = classes.sizes();
    if sizes.iter().filter(|size| **size > 0).count() < 2 {
        return Ok(Vec::new());
    }
    let lengths = lengths(log, classes, observer)?;
    let named = classes.names().iter().zip(sizes);
    let found = named.zip(lengths).filter(|((_, nodes), _)| *nodes > 0);
    let mut all: Vec<ClassIdle> = found
        .map(|((name, nodes), mut lengths)| {
            lengths.sort_unstable();
            let lengths = Distribution::new(&lengths, &[]);
            ClassIdle {
                name: name.clone(),
                nodes,
                // Fragments are cut at the end of the log, so their lengths add up to the idle node-time.
                idle_node_seconds: lengths.sum_s,
                idle_share: ratio(lengths.sum_s, f64::from(nodes) * span_seconds),
                share_of_idle: 0.0,
                idle_nodes_mean: ratio(lengths.sum_s, span_seconds),
                fragments: lengths.count,
                median_fragment_s: lengths.percentile(50.0),
            }
        })
        .collect();
    let idle: f64 = all.iter().map(|class| class.idle_node_seconds).sum();
    for class in &mut all {
        class.share_of_idle = ratio(class.idle_node_seconds, idle);
    }
    Ok(all)
}

/// The lengths of the idle fragments of each class, in nanoseconds.
fn lengths(
    log: &EventLog,
    classes: &NodeClasses,
    observer: &dyn Observer,
) -> Result<Vec<Vec<u64>>> {
    let mut lengths = vec![Vec::new(); classes.names().len()];
    let mut idle_since = IdleSince::new(log.nodes().len());
    for (time, changes) in log.rows() {
        check_stop(observer)?;
        for change in changes {
            lengths[classes.of(change.node())].extend(idle_since.change(*change, time));
        }
    }
    let end = log.times().last().copied().unwrap_or(Utc(0));
    for (node, length) in idle_since.cut_by_node(end) {
        lengths[classes.of(node)].push(length);
    }
    Ok(lengths)
}
