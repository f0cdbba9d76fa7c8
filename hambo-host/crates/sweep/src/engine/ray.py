"""Runs cells as tasks of Ray; `hambo sweep --engine ray` starts it and reads its lines.

stdin: one JSON object; stdout: one JSON object a line, for a problem or for a cell that ended.
"""

import json
import subprocess
import sys

# Cells that Ray is given beyond those that it has room for.
AHEAD = 64


def say(**line):
    print(json.dumps(line), flush=True)


def main():
    job = json.load(sys.stdin)
    try:
        import ray
    except ImportError as error:
        say(problem="missing", text=str(error))
        return 1
    address = job["address"]
    here = {} if address else {"num_cpus": job["workers"] * job["cpus"], "include_dashboard": False}
    try:
        ray.init(address=address or "local", log_to_driver=False, logging_level="ERROR", **here)
    except Exception as error:
        say(problem="cluster", text=str(error))
        return 1

    # A worker that is killed takes its cell with it: another worker tries it again.
    @ray.remote(num_cpus=job["cpus"], max_retries=job["retries"], retry_exceptions=[ChildProcessError])
    def cell(program, number):
        ended = subprocess.run(
            program + [str(number)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        if ended.returncode < 0:
            raise ChildProcessError(f"its process was ended by signal {-ended.returncode}")
        return ended.returncode, ended.stderr.decode(errors="replace")[-4000:]

    room = int(ray.cluster_resources().get("CPU", 1)) + AHEAD
    for stage in job["stages"]:
        left, running = list(reversed(stage)), {}
        while left or running:
            while left and len(running) < room:
                number = left.pop()
                running[cell.remote(job["program"], number)] = number
            ended, _ = ray.wait(list(running), num_returns=1)
            for task in ended:
                number = running.pop(task)
                try:
                    code, text = ray.get(task)
                except Exception as error:
                    code, text = 1, str(error).strip().splitlines()[-1]
                say(cell=number, code=code, text=text if code else "")
    ray.shutdown()
    return 0


sys.exit(main())
