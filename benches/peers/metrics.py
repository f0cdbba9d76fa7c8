"""How good the estimates of several policies are, as numbers of one system and estimator."""

import numpy as np
from scipy import stats


def of(estimates, truths, errors) -> dict:
    """`estimates` is seeds x policies; `truths` and their standard `errors` are one per policy.

    `error`: mean absolute error. `relative`: the same, divided by the spread of the truths.
    `rank`: Spearman's correlation, mean over seeds. `regret`: what is lost by taking the policy
    with the highest estimate, mean over seeds. `above`: share of the estimates that are above
    the truth by more than two of its standard errors. `excess`: the largest estimate minus
    truth. Numbers without a meaning are NaN: estimates of minus infinity neither rank nor choose.
    """
    estimates = np.atleast_2d(np.asarray(estimates, float))
    truths, errors = np.asarray(truths, float), np.asarray(errors, float)
    spread = truths.max() - truths.min()
    rank, regret = [], []
    for row in estimates:
        told = np.unique(row).size > 1
        rank.append(stats.spearmanr(row, truths).statistic if told else np.nan)
        regret.append(truths.max() - truths[np.argmax(row)] if told else np.nan)
    error = np.abs(estimates - truths).mean()
    return {
        "error": error,
        "relative": error / spread,
        "rank": float(np.mean(rank)),
        "regret": float(np.mean(regret)),
        "above": float((estimates > truths + 2 * errors).mean()),
        "excess": float((estimates - truths).max()),
    }
