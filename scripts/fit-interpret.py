#!/usr/bin/env python3
"""Fits the explainable boosting machine of the Python package interpret to throughput data.

    fit-interpret.py FEATURES.csv TRAINING_ROWS RUNS JOBS

Prints a line of JSON for each label: the seconds of the fastest fit with JOBS processes, and the errors on
the held-out rows. Settings that Lucid's artifact does not specify keep the defaults of interpret.
"""

import json
import sys
import time

import pandas
from interpret.glassbox import ExplainableBoostingRegressor
from sklearn.metrics import mean_absolute_error, r2_score

file, train, runs, jobs = sys.argv[1], *map(int, sys.argv[2:5])
table = pandas.read_csv(file)
features = table[table.columns[3:]]
for label in table.columns[1:3]:
    known, unknown = table[label][:train], table[label][train:]
    seconds = []
    for _ in range(runs):
        machine = ExplainableBoostingRegressor(
            learning_rate=0.1,
            interactions=10,
            max_bins=256,
            random_state=123,
            n_jobs=jobs,
        )
        clock = time.perf_counter()
        machine.fit(features[:train], known)
        seconds.append(time.perf_counter() - clock)
    predicted = machine.predict(features[train:])
    print(
        json.dumps(
            {
                "label": label,
                "seconds": min(seconds),
                "mae": mean_absolute_error(unknown, predicted),
                "r2": r2_score(unknown, predicted),
            }
        ),
        flush=True,
    )
