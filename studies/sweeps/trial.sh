#!/bin/sh
# The same sweep of 200 cells on this machine, on Ray with a worker killed in the middle and on
# Slurm with a node taken down in the middle; appends rows to studies/sweeps/trial.csv.
#
#   sh studies/sweeps/trial.sh HAMBO FOLDER PYTHON [local|ray|slurm|plan ...]
#
# HAMBO: the program; PYTHON: one that has Ray (pip install ray). Slurm: root, Debian's slurm-wlm
# and munge.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
hambo=$1 folder=$2 python=$3
shift 3
tasks=$here/../../hambo-host/tasks
mkdir -p "$folder/controllers"
cd "$folder"
rows=$here/trial.csv
[ -f "$rows" ] || echo "engine,version,cells,workers,lost,rows_when_lost,seconds,table_csv_sha256,table_parquet_sha256,page_sha256" > "$rows"

# 4 fits (2 log sizes, 2 seeds) and 49 controllers: 200 cells.
sed 's/^horizon = .*/horizon = 5/' "$tasks/point_safety.toml" > task.toml
[ -f log.csv ] || "$hambo" env rollout point_safety --policy "$tasks/pi_1.6.toml" --episodes 40 \
    --action-noise 0.2 -o log.csv > /dev/null
for step in $(seq 1 49); do
    y=$(awk "BEGIN { printf \"%.2f\", 1 + 0.02 * $step }")
    sed "s/1\.6/$y/g" "$tasks/pi_1.6.toml" > "controllers/pi_$y.toml"
done
cat > trial.toml <<'PLAN'
task = "task.toml"
data = "log.csv"
policies = "controllers"
seeds = 2
episodes = [20, 40]
check = "--effort quick --trajectories 50 --searched 2 --sweeps 2"

[[model]]
name = "small"
fit = "--hidden 16 --members 3 --steps 100"
PLAN

count() { find "$1/rows" -name '*.json' 2> /dev/null | wc -l; }
# Waits until a third of the cells are there; the sweep goes on meanwhile.
third() { while [ "$(count "$1")" -lt 70 ]; do sleep 0.1; done; }
# Writes a row: engine, version, workers, what was lost, rows at that time, seconds.
keep() {
    "$hambo" sweep gather "$1" > "$1.said" || { cat "$1.said"; exit 1; }
    cells=$(count "$1")
    sums=$(cd "$1" && sha256sum table.csv table.parquet report.html | cut -d' ' -f1 | paste -sd, -)
    echo "$1,$2,$cells,$3,$4,$5,$6,$sums" | tee -a "$rows"
}

for engine in "${@:-local}"; do
    rm -rf "./$engine"
    began=$(date +%s)
    case $engine in
    local)
        "$hambo" sweep trial.toml -o local --quiet --threads 2
        keep local "$("$hambo" --version | cut -d' ' -f2)" 2 nothing 0 $(($(date +%s) - began))
        ;;
    ray)
        "$hambo" sweep trial.toml -o ray --engine ray --python "$python" --quiet --threads 2 &
        sweep=$!
        third ray
        at=$(count ray)
        worker=$(pgrep -f '^ray::cell' | head -n 1)
        kill -9 "$worker"
        wait "$sweep"
        version=$("$python" -c 'import ray; print(ray.__version__)')
        keep ray "$version" 2 "a worker process" "$at" $(($(date +%s) - began))
        ;;
    slurm)
        sh "$here/slurm.sh" start "$folder/cluster" > /dev/null
        export SLURM_CONF="$folder/cluster/slurm.conf"
        "$hambo" sweep trial.toml -o slurm --engine slurm --per-task 4 --quiet &
        sweep=$!
        third slurm
        at=$(count slurm)
        lost=$(sh "$here/slurm.sh" down "$folder/cluster" b)
        wait "$sweep"
        version=$(sbatch --version | cut -d' ' -f2)
        keep slurm "$version" 2 "node b in task $lost" "$at" $(($(date +%s) - began))
        sh "$here/slurm.sh" stop "$folder/cluster"
        ;;
    esac
done
