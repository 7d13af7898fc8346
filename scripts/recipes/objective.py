"""An objective with a name: work per node."""

from tree import Tree

TITLE = "**An objective**"

ENTRY = """\
    Named {
        name: "work-per-node",
        goal: Goal::Total,
        expression: "rate / nodes",
        meaning: "Progress per node: few nodes are best for most tasks",
    },
"""


def follow(tree: Tree) -> None:
    tree.before("crates/domain/src/objective/named.rs", r"const NAMED\b", r"^\];$", add=ENTRY)
