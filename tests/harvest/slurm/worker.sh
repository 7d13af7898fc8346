#!/bin/sh
# A task of the tests on Slurm, which counts samples instead of training. Usage: worker.sh LOG WORK
#
# Each rank appends lines `EVENT TASK RUN RANK RANKS NODE DONE TIME` to LOG. RUN identifies the run, and TIME is the
# uptime of the host in seconds. Rank 0 counts for all ranks: N ranks do N * (20 - N) / 2 samples per step of 0.2 s.
# Rank 0 writes a checkpoint after every third step and on SIGTERM, reports its progress, and ends when WORK samples are
# done.
#
# Each rank locks its node, and rank 0 also locks its task. The locks are held until the process ends for any reason. A
# rank that finds a lock of another process writes the event `clash`.
log=$1
work=$2
rank=$GLEANER_NODE_RANK
ranks=$GLEANER_NODE_COUNT
node=$(echo "$GLEANER_NODES" | cut -d , -f $((rank + 1)))
checkpoint=$GLEANER_CHECKPOINT/done
done=0
step=0
[ -e "$checkpoint" ] && read -r done <"$checkpoint"

# Uses only built-ins of the shell, because a signal to the process group would also end a program that this function
# started.
note() {
    read -r time _ </proc/uptime
    echo "$1 $GLEANER_TASK $GLEANER_PORT $rank $ranks $node $done $time" >>"$log"
}

# Replaces the checkpoint atomically, so that a kill leaves either the old one or the new one.
save() {
    [ "$rank" -eq 0 ] || return 0
    echo "$done" >"$checkpoint.new" && mv "$checkpoint.new" "$checkpoint"
    note saved
}

end() {
    save
    note end
    exit "$1"
}

exec 8>"$log.$GLEANER_TASK.lock" 9>"$log.$node.lock"
flock --nonblock 9 || note clash
[ "$rank" -ne 0 ] || flock --nonblock 8 || note clash
trap 'end 143' TERM
note start
while [ "$done" -lt "$work" ]; do
    sleep 0.2 8>&- 9>&- &
    wait $!
    if [ "$rank" -eq 0 ]; then
        done=$((done + ranks * (20 - ranks) / 2))
        [ "$done" -le "$work" ] || done=$work
        step=$((step + 1))
        note work
        [ $((step % 3)) -ne 0 ] || save
        [ "$done" -eq "$work" ] || echo "gleaner-progress {\"done\": $done}"
    else
        note work
        # The other ranks stop once rank 0 has written the last checkpoint.
        [ -e "$checkpoint" ] && read -r done <"$checkpoint"
    fi
done
save
# Rank 0 reports the end of its work only after the last checkpoint has been written.
[ "$rank" -ne 0 ] || echo "gleaner-progress {\"done\": $done}"
note end
