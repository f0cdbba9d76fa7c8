"""Estimates against the truth: above the diagonal a number promises too much.

Estimates below the picture are drawn at its lower edge. Importance sampling stands over the
return of the controller with noise, which it estimates. Letters and colours are those of the
figures that `hambo` draws.
"""

import pathlib

import numpy as np

ASSETS = pathlib.Path(__file__).parents[2] / "hambo-host/crates/report/assets"
INK, QUIET, FRAME, GRID, PAPER = "#1d232b", "#5b6570", "#d5d9de", "#eceef1", "#fcfcfa"
# Estimator, marker, colour of Okabe and Ito.
SHOWN = [
    ("ca_lower", "o", "#0072B2"),
    ("ts1", "x", "#E69F00"),
    ("fqe", "^", "#D55E00"),
    ("wis_bootstrap", "s", "#CC79A7"),
]
TITLES = {"point_safety": "PointSafety", "point_env": "PointEnv", "pendulum": "Pendulum-v1"}


def styled():
    """matplotlib's pyplot with the letters and lines of the other figures."""
    import matplotlib

    matplotlib.use("svg")
    import matplotlib.pyplot as plt
    from matplotlib import font_manager

    for weight in ("Regular", "SemiBold"):
        font_manager.fontManager.addfont(ASSETS / f"Inter-{weight}.subset.otf")
    plt.rcParams |= {
        "svg.hashsalt": "peers", "font.family": "Inter", "font.size": 12.75, "text.color": INK,
        "figure.facecolor": PAPER, "savefig.facecolor": PAPER, "axes.facecolor": "white",
        "axes.edgecolor": FRAME, "axes.labelcolor": INK, "axes.grid": True, "axes.grid.axis": "y",
        "axes.axisbelow": True, "grid.color": GRID, "xtick.color": FRAME, "xtick.labelcolor": QUIET,
        "ytick.left": False, "ytick.labelcolor": QUIET, "axes.titlelocation": "left",
        "axes.titleweight": 600, "axes.titlesize": 12.75, "axes.titlepad": 12, "axes.labelpad": 10,
    }  # fmt: skip
    return plt


def draw(rows, systems, names, stem):
    plt = styled()
    figure, axes = plt.subplots(1, len(systems), figsize=(4.9 * len(systems), 6.4), squeeze=False)
    for axis, system in zip(axes[0], systems):
        mine = [row for row in rows.rows if row["system"] == system]
        truths = [row["truth"] for row in mine]
        room = 0.08 * (max(truths) - min(truths))
        left, right = min(truths) - room, max(truths) + room
        bottom, top = left - 0.8 * (right - left), right
        axis.fill_between([left, right], [left, right], top, color="#d55e00", alpha=0.14, lw=0, zorder=0)
        axis.plot([left, right], [left, right], color=INK, linewidth=1, zorder=1)
        for estimator, marker, colour in SHOWN:
            own = [row for row in mine if row["estimator"] == estimator]
            truth = "noisy_truth" if estimator == "wis_bootstrap" else "truth"
            x = np.array([row[truth] for row in own])
            y = np.clip([row["estimate"] for row in own], bottom + room / 4, top - room / 4)
            axis.scatter(x, y, 46, color=colour, marker=marker, label=names[estimator],
                         alpha=0.8, linewidths=2 if marker == "x" else 0, zorder=2)  # fmt: skip
        axis.set(xlim=(left, right), ylim=(bottom, top), xlabel="true return (sum of rewards)")
        axis.set_title(TITLES.get(system, system))
        axis.locator_params(nbins=6)
    axes[0][0].set_ylabel("estimated return (sum of rewards)")
    figure.text(0.025, 0.925, "Which number is safe to act on?", fontsize=20, fontweight=600)
    about = "Each mark is one controller on one log. Where it is shaded, the estimate promises more than the truth."
    figure.text(0.025, 0.875, about, color=QUIET)
    handles, labels = axes[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="lower left", bbox_to_anchor=(0.015, 0.01), ncols=len(SHOWN), frameon=False)
    figure.tight_layout(rect=(0.01, 0.08, 0.99, 0.86), w_pad=2.5)
    figure.savefig(stem.with_suffix(".svg"), metadata={"Date": None})
    figure.savefig(stem.with_suffix(".png"), dpi=150)
