"""What 10,000 cells cost besides the work: time and memory of planning, of a call that finds all
done, and of gathering. The rows are copies of one cell's with other numbers, not computed.

    python3 studies/sweeps/large.py HAMBO FOLDER

FOLDER is that of trial.sh, whose sweep `local` gives the model and the row.
"""

import json
import os
import pathlib
import resource
import shutil
import subprocess
import sys
import time

hambo, folder = sys.argv[1], pathlib.Path(sys.argv[2])
here = pathlib.Path(__file__).parent
os.chdir(folder)
shutil.rmtree("large-controllers", ignore_errors=True)
shutil.rmtree("large.sweep", ignore_errors=True)
os.mkdir("large-controllers")
policy = next(pathlib.Path("controllers").iterdir()).read_text()
for number in range(99):
    pathlib.Path(f"large-controllers/c{number:02}.toml").write_text(policy)
plan = pathlib.Path("trial.toml").read_text()
plan = plan.replace('"controllers"', '"large-controllers"').replace("seeds = 2", "seeds = 50")
pathlib.Path("large.toml").write_text(plan)


def run(*words):
    """Seconds and the peak of memory in MiB of one call, by a child that has no other child."""
    probe = (
        "import resource, subprocess, sys, time; began = time.monotonic();"
        "code = subprocess.call(sys.argv[1:], stdout=subprocess.DEVNULL);"
        "print(time.monotonic() - began, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, code)"
    )
    said = subprocess.run([sys.executable, "-c", probe, *words], capture_output=True, text=True)
    seconds, memory, code = said.stdout.split()
    assert code == "0", (words, said)
    return float(seconds), int(memory) / 1024


lines = ["step,cells,seconds,peak_mib"]


def measured(step, *words):
    seconds, memory = run(*words)
    lines.append(f"{step},10000,{seconds:.2f},{memory:.0f}")
    print(lines[-1], flush=True)


measured("plan", hambo, "sweep", "large.toml", "--dry-run", "--quiet")
# A folder with the frozen plan: the first call is stopped before it works anything off.
started = subprocess.Popen(["sh", "-c", f"exec '{hambo}' sweep large.toml --quiet --threads 1"])
while not os.path.exists("large.sweep/sweep.json"):
    time.sleep(0.05)
started.terminate()
started.wait()
time.sleep(2)
shutil.rmtree("large.sweep/rows", ignore_errors=True)
sweep = json.load(open("large.sweep/sweep.json"))
fit = json.load(open("local/rows/0000/0000000.json"))
check = json.load(open("local/rows/0000/0000010.json"))
number = 0


def write(row):
    global number
    place = pathlib.Path(f"large.sweep/rows/{number // 1000:04}")
    place.mkdir(parents=True, exist_ok=True)
    (place / f"{number:07}.json").write_text(json.dumps(row | {"cell": number}) + "\n")
    number += 1


fits = [(size, seed) for size in sweep["episodes"] for seed in sweep["seeds"]]
for size, seed in fits:
    write(fit | {"seed": seed, "episodes": size})
for size, seed in fits:
    for place, one in enumerate(sweep["policies"]):
        found = check["found"]["checked"]
        found = {"checked": found | {"bound": found["bound"] - 0.01 * place - 0.001 * seed}}
        asked = {"policy": one["name"], "horizon": sweep["horizons"][0]}
        write(check | {"seed": seed, "episodes": size, "check": asked, "found": found})
assert number == 10_000, number
measured("call that finds all done", hambo, "sweep", "large.toml", "--quiet")
measured("gather", hambo, "sweep", "gather", "large.sweep")
(here / "large.csv").write_text("\n".join(lines) + "\n")
