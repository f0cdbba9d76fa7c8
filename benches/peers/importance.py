"""Importance sampling over whole episodes, with a bootstrap over them.

It needs the density of the logged actions: Gaussian noise around a known controller, limited to
a box or, in PointSafety, to a disc, so that an action at a limit has the mass of all that was
moved there. It also needs a density of the evaluated controller. Ours are deterministic and have none, so what is estimated
is the controller with the same noise as the log's, whose true return is another number.
"""

import numpy as np
from scipy import stats

RESAMPLES = 2000


def in_box(actions, wanted, std, low, high):
    """Of each row: the logarithm of a clipped Gaussian's density, or mass at a limit."""
    parts = stats.norm.logpdf(actions, wanted, std)
    parts = np.where(actions <= low + 1e-6, stats.norm.logcdf(low, wanted, std), parts)
    parts = np.where(actions >= high - 1e-6, stats.norm.logsf(high, wanted, std), parts)
    return parts.sum(axis=1)


def in_disc(actions, wanted, std, radius):
    """The same for two actions whose Gaussian is shortened to `radius`: on the edge the density
    per angle, the integral of r p(r u) over r from the radius on."""
    length = np.linalg.norm(actions, axis=1)
    inside = stats.norm.logpdf(actions, wanted, std).sum(axis=1)
    along = (wanted * actions).sum(axis=1) / np.maximum(length, 1e-12)
    across = (wanted**2).sum(axis=1) - along**2
    z = (radius - along) / std
    tail = stats.norm.pdf(z) + along / std * stats.norm.sf(z)
    edge = stats.norm.logpdf(np.sqrt(np.maximum(across, 0)) / std) + np.log(np.maximum(tail, 1e-300))
    return np.where(length >= radius - 1e-6, edge, inside)


def log_density(system, policy, log):
    """Of each logged action: the logarithm of its density under a policy with the log's noise,
    which is added to the controller's own output; only the sum is limited."""
    wanted, std = policy.act(log.states), system.noise_std
    if system.disc is not None:
        return in_disc(log.actions, wanted, std[0], system.disc)
    return in_box(log.actions, wanted, std, *system.limits)


def episode_weights(log, policy, system):
    """Of each episode: the logarithm of its likelihood ratio, and its return."""
    ratio = log_density(system, policy, log) - log_density(system, system.behaviour, log)
    starts = log.starts()
    return np.add.reduceat(ratio, starts), np.add.reduceat(log.rewards, starts)


def estimates(log_weights, returns, delta, seed) -> dict:
    """Plain and self-normalised estimates, the delta-quantiles of their bootstraps, and the
    number of episodes that the weights are worth."""
    draw = np.random.default_rng(seed)
    rows = draw.integers(0, len(returns), (RESAMPLES, len(returns)))

    def weighted(logarithms, values):
        # Relative to the heaviest episode of each resample, however light it is.
        w = np.exp(logarithms - logarithms.max(axis=-1, keepdims=True))
        return (w * values).sum(axis=-1) / w.sum(axis=-1)

    plain = np.exp(log_weights) * returns
    relative = np.exp(log_weights - log_weights.max())
    return {
        "is": plain.mean(),
        "is_bootstrap": np.quantile(plain[rows].mean(axis=1), delta),
        "wis": weighted(log_weights, returns),
        "wis_bootstrap": np.quantile(weighted(log_weights[rows], returns[rows]), delta),
        "worth": relative.sum() ** 2 / (relative**2).sum(),
    }
