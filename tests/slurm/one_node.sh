#!/usr/bin/env bash
# A Slurm of one node in a folder of its own: munged, slurmctld and slurmd on free
# ports. Submits a campaign's job array, cuts it short, submits what is left, and
# checks that every run is there and whole. Stops what it started, whatever happens.
# Usage: one_node.sh PROGRAM PROJECT
set -euo pipefail

program=$(realpath "$1")
project=$(realpath "$2")

# Debian keeps the daemons where an ordinary user's PATH does not look.
PATH=$PATH:/usr/sbin:/sbin
for tool in munged slurmctld slurmd sbatch squeue scancel sinfo; do
    if ! command -v "$tool" >/dev/null; then
        echo "SKIPPED: $tool is not installed (apt-get install slurm-wlm munge)"
        exit 77
    fi
done

folder=$(mktemp -d /tmp/one-node-slurm.XXXXXX)
pids=()
stop() {
    for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null || true; done
    for pid in "${pids[@]}"; do wait "$pid" 2>/dev/null || true; done
    if [ "${1:-}" != keep ]; then rm -rf "$folder"; fi
}
fail() {
    echo "FAILED: $1"
    tail -n 20 "$folder"/*.log "$folder"/jobs/*.log 2>/dev/null || true
    stop
    trap - EXIT
    exit 1
}
trap stop EXIT

chmod 755 "$folder"
mkdir -p "$folder"/{munge,state,spool,jobs}
chmod 755 "$folder/munge"
head -c 1024 /dev/urandom >"$folder/munge.key"
chmod 600 "$folder/munge.key"
me=$(id -un)
node=$(hostname -s)
memory=$(awk '/^MemTotal/ {print int($2 / 1024 * 0.9)}' /proc/meminfo)
port=$((20000 + RANDOM % 20000))

cat >"$folder/slurm.conf" <<EOF
ClusterName=one
SlurmctldHost=$node(127.0.0.1)
SlurmUser=$me
SlurmdUser=$me
AuthType=auth/munge
AuthInfo=socket=$folder/munge/socket
CredType=cred/munge
SlurmctldPort=$port
SlurmdPort=$((port + 1))
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd.pid
SlurmctldLogFile=$folder/slurmctld.log
SlurmdLogFile=$folder/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerParameters=sched_interval=1,bf_interval=1
MpiDefault=none
ReturnToService=2
NodeName=$node NodeAddr=127.0.0.1 CPUs=$(nproc) RealMemory=$memory State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
EOF
export SLURM_CONF=$folder/slurm.conf

munged --foreground --force --socket="$folder/munge/socket" --key-file="$folder/munge.key" \
    --log-file="$folder/munged.log" --pid-file="$folder/munge/pid" \
    --seed-file="$folder/munge/seed" >"$folder/munged.out.log" 2>&1 &
pids+=($!)
for _ in $(seq 50); do [ -S "$folder/munge/socket" ] && break; sleep 0.1; done
[ -S "$folder/munge/socket" ] || fail "munged does not start"
slurmctld -D >"$folder/slurmctld.out.log" 2>&1 &
pids+=($!)
slurmd -D -N "$node" >"$folder/slurmd.out.log" 2>&1 &
pids+=($!)
for _ in $(seq 100); do
    sinfo --noheader --format=%T 2>/dev/null | grep -q idle && break
    sleep 0.3
done
sinfo --noheader --format=%T 2>/dev/null | grep -q idle || fail "the node does not come up"

cd "$project"
campaign=("$program" campaign configs/campaigns/paper.yaml --only shed --only r1 --out "$folder/out")
wait_until_empty() {
    for _ in $(seq 240); do
        [ -z "$(squeue --noheader)" ] && return
        sleep 0.5
    done
    fail "the job array does not end"
}

"${campaign[@]}" --slurm "$folder/jobs"
first=$(sbatch --parsable --array=0-3 "$folder/jobs/campaign.sbatch") || fail "sbatch refuses the array"
wait_until_empty
"${campaign[@]}" --status --format csv && fail "four tasks cannot have made ten runs"
# The whole array again: what is there is left alone, the rest is made.
second=$(sbatch --parsable "$folder/jobs/campaign.sbatch")
wait_until_empty
"${campaign[@]}" --status || fail "not every run is made"
"$program" inspect "$folder/out" >/dev/null || fail "a run has a problem"
"${campaign[@]}" --slurm "$folder/none" 2>&1 | grep -q "nothing to submit" || fail "a made run is submitted again"
"$program" campaign configs/campaigns/paper.yaml --only shed --only r1 --out "$folder/alone"
diff -r "$folder/out" "$folder/alone" || fail "the cluster's bytes differ"
echo "PASSED: jobs $first and $second made 10 runs, the same bytes as without a cluster"
