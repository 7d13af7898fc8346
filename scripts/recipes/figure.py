"""A number in the summary of a replay that is also a metric of sweeps: the mean number of nodes that tasks held."""

from tree import Tree

TITLE = "**A figure** of a replay"

FIELD = """\
        /// `used_node_seconds` per second of the replayed part of the log; null if this part has no length
        used_nodes_mean: Option<f64> ["nodes"] most,
"""

VALUE = """\
            used_nodes_mean: (self.span.seconds() > 0.0).then(|| used / self.span.seconds()),
"""

CHECK = """\
            (
                "used_nodes_mean",
                s.used_nodes_mean,
                share(self.spent.used, s.span_seconds),
            ),
"""


def follow(tree: Tree) -> None:
    tree.after("crates/domain/src/results/replay.rs", r"pub struct Summary \{", r"^        used_share: ", add=FIELD)
    tree.after("crates/replay/src/ledger/summary.rs", r"^        Summary \{", r"^            used_share: ", add=VALUE)
    check = "crates/check/src/replay/summary.rs"
    tree.after(check, r"fn compare_totals\(", r"let share = ", r"for \(field, written, expected\) in \[", add=CHECK)
