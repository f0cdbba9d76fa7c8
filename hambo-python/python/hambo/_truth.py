"""The truth beside the bound, for who has a simulator."""

from . import _hambo, _inputs, _tasks


class Truth:
    """Returns of a controller in an environment, by the task's own reward.

    `returns`: one for each episode. `mean`, `standard_error`. `bound`: that of the check. `holds`:
    whether the bound lies at or below the mean; a mean of few episodes is itself uncertain.
    """

    def __init__(self, returns, bound):
        self.returns = returns
        self.mean = float(returns.mean())
        count = len(returns)
        spread = float(returns.std(ddof=1)) if count > 1 else float("nan")
        self.standard_error = spread / count**0.5
        self.bound = bound
        self.holds = bound <= self.mean

    def __repr__(self):
        place = "below" if self.holds else "ABOVE"
        return (
            f"hambo.Truth({self.mean:.3f} ± {self.standard_error:.3f} over {len(self.returns)} episodes, "
            f"bound {self.bound:.3f}: {place} the truth)"
        )


def against(result, env, episodes, seed):
    """Drives `episodes` of an environment, from its own starts, for the task's horizon."""
    import numpy as np

    task = result.task
    memory, _ = task.computed
    if memory:
        raise _hambo.Error(
            "against: the task computes states along an episode, which an environment does not have\n"
            "help: drive the controller yourself, and compare the returns with the bound"
        )
    if episodes < 1:
        raise _hambo.Error(f"episodes {episodes}: give at least 1")
    env, opened = _tasks.environment(env)
    log = {"observations": [], "actions": [], "next_observations": [], "rewards": []}
    log.update({"terminals": [], "timeouts": []})
    try:
        for episode in range(episodes):
            chance = np.random.default_rng([seed, episode])
            observation, _ = env.reset(seed=seed + episode)
            for step in range(1, result.horizon + 1):
                noise = chance.standard_normal((1, len(task.actions)), dtype=np.float32)
                row = np.asarray(observation, dtype=np.float32).reshape(1, -1)
                action = result._actions(row, noise)[0]
                kind = getattr(env.action_space, "dtype", action.dtype)
                observation, reward, terminated, truncated, _ = env.step(action.astype(kind))
                after = np.asarray(observation, dtype=np.float32).reshape(-1)
                last = step == result.horizon
                if truncated and not terminated and not last:
                    raise _hambo.Error(
                        f"against: the environment ends an episode after {step} steps, and the task has "
                        f"{result.horizon}\nhelp: check with horizon={step}, or give an environment without a "
                        "time limit"
                    )
                for key, value in zip(log, (row[0], action, after, reward, terminated, last and not terminated)):
                    log[key].append(value)
                if terminated:
                    break
    finally:
        if opened:
            env.close()
    arrays = [(key, _inputs.array(np.asarray(rows, dtype=np.float32))) for key, rows in log.items()]
    returns = result._returns(_hambo.Log.from_arrays(task, arrays))
    return Truth(np.asarray(returns, dtype=np.float64), result.bound)
