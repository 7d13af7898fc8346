//! The quality of an event log: bounds on the idleness, and the reasons why the state of some nodes is unknown.

use serde::{Deserialize, Serialize};

/// The way in which an event log shows nodes whose state is unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum UnknownNodes {
    /// As busy: the log shows only the nodes that were certainly idle.
    Busy,
    /// As idle: the log shows all nodes that could have been idle.
    Idle,
    /// Jobs that list too few nodes are assigned candidate nodes, so that the number of idle nodes agrees with the
    /// stated counts.
    Deal,
}

/// The quality of an event log. All amounts are node-seconds between the first and the last row.
///
/// If a job lists fewer nodes than it used, the state of some nodes is unknown. For example, a job of 4 nodes lists
/// only `n1,n2`, and during the job nothing else holds n3 to n6. Then 2 of the nodes n3 to n6 were idle, but the log
/// does not say which: all 4 are unknown while the job runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Quality {
    /// The way in which this log shows unknown nodes.
    pub unknown_nodes: UnknownNodes,
    /// Lower bound on the idleness: nodes that were certainly idle.
    pub idle_lower: u64,
    /// Upper bound on the idleness: nodes that were idle or unknown.
    pub idle_upper: u64,
    /// Idleness according to the stated node counts; `None` if the source does not state them for all jobs. The value
    /// is exact if jobs do not share nodes.
    pub idle_counted: Option<u64>,
    /// Unknown nodes during the time that the source covers.
    pub unknown: u64,
    /// All nodes during the time that the source does not cover, such as a long gap between two
    /// polls.
    pub uncovered: u64,
    /// Nodes of jobs whose node lists cannot be read.
    pub unreadable: u64,
    /// Nodes that jobs used but did not list, because the list is shorter than the stated count.
    pub shortened: u64,
    /// Nodes that jobs used but did not list, because the list is empty.
    pub missing: u64,
    /// Number of lines that cannot be read. The jobs of these lines may be missing.
    pub unreadable_lines: u64,
    /// Whether the source only counts nodes. If so, the names of the log's nodes are generated.
    pub are_nodes_generated: bool,
    /// Whether several jobs ran on the same node at the same time. If so, the bounds hold for the number of idle nodes,
    /// but it is not certain which nodes were idle.
    pub are_nodes_shared: bool,
}

impl Quality {
    /// The quality of a log in which the state of every node is known.
    pub fn certain(idle: u64) -> Self {
        Quality {
            unknown_nodes: UnknownNodes::Deal,
            idle_lower: idle,
            idle_upper: idle,
            idle_counted: None,
            unknown: 0,
            uncovered: 0,
            unreadable: 0,
            shortened: 0,
            missing: 0,
            unreadable_lines: 0,
            are_nodes_generated: false,
            are_nodes_shared: false,
        }
    }

    /// The quality as a line of JSON, for files.
    pub fn to_text(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Parses the text that [`Quality::to_text`] writes; `None` for any other text.
    pub fn from_text(text: &str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }

    /// Unknown nodes as a share of the upper bound on the idleness; 0 if nothing is idle.
    pub fn unknown_share(&self) -> f64 {
        share(self.unknown, self.idle_upper)
    }

    /// Sentences that tell a user what the log leaves unknown. The list is empty if everything is known.
    pub fn sentences(&self) -> Vec<String> {
        let mut sentences = Vec::new();
        if self.are_nodes_generated {
            sentences.extend(self.generated());
        }
        if self.unknown > 0 {
            sentences.push(self.bounds());
        }
        if let Some(causes) = self.causes() {
            sentences.push(causes);
            sentences.push(CONDITIONS.to_owned());
            sentences.extend((self.unknown > 0).then(|| REPLAYS.to_owned()));
        }
        if self.unknown > 0 && self.are_nodes_shared {
            sentences.push(
                "jobs share nodes: the bounds apply to the number of idle nodes, but which nodes were idle is not \
                 certain"
                    .to_owned(),
            );
        }
        if self.uncovered > 0 {
            sentences.push(format!(
                "the source does not cover {} of the log{}: nothing is known about that time",
                node_hours(self.uncovered),
                self.of_idle(self.uncovered),
            ));
        }
        if self.unreadable_lines > 0 {
            sentences.push(format!(
                "{} cannot be read: jobs may be missing, so the idleness may be lower than stated",
                crate::words::counted(self.unreadable_lines, "line")
            ));
        }
        sentences
    }

    /// Sentences that state what is unknown because the source only counts nodes. If jobs share nodes, the sentences
    /// also state the bounds on the idleness.
    fn generated(&self) -> Vec<String> {
        let (lower, upper) = (self.idle_lower, self.idle_upper);
        if lower >= upper {
            return vec![
                "the source only counts nodes: the number of idle nodes is known, but their names and the lengths \
                 of fragments are not"
                    .to_owned(),
            ];
        }
        vec![
            "the source only counts nodes: their names and the lengths of fragments are unknown"
                .to_owned(),
            format!(
                "idle between {:.1} and {}, because jobs share nodes: this log shows the lower bound, as if no node \
                 were shared; the upper bound follows from the jobs' cores",
                hours(lower),
                node_hours(upper)
            ),
        ]
    }

    /// A sentence that states the bounds on the idleness, and how this log shows unknown nodes.
    fn bounds(&self) -> String {
        let counted = self
            .idle_counted
            .map(|idle| format!(", {:.1} according to the stated node counts", hours(idle)));
        // The idle time according to the stated counts can be less than the unknown time, for example if the counts
        // are wrong. The upper bound cannot be less, because it includes the unknown nodes.
        let all = self
            .idle_counted
            .filter(|idle| *idle >= self.unknown)
            .unwrap_or(self.idle_upper);
        let shown = match self.unknown_nodes {
            UnknownNodes::Busy => "are shown as busy",
            UnknownNodes::Idle => "are shown as idle",
            UnknownNodes::Deal => "are assigned to the jobs that do not list all of their nodes",
        };
        format!(
            "idle between {:.1} and {}{}; for {:.1} % of this time, it is unknown which nodes were idle; nodes \
             whose state is unknown {shown}",
            hours(self.idle_lower),
            node_hours(self.idle_upper),
            counted.unwrap_or_default(),
            100.0 * share(self.unknown, all),
        )
    }

    /// An amount as a share of the upper bound on the idleness, in parentheses; empty if nothing is idle.
    fn of_idle(&self, amount: u64) -> String {
        if self.idle_upper == 0 {
            return String::new();
        }
        let share = 100.0 * share(amount, self.idle_upper);
        format!(" (equal to {share:.1} % of the idle time)")
    }

    /// A sentence that states why the state of nodes can be unknown. For each reason, it states the node-hours on nodes
    /// that jobs used but did not list, and their share of the idle time. `None` if all lists are complete.
    fn causes(&self) -> Option<String> {
        let causes = [
            (self.unreadable, "because of unreadable lists"),
            (
                self.shortened,
                "because of lists shorter than the stated count",
            ),
            (self.missing, "because of empty lists"),
        ];
        let causes: Vec<_> = causes
            .iter()
            .filter(|(amount, _)| *amount > 0)
            .map(|(amount, cause)| {
                let share = self.of_idle(*amount);
                format!("{} {cause}{share}", node_hours(*amount))
            })
            .collect();
        let is_certain = self.unknown == 0 && self.idle_lower == self.idle_upper;
        let effect = if is_certain {
            "; nevertheless, the state of every node is known"
        } else {
            ""
        };
        (!causes.is_empty()).then(|| {
            format!(
                "jobs used nodes that they do not list: {}{effect}",
                causes.join(", ")
            )
        })
    }
}

/// The conditions under which the figures are correct if jobs list fewer nodes than they used.
const CONDITIONS: &str = "these figures are correct if jobs do not share nodes and keep all their nodes until they end, and if \
                          the stated counts and names are correct";

/// A note on the results of replaying the two logs that show the bounds.
const REPLAYS: &str = "the work of a replay is usually between the results for the two bounds, but this is not proven";

fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 {
        0.0
    } else {
        part as f64 / whole as f64
    }
}

fn hours(node_seconds: u64) -> f64 {
    node_seconds as f64 / 3600.0
}

fn node_hours(node_seconds: u64) -> String {
    format!("{:.1} node-hours", hours(node_seconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_certain_log_needs_no_words() {
        assert_eq!(Quality::certain(3600).sentences(), Vec::<String>::new());
        assert_eq!(Quality::certain(0).unknown_share(), 0.0);
    }

    #[test]
    fn nodes_that_are_shared_and_counted_have_bounds() {
        let quality = Quality {
            idle_upper: 7200,
            are_nodes_generated: true,
            ..Quality::certain(3600)
        };
        let sentences = quality.sentences();
        assert_eq!(sentences.len(), 2);
        assert!(
            sentences[1]
                .starts_with("idle between 1.0 and 2.0 node-hours, because jobs share nodes")
        );
    }

    #[test]
    fn bounds_and_causes_are_in_node_hours() {
        let quality = Quality {
            idle_lower: 12_573_117,
            idle_upper: 13_426_188,
            idle_counted: Some(13_145_619),
            unknown: 853_071,
            shortened: 360_000,
            ..Quality::certain(0)
        };
        assert_eq!(
            quality.sentences(),
            [
                "idle between 3492.5 and 3729.5 node-hours, 3651.6 according to the stated node counts; for 6.5 % of \
                 this time, it is unknown which nodes were idle; nodes whose state is unknown are assigned to the jobs \
                 that do not list all of their nodes",
                "jobs used nodes that they do not list: 100.0 node-hours because of lists shorter than the \
                 stated count (equal to 2.7 % of the idle time)",
                CONDITIONS,
                REPLAYS
            ]
        );
    }

    #[test]
    fn the_share_of_unknown_nodes_is_at_most_all() {
        let quality = Quality {
            idle_lower: 3600,
            idle_upper: 4 * 3600,
            idle_counted: Some(3600),
            unknown: 3 * 3600,
            ..Quality::certain(0)
        };
        let sentences = quality.sentences();
        assert!(
            sentences[0].contains(
                "1.0 according to the stated node counts; for 75.0 % of this time, it is unknown"
            ),
            "{sentences:?}"
        );
    }

    #[test]
    fn causes_are_reported_without_unknown_nodes() {
        let quality = Quality {
            unreadable: 3600,
            missing: 7200,
            ..Quality::certain(36_000)
        };
        assert_eq!(
            quality.sentences(),
            [
                "jobs used nodes that they do not list: 1.0 node-hours because of unreadable lists (equal to 10.0 % \
                 of the idle time), 2.0 node-hours because of empty lists (equal to 20.0 % of the idle time); \
                 nevertheless, the state of every node is known",
                CONDITIONS
            ]
        );
    }

    #[test]
    fn without_idle_time_there_are_no_shares_of_it() {
        let quality = Quality {
            missing: 3600,
            ..Quality::certain(0)
        };
        assert_eq!(
            quality.sentences()[0],
            "jobs used nodes that they do not list: 1.0 node-hours because of empty lists; nevertheless, the state of \
             every node is known"
        );
    }

    #[test]
    fn lines_and_spans_without_jobs_are_reported() {
        let quality = Quality {
            uncovered: 7200,
            unreadable_lines: 1,
            ..Quality::certain(3600)
        };
        assert_eq!(
            quality.sentences(),
            [
                "the source does not cover 2.0 node-hours of the log (equal to 200.0 % of the idle time): nothing is \
                 known about that time",
                "1 line cannot be read: jobs may be missing, so the idleness may be lower than stated"
            ]
        );
    }

    #[test]
    fn shared_nodes_are_reported_if_lists_are_short() {
        let quality = Quality {
            idle_upper: 7200,
            unknown: 3600,
            are_nodes_shared: true,
            ..Quality::certain(3600)
        };
        let sentences = quality.sentences();
        assert!(
            sentences[1]
                .starts_with("jobs share nodes: the bounds apply to the number of idle nodes"),
            "{sentences:?}"
        );
        let known = Quality {
            unknown: 0,
            ..quality
        };
        assert_eq!(known.sentences(), Vec::<String>::new());
    }
}
