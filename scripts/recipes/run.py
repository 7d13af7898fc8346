"""Tests the recipes in ARCHITECTURE.md by following them in a copy of the repository: run.py [--only NAME,...] FLAGS

FLAGS, such as --release and the packages, are passed to `cargo test`. Each recipe is a module in this folder. A recipe
may change only the files that its text names. The copy is built once with all recipes. If this build fails, each recipe
is built alone. The copy and its build stay in the folder `recipes` of cargo's target directory."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType

from page import Command, Recipe
from tree import Fault, Tree

NAMES = ["option", "figure", "log_format", "objective", "policy"]
SOURCE = Path(__file__).resolve().parents[2]
FOLDER = Path(os.environ.get("CARGO_TARGET_DIR") or SOURCE / "target").absolute() / "recipes"
# Cargo does not distinguish the crates of the copy from those of the repository, so the copy needs its own target
# directory.
TARGET = FOLDER / "target"


def cargo_test(tree: Tree, flags: list[str], command: Command) -> bool:
    """Runs tests in the copy, and returns whether they passed."""
    variables = {**os.environ, **command.variables, "CARGO_TARGET_DIR": str(TARGET)}
    program = [os.environ.get("CARGO", "cargo"), "test", "--locked", *flags, *command.words]
    print("+", *(f"{name}={value}" for name, value in command.variables.items()), *program, flush=True)
    return subprocess.run(program, cwd=tree.root, env=variables).returncode == 0


def follow(tree: Tree, name: str, module: ModuleType) -> Recipe:
    """Applies the changes of a recipe to the copy, and commits them."""
    recipe = Recipe(tree.root, module.TITLE)
    module.follow(tree)
    if others := unnamed(tree, [recipe]):
        raise Fault(f"the recipe does not name {', '.join(others)}")
    tree.commit(name)
    return recipe


def unnamed(tree: Tree, recipes: Iterable[Recipe]) -> list[str]:
    """Returns the files that changed since the last commit and that no recipe names."""
    changes = tree.changes().items()
    return [path for path, is_new in changes if not any(recipe.names(path, is_new) for recipe in recipes)]


def tests(tree: Tree, flags: list[str], recipe: Recipe, all_recipes: list[Recipe]) -> list[str]:
    """Runs the tests of a recipe, beginning with the tests that write documentation. Returns the recipe's faults.

    The tests write the documentation of all recipes, so they may change files that only another recipe names."""
    if not recipe.commands:
        return ["the recipe names no test"]
    faults = []
    for command in sorted(recipe.commands, key=lambda command: not command.variables):
        if not cargo_test(tree, flags, command):
            faults.append(f"cargo test {' '.join(command.words)} failed")
        if command.variables:
            if others := unnamed(tree, all_recipes):
                faults.append(f"no recipe names {', '.join(others)}, which cargo test {' '.join(command.words)} wrote")
            tree.commit("documentation")
    return faults


def run(names: list[str], flags: list[str]) -> dict[str, list[str]]:
    """Follows all named recipes in one copy of the tree, and tests them. Returns the faults of each recipe.

    If the tree with all recipes does not build, follows each recipe alone.
    """
    tree = Tree(SOURCE, FOLDER / "tree")
    faults: dict[str, list[str]] = {name: [] for name in names}
    recipes = {}
    for name in names:
        try:
            recipes[name] = follow(tree, name, importlib.import_module(name))
        except Fault as fault:
            faults[name].append(str(fault))
            tree.undo()
    if not cargo_test(tree, flags, Command(["--no-run"])):
        if len(recipes) > 1:
            print("The build with all recipes failed, so each recipe is now followed alone.", flush=True)
            return {name: run([name], flags)[name] for name in names}
        return {name: found or ["the build failed"] for name, found in faults.items()}
    for name, recipe in recipes.items():
        faults[name] += tests(tree, flags, recipe, list(recipes.values()))
    return faults


def main(words: list[str]) -> int:
    names = NAMES
    if words and words[0] == "--only":
        names = words[1].split(",")
        words = words[2:]
        if unknown := set(names) - set(NAMES):
            print(f"--only: unknown recipe {', '.join(sorted(unknown))} (expected {', '.join(NAMES)})", file=sys.stderr)
            return 2
    faults = run(names, words)
    for name, found in faults.items():
        print(f"{name}: {'; '.join(found) or 'followed, and its tests passed'}")
    return int(any(faults.values()))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
