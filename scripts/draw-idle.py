#!/usr/bin/env python3
"""Draws the idle nodes and the used nodes of a replay as SVG: draw-idle.py RUN/steps.csv > picture.svg

The README contains the picture for the Summit log, and docs/PROVIDERS.md describes the replay.
"""

import csv
import sys
from datetime import datetime

WIDTH, HEIGHT, LEFT, TOP, BOTTOM = 860, 300, 48, 34, 40
# A replay of more than PARTS steps is drawn as means over PARTS equal time spans.
PARTS = 400


def main(path):
    with open(path, newline="") as file:
        rows = list(csv.DictReader(file))
    times = [datetime.fromisoformat(row["evtTime"]) for row in rows]
    hours = [(t - times[0]).total_seconds() / 3600 for t in times]
    idle = [int(row["nNd"]) for row in rows]
    used = [int(row["nNrun"]) for row in rows]
    if len(hours) > PARTS:
        idle, used = means(hours, idle), means(hours, used)
        hours = [hours[-1] * part / PARTS for part in range(PARTS + 1)]
    right, bottom = WIDTH - 16, HEIGHT - BOTTOM
    most = max(idle)

    def x(hour):
        return LEFT + (right - LEFT) * hour / hours[-1]

    def y(count):
        return bottom - (bottom - TOP) * count / most

    def steps(counts):
        points = [f"M{x(0):.1f} {bottom}"]
        for count, end in zip(counts, hours[1:] + hours[-1:]):
            points.append(f"V{y(count):.1f}H{x(end):.1f}")
        return "".join(points) + f"V{bottom}Z"

    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        'font-family="sans-serif" font-size="12" role="img">',
        "<title>Idle nodes, and the idle nodes used by training</title>",
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>',
        f'<path d="{steps(idle)}" fill="#f2b134"/>',
        f'<path d="{steps(used)}" fill="#2a6f97"/>',
    ]
    for count in range(0, int(most) + 1, step(most, 6)):
        out.append(f'<path d="M{LEFT} {y(count):.1f}H{right}" stroke="#0002"/>')
        out.append(f'<text x="{LEFT - 8}" y="{y(count) + 4:.1f}" text-anchor="end">{count}</text>')
    unit, length = ("d", 24) if hours[-1] > 72 else ("h", 1)
    for mark in range(0, int(hours[-1] / length) + 1, step(hours[-1] / length, 8)):
        place = x(mark * length)
        out.append(f'<text x="{place:.1f}" y="{bottom + 18}" text-anchor="middle">{mark} {unit}</text>')
    out += [
        f'<rect x="{LEFT}" y="10" width="12" height="12" fill="#2a6f97"/>',
        f'<text x="{LEFT + 18}" y="20">idle nodes used by training</text>',
        f'<rect x="{LEFT + 200}" y="10" width="12" height="12" fill="#f2b134"/>',
        f'<text x="{LEFT + 218}" y="20">idle nodes left unused</text>',
        "</svg>",
    ]
    print("\n".join(out))


def means(hours, counts):
    """Divides the time span into PARTS equal parts, and returns the mean count of each part."""
    width = hours[-1] / PARTS
    sums = [0.0] * PARTS
    for start, end, count in zip(hours, hours[1:], counts):
        for part in range(int(start / width), min(int(end / width) + 1, PARTS)):
            inside = min(end, (part + 1) * width) - max(start, part * width)
            sums[part] += max(inside, 0) * count
    return [total / width for total in sums]


def step(most, marks):
    """The distance between the marks of an axis from 0 to `most`: the smallest whole number of the form 1, 2 or 5
    times a power of ten that divides the axis into at most `marks` intervals."""
    size = 1
    while True:
        for factor in (1, 2, 5):
            if most / (size * factor) <= marks:
                return size * factor
        size *= 10


main(sys.argv[1])
