"""Estimates against the truth: above the diagonal a number promises too much.

Estimates below the picture are drawn at its lower edge. Importance sampling stands over the
return of the controller with noise, which it estimates.
"""

import numpy as np

# Estimator, marker, colour of Okabe and Ito.
SHOWN = [
    ("ca_lower", "o", "#0072B2"),
    ("ts1", "s", "#009E73"),
    ("fqe", "^", "#D55E00"),
    ("wis_bootstrap", "x", "#CC79A7"),
]
TITLES = {"point_safety": "PointSafety", "point_env": "PointEnv", "pendulum": "Pendulum-v1"}


def draw(rows, systems, names, stem):
    import matplotlib

    matplotlib.use("svg")
    import matplotlib.pyplot as plt

    plt.rcParams["svg.hashsalt"] = "peers"
    plt.rcParams["font.size"] = 11
    figure, axes = plt.subplots(1, len(systems), figsize=(4.6 * len(systems), 5.2), squeeze=False)
    for axis, system in zip(axes[0], systems):
        mine = [row for row in rows.rows if row["system"] == system]
        truths = [row["truth"] for row in mine]
        room = 0.08 * (max(truths) - min(truths))
        left, right = min(truths) - room, max(truths) + room
        bottom, top = left - 0.8 * (right - left), right
        axis.fill_between([left, right], [left, right], top, color="0.9", zorder=0)
        axis.plot([left, right], [left, right], color="0.3", linewidth=1, zorder=1)
        axis.text(left + room / 2, top - 3.4 * room, "promises too much", va="top", color="0.3")
        for estimator, marker, colour in SHOWN:
            own = [row for row in mine if row["estimator"] == estimator]
            truth = "noisy_truth" if estimator == "wis_bootstrap" else "truth"
            if not own:
                continue
            x = np.array([row[truth] for row in own])
            y = np.array([row["estimate"] for row in own])
            label = names[estimator]
            hollow = {} if marker == "x" else {"facecolors": "none"}
            colours = {"color": colour} if marker == "x" else {"edgecolors": colour}
            axis.scatter(x, np.clip(y, bottom + room / 4, top), 42, marker=marker, label=label, linewidths=1.4, **colours, **hollow)
        axis.set_xlim(left, right)
        axis.set_ylim(bottom, top)
        axis.set_title(TITLES.get(system, system))
        axis.set_xlabel("true return (sum of rewards)")
    axes[0][0].set_ylabel("estimated return (sum of rewards)")
    handles, labels = axes[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="lower center", ncols=len(SHOWN), frameon=False)
    figure.tight_layout(rect=(0, 0.07, 1, 1))
    figure.savefig(stem.with_suffix(".svg"), metadata={"Date": None})
    figure.savefig(stem.with_suffix(".png"), dpi=110)
