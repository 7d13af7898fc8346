"""Tests of problems with node classes: solving, copying and pickling them, and comparing solvers on them."""

from __future__ import annotations

import copy
import json
import pickle

import gleaner
import pytest

FILE = "dataset/class-problems.jsonl"
PROBLEM = {
    "id": "p",
    "classes": [{"name": "v100", "capacity": 4}, {"name": "a100", "capacity": 2}],
    "tasks": [
        {"name": "a", "options": [[0, 2, 10], [0, 4, 16], [1, 1, 12], [1, 2, 20]]},
        {"name": "b", "options": [[0, 2, 10], [0, 4, 18], [1, 2, 21]]},
        {"name": "c", "options": []},
    ],
}


def test_problems_of_all_forms_are_solved() -> None:
    answer = gleaner.solve(PROBLEM, check=True)
    assert (answer.status, answer.objective, answer.counts) == ("optimal", 38.0, None)
    assert answer.held == [("a100", 2), ("v100", 4), None]
    assert answer.prices is not None and list(answer.prices) == ["v100", "a100"]
    with open(FILE) as file:
        lines = [json.loads(line) for line in file]
    answers = gleaner.solve(FILE)
    assert [found.objective for found in answers] == [found.objective for found in gleaner.solve(lines)]
    assert all(found.status == "optimal" and found.held for found in answers)
    plain = gleaner.solve("dataset/problems.jsonl")[0]
    assert plain.held is None and plain.prices is None and plain.counts


def test_class_problems_are_copied_and_pickled() -> None:
    problem = gleaner.ClassProblem.from_json(json.dumps(PROBLEM))
    assert (problem.id, problem.classes, problem.tasks) == ("p", {"v100": 4, "a100": 2}, ["a", "b", "c"])
    for again in (copy.deepcopy(problem), pickle.loads(pickle.dumps(problem))):
        assert again.to_json() == problem.to_json()
        assert gleaner.solve(again).objective == 38.0


def test_kinds_of_problems_are_not_confused() -> None:
    with pytest.raises(ValueError, match="use ClassProblem"):
        gleaner.Problem.from_json(json.dumps(PROBLEM))
    with pytest.raises(ValueError, match="use Problem"):
        gleaner.ClassProblem.from_json(gleaner.Problem.read("dataset/problems.jsonl")[0].to_json())
    with pytest.raises(gleaner.DataError, match="node classes"):
        gleaner.Problem.read(FILE)
    with pytest.raises(gleaner.UsageError, match="does not support node classes"):
        gleaner.solve(PROBLEM, solver="highs", formulation="paper")


def test_solvers_are_compared_on_classes() -> None:
    problem = gleaner.ClassProblem.from_json(json.dumps(PROBLEM))
    run = gleaner.compare([problem], solvers=["exact", nothing])
    assert run.answers.column("status")[0] == "optimal"
    assert run.answers.column("status")[1].startswith("refused: ")


def nothing(_: gleaner.Problem) -> None:
    """A solver that never finds a plan."""
