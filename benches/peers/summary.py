"""The table of all estimators on all systems, and the picture."""

import numpy as np

from . import metrics, picture

# Estimator: its name for people.
NAMES = {
    "ca_lower": "hambo CA, lower bound",
    "da1_lower": "hambo DA1, lower bound",
    "dainf_lower": "hambo DAinf, lower bound",
    "ca": "hambo CA, mean",
    "da1": "hambo DA1, mean",
    "dainf": "hambo DAinf, mean",
    "mean": "mean model",
    "ds": "ensemble, DS",
    "ts1": "ensemble, TS1",
    "tsinf": "ensemble, TSinf",
    "mopo": "ensemble, MOPO",
    "fqe": "fitted Q (d3rlpy)",
    "fqe_wide": "fitted Q, 2 × 256 units",
    "is": "importance sampling (IS)",
    "is_bootstrap": "IS, bootstrap 5 %",
    "wis": "weighted IS",
    "wis_bootstrap": "weighted IS, bootstrap 5 %",
    "lipschitz": "Lipschitz bound",
}
# What these estimate is the controller with noise, so its return is their truth.
NOISY = {"is", "is_bootstrap", "wis", "wis_bootstrap"}


def complete(rows, system, estimator):
    """Seeds x policies of the seeds that have every policy, with the truths of the policies."""
    found = {}
    for row in rows.rows:
        if (row["system"], row["estimator"]) == (system, estimator):
            found.setdefault(row["seed"], {})[row["policy"]] = row
    policies = sorted({row["policy"] for row in rows.rows if row["system"] == system})
    seeds = [seed for seed, of in sorted(found.items()) if len(of) == len(policies)]
    if not seeds or len(policies) < 2:
        return None
    column = lambda name: np.array([[found[seed][p][name] for p in policies] for seed in seeds])
    return {name: column(name) for name in ("estimate", "truth", "truth_error", "noisy_truth", "noisy_truth_error")}


def measured(rows, system, estimator, noisy):
    columns = complete(rows, system, estimator)
    if columns is None:
        return None
    truth, error = ("noisy_truth", "noisy_truth_error") if noisy else ("truth", "truth_error")
    told = metrics.of(columns["estimate"], columns[truth][0], columns[error][0])
    spread = np.ptp(columns[truth][0])
    seeds, policies = columns["estimate"].shape
    return told | {"seeds": seeds, "policies": policies, "spread": spread}


def number(value, pattern):
    """For people. An infinite bound, or one beyond 10^20, says nothing: it is vacuous."""
    if np.isnan(value):
        return "–"
    if abs(value) > 1e20:
        return "vacuous"
    if abs(value) > 1e5:
        return f"{value:.0e}"
    return format(value, pattern)


def line(name, told):
    cells = [
        name,
        str(told["seeds"]),
        number(told["error"], ".1f"),
        number(told["relative"], ".3f"),
        number(told["rank"], ".2f"),
        number(told["regret"], ".1f"),
        number(100 * told["above"], ".0f") + " %",
        number(told["excess"], ".1f"),
    ]
    return "| " + " | ".join(cells).replace("-", "−") + " |"


HEADER = (
    "| estimator | logs | absolute error | of the spread | rank correlation | regret@1 | above the truth | worst excess |\n"
    "|---|---|---|---|---|---|---|---|"
)


def show(rows, output):
    systems = list(dict.fromkeys(row["system"] for row in rows.rows))
    for system in systems:
        print(f"\n{system}: ", end="")
        lines = []
        shown = [(e, NAMES[e], e in NOISY) for e in NAMES]
        shown += [("wis_bootstrap", NAMES["wis_bootstrap"] + ", without noise", False)]
        for estimator, name, noisy in shown:
            told = measured(rows, system, estimator, noisy)
            if told is not None:
                lines.append((told, line(name, told)))
        if lines:
            first = lines[0][0]
            print(f"{first['policies']} policies, true returns over a range of {first['spread']:.1f}")
            print(HEADER, *(text for _, text in lines), sep="\n")
        verdicts = [r["note"] for r in rows.rows if (r["system"], r["estimator"]) == (system, "ca_lower")]
        print("hambo's verdicts:", ", ".join(f"{verdicts.count(v)} {v}" for v in sorted(set(verdicts))))
    picture.draw(rows, systems, NAMES, output.with_suffix(""))
