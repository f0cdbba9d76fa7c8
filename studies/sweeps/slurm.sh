#!/bin/sh
# Starts or stops a Slurm of one controller and two nodes on this machine, for trials: needs root
# and Debian's slurm-wlm and munge. `sh slurm.sh start FOLDER`, then commands with
# SLURM_CONF=FOLDER/slurm.conf; `sh slurm.sh down FOLDER NODE` takes a node from it.
set -eu
action=$1
folder=$(mkdir -p "$2" && cd "$2" && pwd)
conf=$folder/slurm.conf
export SLURM_CONF="$conf"

case $action in
start)
    mkdir -p "$folder/state" "$folder/a" "$folder/b" /run/munge
    chown munge:munge /run/munge
    host=$(hostname -s)
    cat > "$conf" <<CONF
ClusterName=trial
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=16817
SlurmUser=root
AuthType=auth/munge
CredType=cred/munge
StateSaveLocation=$folder/state
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/%n.pid
SlurmdSpoolDir=$folder/%n
SlurmctldLogFile=$folder/slurmctld.log
SlurmdLogFile=$folder/%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerParameters=sched_interval=1,batch_sched_delay=0
MinJobAge=10
MaxArraySize=16
SlurmdTimeout=10
ReturnToService=2
NodeName=a NodeHostname=$host NodeAddr=127.0.0.1 Port=16821 CPUs=1 State=UNKNOWN
NodeName=b NodeHostname=$host NodeAddr=127.0.0.1 Port=16822 CPUs=1 State=UNKNOWN
PartitionName=all Nodes=a,b Default=YES MaxTime=INFINITE State=UP
CONF
    munge -n > /dev/null 2>&1 || runuser -u munge -- munged
    slurmctld
    for node in a b; do slurmd -N "$node"; done
    sinfo
    ;;
down)
    # In the middle of a task the node's daemon and all that it runs end at once, as if the machine
    # lost its power; prints which task that was.
    node=$3
    of_node() {
        for pid in $(pgrep -f "sweep cell|slurm_script" || true); do
            if tr '\0' '\n' < "/proc/$pid/environ" 2> /dev/null | grep -qx "SLURMD_NODENAME=$node"; then
                echo "$pid"
            fi
        done
    }
    until [ -n "$(of_node)" ]; do sleep 0.05; done
    tasks=$(of_node)
    kill -9 "$(cat "$folder/$node.pid")"
    for pid in $tasks; do
        parent=$(ps -o ppid= -p "$pid" | tr -d ' ')
        case $(ps -o args= -p "${parent:-1}") in slurmstepd*) kill -9 "$parent" ;; esac
        kill -9 "$pid" 2> /dev/null || true
    done
    squeue --noheader --nodelist="$node" --format="%i %T"
    scontrol update "nodename=$node" state=down reason=trial
    ;;
stop)
    for pid in "$folder"/*.pid; do
        [ ! -f "$pid" ] || kill "$(cat "$pid")" 2> /dev/null || true
    done
    ;;
esac
