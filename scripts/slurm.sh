#!/usr/bin/env bash
# Runs a Slurm cluster of four nodes on this host, for tests. The cluster needs no systemd, munge or accounting, and
# writes to only one directory.
#
#   slurm.sh install                  install Debian's packages if they are missing
#   slurm.sh start [--owner PID] [DIR] [KEY=VALUE...]
#                                     start the cluster; prints SLURM_CONF=..., to be exported
#   slurm.sh daemon DIR NAME          restart one daemon: slurmctld, n1, n2, n3 or n4
#   slurm.sh status DIR               show the nodes as Slurm sees them, and the processes
#   slurm.sh stop DIR                 end all daemons and jobs of the cluster, and delete DIR
#
# DIR must be empty, missing, or the directory of an earlier cluster, which is then stopped. The cluster is
# stopped when the process PID has ended. KEY=VALUE replaces lines of slurm.conf, for example MaxArraySize=11. A key
# that is given more than once, such as PartitionName, gets one line for each of its values. Every node must remain in a
# partition.
# Exit codes: 0 success, 1 failure, 2 wrong usage, 77 Slurm is missing or cannot be installed.
set -euo pipefail

UNAVAILABLE=77
NODES=(n1 n2 n3 n4)
# Maximum number of seconds for which `start` waits for all nodes to be idle, and `stop` for all processes to end.
PATIENCE=60
# The first line of the configuration. `stop` deletes only directories whose configuration contains this line.
MARK="# Written by scripts/slurm.sh."
export PATH=$PATH:/usr/sbin:/sbin

fail() {
    echo "slurm.sh: $1" >&2
    exit "${2:-1}"
}

# Lists the packages that provide missing programs.
missing() {
    local program
    for program in slurmctld slurmd sbatch:slurm-client; do
        command -v "${program%:*}" >/dev/null || echo "${program#*:}"
    done
}

# Installs missing packages. policy-rc.d prevents the packages from starting their own services.
install() {
    local packages policy=/usr/sbin/policy-rc.d
    mapfile -t packages < <(missing)
    [ ${#packages[@]} -eq 0 ] && return
    if ! command -v apt-get >/dev/null || [ "$(id -u)" -ne 0 ]; then
        fail "missing: ${packages[*]} (Debian's names). Install them, but do not start them" $UNAVAILABLE
    fi
    echo "installing ${packages[*]}" >&2
    if [ ! -e $policy ]; then
        printf '#!/bin/sh\nexit 101\n' >$policy
        chmod +x $policy
        trap 'rm -f /usr/sbin/policy-rc.d' EXIT
    fi
    export DEBIAN_FRONTEND=noninteractive
    apt-get update -qq >/dev/null || true
    apt-get install -y -qq -o DPkg::Lock::Timeout=120 --no-install-recommends "${packages[@]}" >/dev/null ||
        fail "apt-get cannot install ${packages[*]}" $UNAVAILABLE
}

# Prints the first of five consecutive free ports below the kernel's range of ephemeral ports.
free_ports() {
    local base port
    for _ in {1..100}; do
        base=$((20000 + RANDOM % 2000 * 5))
        for port in $(seq $base $((base + 4))); do
            ! (: <"/dev/tcp/127.0.0.1/$port") 2>/dev/null || continue 2
        done
        echo $base
        return
    done
    fail "no five free ports between 20000 and 30000"
}

# configuration DIR PORT [KEY=VALUE]...: writes slurm.conf.
configuration() {
    local dir=$1 port=$2 setting
    cat >"$dir/slurm.conf" <<CONF
$MARK
ClusterName=gleaner
SlurmctldHost=$(hostname -s)(127.0.0.1)
SlurmctldPort=$port
SlurmUser=$(id -un)
SlurmdUser=$(id -un)
AuthType=auth/none
CredType=cred/none
# Seconds that a requeued job waits. This is the minimum: for lower values, Slurm uses its default of 120.
AuthInfo=cred_expire=5
StateSaveLocation=$dir/state
SlurmdSpoolDir=$dir/spool/%n
SlurmctldPidFile=$dir/slurmctld.pid
SlurmdPidFile=$dir/%n.pid
SlurmctldLogFile=$dir/slurmctld.log
SlurmdLogFile=$dir/%n.log
# Plugins that need no access to cgroups.
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
# Each node has the number of CPUs stated below, regardless of the host's number of CPUs.
SlurmdParameters=config_overrides
# A node that was set to DOWN by a command remains down until it is resumed. A node whose daemon was killed returns to
# service by itself.
ReturnToService=1
JobRequeue=1
KillWait=2
SlurmdTimeout=30
MessageTimeout=5
TCPTimeout=2
SchedulerParameters=sched_interval=1,sched_min_interval=0,batch_sched_delay=0,bf_interval=1
NodeName=n[1-4] NodeHostname=$(hostname -s) NodeAddr=127.0.0.1 Port=[$((port + 1))-$((port + 4))] CPUs=2 RealMemory=4000
PartitionName=test Nodes=ALL Default=YES MaxTime=INFINITE
PartitionName=other Nodes=n[3-4] MaxTime=10
CONF
    for setting in "${@:3}"; do sed -i "/^${setting%%=*}=/d" "$dir/slurm.conf"; done
    [ $# -eq 2 ] || printf '%s\n' "${@:3}" >>"$dir/slurm.conf"
}

# daemon DIR NAME: starts the controller, or the daemon of a node.
daemon() {
    local program=(slurmctld)
    [ "$2" = slurmctld ] || program=(slurmd -N "$2")
    SLURM_CONF=$1/slurm.conf "${program[@]}" >>"$1/start.log" 2>&1 </dev/null 9>&-
}

# Waits until all nodes are idle.
await_nodes() {
    local end=$((SECONDS + PATIENCE)) idle
    while [ $SECONDS -lt $end ]; do
        # A node is listed once for each of its partitions.
        idle=$(sinfo --noheader --Node --states=idle --format=%N 2>>"$1/start.log" | sort -u || true)
        [ "$(wc -w <<<"$idle")" -eq ${#NODES[@]} ] && return
        sleep 0.1
    done
    tail --lines=5 --verbose "$1"/*.log >&2
    fail "not all nodes are idle after $PATIENCE s; the ends of the logs are above"
}

start() {
    local owner='' name port
    if [ "${1:-}" = --owner ]; then
        owner=$2
        shift 2
    fi
    [ -z "$(missing)" ] || fail "missing: $(missing | xargs). Run: scripts/slurm.sh install" $UNAVAILABLE
    case ${1:-=} in
        *=*) dir=$(mktemp -d -t gleaner-slurm.XXXXXX) ;;
        *) dir=$(realpath -m "$1") && shift ;;
    esac
    stop "$dir"
    mkdir -p "$dir"
    [ -z "$(ls -A "$dir")" ] || fail "$dir contains files that are not part of a cluster; name a new directory" 2
    mkdir "$dir/state" "$dir/spool"
    # Only one cluster starts at a time, so that two clusters do not choose the same ports.
    exec 9>"${TMPDIR:-/tmp}/gleaner-slurm-$(id -u).lock"
    flock 9
    trap 'stop "$dir"' EXIT
    port=$(free_ports)
    configuration "$dir" "$port" "$@"
    export SLURM_CONF=$dir/slurm.conf
    # Start the watcher before the daemons, so that the daemons end even if this script is killed.
    if [ -n "$owner" ]; then
        setsid "$0" watch "$owner" "$dir" >/dev/null 2>&1 </dev/null 9>&- &
    fi
    for name in slurmctld "${NODES[@]}"; do
        daemon "$dir" "$name" || fail "$name does not start: $(tail --lines=3 "$dir/start.log")"
    done
    await_nodes "$dir"
    trap - EXIT
    echo "SLURM_CONF=$SLURM_CONF"
}

# watch PID DIR: stops the cluster when the process PID has ended for any reason.
watch() {
    while kill -0 "$1" 2>/dev/null; do
        [ -e "$2/slurm.conf" ] || return 0
        sleep 0.5
    done
    stop "$2"
}

# Prints the ids of all processes of a cluster. The cluster's daemons, and the daemons that watch its jobs, have DIR as
# their working directory. Jobs, and all processes that they have started, have SLURM_CONF and SLURMD_NODENAME in their
# environment.
processes() {
    local found
    mapfile -t found < <(find /proc -maxdepth 2 -path '/proc/[0-9]*/cwd' -lname "$1" 2>/dev/null)
    [ ${#found[@]} -eq 0 ] || grep -ls '^slurm' "${found[@]/%cwd/comm}" | cut -d / -f 3
    mapfile -t found < <(grep -lszxF "SLURM_CONF=$1/slurm.conf" /proc/[0-9]*/environ)
    [ ${#found[@]} -eq 0 ] || grep -lsz '^SLURMD_NODENAME=' "${found[@]}" | cut -d / -f 3
}

status() {
    SLURM_CONF=$1/slurm.conf sinfo --Node --format="%N %T %E" | uniq || true
    { processes "$1" || true; } | xargs --no-run-if-empty ps -o pid,comm,args -p
}

# Ends all processes. If a process starts another process before it is killed, the next round finds the new process.
stop() {
    local end=$((SECONDS + PATIENCE)) pids
    while pids=$(processes "$1" || true) && [ -n "$pids" ]; do
        [ $SECONDS -lt $end ] || fail "processes do not end: $(xargs <<<"$pids")"
        xargs kill -9 <<<"$pids" 2>/dev/null || true
        sleep 0.05
    done
    if grep -qsxF "$MARK" "$1/slurm.conf"; then rm -r "$1"; fi
}

case "${1:-} $#" in
    "install 1" | "start "*) "$@" ;;
    "status 2" | "stop 2") "$1" "$(realpath -m "$2")" ;;
    "daemon 3") daemon "$(realpath -m "$2")" "$3" ;;
    "watch 3") "$@" ;;
    *) fail "expected install, start, daemon, status or stop; see the comment at the top of this script" 2 ;;
esac
