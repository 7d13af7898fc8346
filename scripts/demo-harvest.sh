#!/usr/bin/env bash
# Trains three small elastic tasks on eight local nodes, which alternate between idle and busy, and checks the result:
# demo-harvest.sh GLEANER DIRECTORY
#
# The last line of the output summarises the harvest. The exit code is 1 if a task did not finish, or if the tasks broke
# a rule that demo-harvest.awk checks.
set -euo pipefail
gleaner=$(realpath "$1")
scripts=$(dirname "$(realpath "$0")")
idle=$scripts/../dataset/harvest-idle.csv
# Time limit for all tasks, in seconds.
PATIENCE=180

mkdir -p "$2"
directory=$(realpath "$2")
state=$directory/state
daemon=

# Ends the daemon and its pilots, even after a failure.
clean() {
    [ -n "$daemon" ] && kill -0 "$daemon" 2>/dev/null || return 0
    "$gleaner" harvest stop --now --state "$state" >/dev/null 2>&1 || true
    for _ in {1..100}; do
        kill -0 "$daemon" 2>/dev/null || return 0
        sleep 0.2
    done
    kill "$daemon" 2>/dev/null || true
}
trap clean EXIT

fail() {
    echo "demo-harvest.sh: $1; see $directory" >&2
    exit 1
}

# An earlier demo may have been killed, and its daemon may still be running.
if [ -e "$state/address" ]; then
    "$gleaner" harvest stop --now --state "$state" >/dev/null 2>&1 && sleep 2
fi
rm -rf "$directory"
mkdir -p "$directory"
worklog=$directory/work.log
: >"$worklog"

cat >"$directory/harvest.toml" <<TOML
backend = "local"
t_fwd = 20
max_pilots = 16
ladder = [[60, 8]]
grace = 2
lead = 2
silence = 5
lease = 15

[local]
events = "$idle"
TOML

# task NAME MIN MAX WORK
task() {
    cat <<TOML
[[task]]
name = "$1"
min_nodes = $2
max_nodes = $3
rescale_up = 1
rescale_down = 1
work = $4
command = ["$scripts/demo-harvest-worker.sh", "$worklog", "$4"]

[task.curve]
nodes = [0, 1, 2, 4, 8]
progress = [0, 45, 90, 160, 240]

TOML
}
{
    task small 1 3 2500
    task middle 2 5 4000
    task large 1 8 4500
} >"$directory/tasks.toml"

echo "Eight local nodes come and go; three tasks count samples on them, for about a minute:"
echo
"$gleaner" harvest serve --config "$directory/harvest.toml" --state "$state" 2> >(tee "$directory/daemon.log" >&2) &
daemon=$!
for _ in {1..100}; do
    [ -e "$state/address" ] && break
    kill -0 $daemon 2>/dev/null || fail "the daemon has ended"
    sleep 0.1
done
"$gleaner" harvest submit "$directory/tasks.toml" --state "$state"
echo "The status page is at $(cat "$state/page")"

end=$((SECONDS + PATIENCE))
while "$gleaner" harvest tasks --state "$state" | grep -qE ' (active|waiting) '; do
    [ $SECONDS -lt $end ] || fail "not all tasks have ended after $PATIENCE s"
    kill -0 $daemon 2>/dev/null || fail "the daemon has ended"
    sleep 1
done
"$gleaner" harvest tasks --state "$state" >"$directory/tasks.txt"
"$gleaner" harvest status --page "$directory/page.html" --state "$state" >"$directory/status.txt"
"$gleaner" harvest stop --state "$state"
wait $daemon || fail "the daemon failed"
daemon=

echo
cat "$directory/tasks.txt"
echo
[ "$(grep -c ' finished ' "$directory/tasks.txt")" -eq 3 ] || fail "not all tasks have finished"
awk -f "$scripts/demo-harvest.awk" "$worklog" || fail "a rule was broken"
echo "The page is $directory/page.html"
tail -1 "$directory/status.txt"
