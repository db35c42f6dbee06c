#!/usr/bin/env bash
# Generators on Slurm:   sbatch --nodes=4 docs/cluster/slurm.sh plan.toml
#
# Before it, on a disk that all nodes see: jostle and Ray in an environment that is active when you call sbatch, and
# `jostle cluster init $HOME/jostle-secrets NAME=IP…` for the nodes of the partition, by the names that `sinfo -N` gives.
# The driver runs on the first node, beside a generator. Its output is jostle-JOB-0.out; the plan's [cluster] table says
# which targets are allowed.
#SBATCH --ntasks-per-node=1
#SBATCH --exclusive
#SBATCH --time=01:00:00
set -euo pipefail
plan=$1
head=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)
address=$(getent ahostsv4 "$head" | awk 'NR == 1 { print $1 }'):6379

# symmetric-run starts Ray on every node, the command on the first one, and stops Ray there when that ends. The other
# nodes end when they have heard nothing of the first one for 10 s.
srun --output="jostle-$SLURM_JOB_ID-%t.out" bash -c '
    own=$HOME/jostle-secrets/$SLURMD_NODENAME
    export JOSTLE_CLUSTER=$own JOSTLE_CACHE=$HOME/.cache/jostle/$SLURMD_NODENAME
    export RAY_USE_TLS=1 RAY_TLS_CA_CERT=$own/ca.crt RAY_TLS_SERVER_CERT=$own/node.crt
    export RAY_TLS_SERVER_KEY=$own/node.key RAY_AUTH_MODE=token RAY_AUTH_TOKEN_PATH=$own/token
    export RAY_USAGE_STATS_ENABLED=0 RAY_health_check_initial_delay_ms=1000 RAY_health_check_period_ms=1000
    export RAY_health_check_timeout_ms=2000 RAY_health_check_failure_threshold=6
    export RAY_SYMMETRIC_RUN_CLUSTER_WAIT_TIMEOUT=120
    [ "$SLURM_PROCID" = 0 ] || export RAY_gcs_rpc_server_reconnect_timeout_s=10
    ulimit -n "$(ulimit -Hn)"
    exec ray symmetric-run --address "$0" --min-nodes "$SLURM_NNODES" --num-cpus 1 --resources "{\"jostle\": 1}" \
        --node-manager-port 20100 --object-manager-port 20101 --min-worker-port 20000 --max-worker-port 20099 \
        --object-store-memory 200000000 --include-log-monitor=false -- jostle run "$1" --cluster "$0"
' "$address" "$plan"
