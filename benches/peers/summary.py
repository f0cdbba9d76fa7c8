"""The picture of all estimators on all systems. `cargo xtask pages` writes the tables."""

from . import picture

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


def show(rows, output):
    systems = list(dict.fromkeys(row["system"] for row in rows.rows))
    picture.draw(rows, systems, NAMES, output.with_suffix(""))
