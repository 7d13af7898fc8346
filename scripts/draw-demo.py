#!/usr/bin/env python3
"""Draws the idle and the used nodes of a replay as SVG: draw-demo.py RUN/steps.csv > docs/demo.svg"""

import csv
import sys
from datetime import datetime

WIDTH, HEIGHT, LEFT, TOP, BOTTOM = 860, 300, 48, 34, 40


def main(path):
    with open(path, newline="") as file:
        rows = list(csv.DictReader(file))
    times = [datetime.fromisoformat(row["evtTime"]) for row in rows]
    hours = [(t - times[0]).total_seconds() / 3600 for t in times]
    idle = [int(row["nNd"]) for row in rows]
    used = [int(row["nNrun"]) for row in rows]
    right, bottom = WIDTH - 16, HEIGHT - BOTTOM
    most = max(idle)

    def x(hour):
        return LEFT + (right - LEFT) * hour / hours[-1]

    def y(count):
        return bottom - (bottom - TOP) * count / most

    def steps(counts):
        points = [f"M{x(0):.1f} {bottom}"]
        for i, count in enumerate(counts):
            end = hours[i + 1] if i + 1 < len(hours) else hours[-1]
            points.append(f"V{y(count):.1f}H{x(end):.1f}")
        return "".join(points) + f"V{bottom}Z"

    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        'font-family="sans-serif" font-size="12" role="img">',
        "<title>Idle nodes, and those that training used, over the demo run</title>",
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>',
        f'<path d="{steps(idle)}" fill="#f2b134"/>',
        f'<path d="{steps(used)}" fill="#2a6f97"/>',
    ]
    for count in range(0, most + 1, 5):
        out.append(f'<path d="M{LEFT} {y(count):.1f}H{right}" stroke="#0002"/>')
        out.append(f'<text x="{LEFT - 8}" y="{y(count) + 4:.1f}" text-anchor="end">{count}</text>')
    for hour in range(0, int(hours[-1]) + 1, 4):
        out.append(f'<text x="{x(hour):.1f}" y="{bottom + 18}" text-anchor="middle">{hour} h</text>')
    out += [
        f'<rect x="{LEFT}" y="10" width="12" height="12" fill="#2a6f97"/>',
        f'<text x="{LEFT + 18}" y="20">idle nodes used by training</text>',
        f'<rect x="{LEFT + 200}" y="10" width="12" height="12" fill="#f2b134"/>',
        f'<text x="{LEFT + 218}" y="20">idle nodes left unused</text>',
        "</svg>",
    ]
    print("\n".join(out))


main(sys.argv[1])
