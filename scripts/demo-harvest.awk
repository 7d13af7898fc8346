# Checks the log of the workers of `make demo-harvest`. A line is `EVENT TASK PID RANK RANKS NODE DONE TIME`.
# Exit code 1 if a rule was broken.

BEGIN {
    least["small"] = 1; most["small"] = 3; work["small"] = 2500
    least["middle"] = 2; most["middle"] = 5; work["middle"] = 4000
    least["large"] = 1; most["large"] = 8; work["large"] = 4500
}

function broken(rule) {
    print "broken: " rule > "/dev/stderr"
    faults++
}

{
    task = $2; process = $2 " " $3 " " $6; seconds = $8 / 1e9
    if (!(process in first)) {
        first[process] = seconds
        where[process] = $6
    }
    last[process] = seconds
    if ($5 < least[task] || $5 > most[task] || $4 >= $5)
        broken("rank " $4 " of " $5 " of task " task " is outside its bounds")
    if ($7 > work[task])
        broken("task " task " did " $7 " of " work[task])
    # A step of rank 0 takes at least 0.2 s, so steps that were counted twice would be too fast.
    if ($4 == 0 && $1 == "start")
        begin[process] = $7
    if ($4 == 0) {
        possible = ((seconds - first[process]) / 0.2 + 1) * $5 * (20 - $5) / 2
        if ($7 - begin[process] > possible)
            broken("task " task " did more than is possible")
        if ($7 > best[task])
            best[task] = $7
    }
}

END {
    for (task in work)
        if (best[task] != work[task])
            broken("task " task " did " best[task] + 0 " of " work[task])
    for (one in first)
        for (other in first)
            if (one < other && where[one] == where[other] && first[one] < last[other] && first[other] < last[one])
                broken("processes " one " and " other " worked at once")
    exit faults > 0
}
