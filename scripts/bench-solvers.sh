#!/usr/bin/env bash
# Compares the solvers on five generated problems of each size: bench-solvers.sh GLEANER. Skips the paper's formulation
# for the two largest sizes, for which its model is too large.
set -euo pipefail
gleaner=$1
paper=exact,highs,cbc,highs-paper,cbc-paper,equal-share
counts=exact,highs,cbc,equal-share
while read -r tasks nodes solvers; do
    echo "$tasks tasks x $nodes nodes"
    "$gleaner" synth problems --count 5 --tasks "$tasks" --nodes "$nodes" --seed 1 -o - |
        "$gleaner" compare --problems - --solvers "$solvers" --time-limit 10 --quiet
    echo
done <<SIZES
10 50 $paper
10 100 $paper
10 400 $paper
30 400 $paper
100 1500 $counts
1000 4734 $counts
SIZES
