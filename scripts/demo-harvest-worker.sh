#!/bin/sh
# A task of `make demo-harvest`, which counts samples instead of training: demo-harvest-worker.sh LOG WORK
#
# Each rank appends lines `EVENT TASK PID RANK RANKS NODE DONE TIME` to LOG, so that the demo can check which task ran
# on which node, and when. Rank 0 counts for all ranks: N ranks count N * (20 - N) / 2 samples in each step of 0.2 s.
# Rank 0 also continues from the checkpoint, reports the progress, and ends after WORK samples.
log=$1
work=$2
rank=$GLEANER_NODE_RANK
ranks=$GLEANER_NODE_COUNT
node=$(echo "$GLEANER_NODES" | cut -d , -f $((rank + 1)))
checkpoint=$GLEANER_CHECKPOINT/done
done=0
[ -e "$checkpoint" ] && done=$(cat "$checkpoint")

note() {
    echo "$1 $GLEANER_TASK $$ $rank $ranks $node $done $(date +%s%N)" >>"$log"
}

# Replaces the checkpoint atomically, so a kill leaves either the old or the new checkpoint.
save() {
    [ "$rank" -eq 0 ] || return 0
    echo "$done" >"$checkpoint.new" && mv "$checkpoint.new" "$checkpoint"
}

end() {
    save
    note end
    exit "$1"
}

trap 'end 143' TERM
note start
while [ "$done" -lt "$work" ]; do
    sleep 0.2 &
    wait $!
    # Other ranks stop when rank 0 has written the last checkpoint.
    if [ "$rank" -ne 0 ]; then
        note work
        [ -e "$checkpoint" ] && [ "$(cat "$checkpoint")" -ge "$work" ] && break
        continue
    fi
    done=$((done + ranks * (20 - ranks) / 2))
    [ "$done" -le "$work" ] || done=$work
    note work
    save
    echo "gleaner-progress {\"done\": $done}"
done
end 0
