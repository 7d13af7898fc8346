#!/usr/bin/env bash
# Replays the samples with limits on nested groups of tasks, and again on crossing groups: bench-groups.sh GLEANER.
# Prints the CPU time of each solver and the work of the tasks.
set -euo pipefail
gleaner=$1
dataset=$(dirname "$0")/../dataset
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

python3 - "$dataset/tasks.toml" "$work" <<'PYTHON'
import re, sys

text, work = open(sys.argv[1]).read(), sys.argv[2]
text = re.sub(r"^work = .*$", 'work = "endless"', text, flags=re.M)
names = re.findall(r'^name = "(.*)"', text, re.M)
models = re.findall(r'^curve = "(.*)"', text, re.M)
users = [names[user::5] for user in range(5)]


def group(name, tasks, most, least=None):
    listed = ", ".join(f'"{task}"' for task in tasks)
    lines = ["[[group]]", f'name = "{name}"', f"tasks = [{listed}]", f"max_nodes = {most}"]
    if least is not None:
        lines.append(f"min_nodes = {least}")
    return "\n".join(lines) + "\n\n"


# Nested groups: each user is in one of two projects. Each user may hold 1 to 4 nodes, and the two projects may hold at
# most 6 and 8.
nested = [group(f"user{user}", tasks, 4, 1) for user, tasks in enumerate(users)]
nested.append(group("first", sum(users[:2], []), 6))
nested.append(group("second", sum(users[2:], []), 8))
# Crossing groups: each task is in the group of its user, with at most 4 nodes, and in that of its model, with at most
# 5.
crossing = [group(f"user{user}", tasks, 4) for user, tasks in enumerate(users)]
for model in sorted(set(models)):
    crossing.append(group(model, [name for name, own in zip(names, models) if own == model], 5))
for name, groups in (("nested", nested), ("crossing", crossing)):
    open(f"{work}/{name}.toml", "w").write(text + "\n" + "".join(groups))
PYTHON

echo "| groups | solver | CPU time | work done |"
echo "|---|---|---|---|"
for run in nested-exact nested-highs nested-cbc crossing-highs crossing-cbc; do
    groups=${run%-*} solver=${run#*-}
    TIMEFORMAT="%U %S"
    seconds=$({ time "$gleaner" replay --events "$dataset/idle.csv" --tasks "$work/$groups.toml" --max-tasks 20 \
        --t-fwd 120 --solver "$solver" --json --quiet >"$work/summary.json" 2>/dev/null; } 2>&1)
    done=$(python3 -c 'import json, sys; print("%.6e" % json.load(open(sys.argv[1]))["total_work"])' "$work/summary.json")
    echo "| $groups | $solver | $(echo "$seconds" | awk '{ printf "%.2f s", $1 + $2 }') | $done |"
done
