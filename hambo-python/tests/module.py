"""The module against the command. Started by `hambo-host/tests/python.rs` in a folder with
`task.toml`, `log.csv` and `pd.toml`; HAMBO is the command's file, PAGE a page with examples.
"""

import contextlib
import doctest
import functools
import importlib.util
import io
import json
import os
import resource
import signal
import subprocess
import sys
import threading
import time
import unittest
import unittest.mock
from pathlib import Path

started = time.perf_counter()
import hambo  # noqa: E402

IMPORTED = time.perf_counter() - started

import numpy as np  # noqa: E402

FIT = {"hidden": [16, 16], "steps": 600, "learning_rate": 0.01}
CHECK = {"effort": "quick", "trajectories": 200, "searched": 4}


def command(words):
    run = subprocess.run([os.environ["HAMBO"], *words.split()], capture_output=True, text=True)
    return run.returncode, run.stdout, run.stderr


def wheel(words, **more):
    line = [sys.executable, "-c", "import sys, hambo; sys.exit(hambo.main(['hambo', *sys.argv[1:]]))"]
    return subprocess.run([*line, *words.split()], capture_output=True, text=True, **more)


def columns(kind=np.float32):
    table = np.genfromtxt("log.csv", delimiter=",", names=True, dtype=np.float64, deletechars="")
    return {name: table[name].astype(kind) for name in table.dtype.names}


class Box:
    """A space of gymnasium, as far as the module looks."""

    dtype = np.float32

    def __init__(self, low, high):
        self.low, self.high = np.float32(low), np.float32(high)
        self.shape = self.low.shape

    def seed(self, seed):
        self.chance = np.random.default_rng(seed)

    def sample(self):
        return self.chance.uniform(self.low, self.high).astype(np.float32)


class Cart:
    """The cart of the log, without noise.

    | Num | Observation   | Min  | Max |
    |-----|---------------|------|-----|
    | 0   | x = place     | -Inf | Inf |
    | 1   | Velocity      | -9   | 9   |
    """

    steps_allowed, ends_beyond = 25, np.inf
    action_space = Box([-1], [1])
    observation_space = Box([-np.inf, -9], [np.inf, 9])
    spec = type("Spec", (), {"id": "Cart-v0", "max_episode_steps": 25})

    def reset(self, seed=None):
        self.x, self.v, self.steps = 1.0, 0.0, 0
        return self.observation(), {}

    def observation(self):
        return np.array([self.x, self.v], np.float32)

    def step(self, action):
        self.x, self.v = self.x + 0.1 * self.v, 0.95 * self.v + 0.1 * float(action[0])
        self.steps += 1
        ended = abs(self.x) > self.ends_beyond
        return self.observation(), -self.x**2, ended, self.steps >= self.steps_allowed, {}


class GoalCart(Cart):
    """With a goal that stays within an episode, and no table."""

    __doc__ = "No table."
    observation_space = Box([-np.inf] * 3, [np.inf] * 3)

    def reset(self, seed=None):
        self.goal = np.random.default_rng(seed).uniform(-1, 1)
        return super().reset(seed)

    def observation(self):
        return np.array([self.x, self.v, self.goal], np.float32)


class Module(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        code, _, error = command(
            "fit task.toml --data log.csv --hidden 16,16 --steps 600 --learning-rate 0.01 -o m.hambo"
        )
        assert code == 0, error
        cls.task = hambo.Task.from_file("task.toml")
        cls.model = hambo.Model.from_file("m.hambo")

    def test_import_is_quick(self):
        self.assertLess(IMPORTED, 0.3)

    def test_the_command_is_the_same(self):
        for words in ["--version", "fit --help", "fit", "check nowhere.toml --model m --policy p", "data info log.csv"]:
            code, out, error = command(words)
            found = wheel(words)
            self.assertEqual((found.returncode, found.stdout, found.stderr), (code, out, error), words)

    def test_a_pipe_that_closes_ends_the_command(self):
        line = [sys.executable, "-m", "hambo", "data", "info", "log.csv"]
        read, write = os.pipe()
        os.close(read)
        run = subprocess.run(line, stdout=write, stderr=subprocess.PIPE, text=True)
        os.close(write)
        self.assertEqual((run.returncode, run.stderr), (141, ""))

    def test_the_exporter_is_a_subcommand(self):
        found = wheel("export-sb3 nothing.zip actor.onnx")
        self.assertEqual(found.returncode, 2)
        self.assertTrue(found.stderr.startswith("export_sb3: "), found.stderr)

    def test_a_fit_gives_the_commands_bytes(self):
        wanted = Path("m.hambo").read_bytes()
        named = {"csv": "log.csv", "files": ["log.csv"], "narrow": columns(), "wide": columns(np.float64)}
        for name, data in named.items():
            hambo.fit(self.task, data, **FIT).save("own.hambo")
            self.assertEqual(Path("own.hambo").read_bytes(), wanted, name)

    def test_columns_in_any_order_and_layout(self):
        shuffled = dict(reversed(columns().items()))
        twice = np.repeat(shuffled["x"], 2)[::2]
        self.assertFalse(twice.flags["C_CONTIGUOUS"])
        hambo.fit(self.task, {**shuffled, "x": twice}, **FIT).save("own.hambo")
        self.assertEqual(Path("own.hambo").read_bytes(), Path("m.hambo").read_bytes())

    def test_a_check_gives_the_commands_object(self):
        options = "--effort quick --trajectories 200 --searched 4 --delta 0.2 --horizon 10"
        code, out, error = command(f"check task.toml --data log.csv --model m.hambo --policy pd.toml --json {options}")
        self.assertNotEqual(code, 2, error)
        asked = {**CHECK, "delta": 0.2, "horizon": 10}
        result = hambo.check(self.task, self.model, "pd.toml", data="log.csv", **asked)
        self.assertEqual(timeless(result.to_dict()), timeless(json.loads(out)))
        self.assertEqual(result.bound, json.loads(out)["bound"])
        self.assertEqual(result.verdict, json.loads(out)["verdict"])
        # The same controller as a matrix, the same log as arrays.
        same = hambo.check(self.task, self.model, [[-1, -1]], data=columns(), **asked)
        self.assertEqual(same.to_dict()["bound_bits"], result.to_dict()["bound_bits"])
        page = result._repr_html_()
        self.assertIn("<iframe", page)
        result.save("run.json")
        code, _, error = command("report run.json -o of_command.html")
        self.assertEqual(code, 0, error)
        result.save("own.html")
        self.assertEqual(Path("own.html").read_bytes(), Path("of_command.html").read_bytes())

    def test_a_ranking_gives_the_commands_order(self):
        Path("still.toml").write_text('kind = "constant"\nvalue = [0.0]\n')
        options = "--effort quick --trajectories 200 --searched 4 --variant ca"
        code, out, error = command(
            f"rank task.toml --data log.csv --model m.hambo --policies pd.toml still.toml --json {options}"
        )
        self.assertNotEqual(code, 2, error)
        wanted = json.loads(out)
        asked = {**CHECK, "variant": "ca"}
        found = hambo.rank(self.task, ["pd.toml", "still.toml"], "log.csv", self.model, **asked).to_dict()
        for one in wanted["controllers"]:
            one.pop("policy")
        self.assertEqual(found, wanted)
        with self.assertRaisesRegex(hambo.Error, "nothing to judge"):
            hambo.rank(self.task, ["pd.toml"])

    def test_predictions_are_the_commands(self):
        code, _, error = command("predict m.hambo --data log.csv -o said.csv")
        self.assertEqual(code, 0, error)
        said = np.genfromtxt("said.csv", delimiter=",", names=True, dtype=np.float32, deletechars="")
        states = np.stack([said["x"], said["v"]], axis=1)
        found = self.model.predict(states, said["u"][:, None])
        for kind in ("mean", "epistemic_std", "aleatoric_std"):
            wanted = np.stack([said[f"{kind}.{name}"] for name in ("x", "v")], axis=1)
            np.testing.assert_array_equal(found[kind], wanted, kind)
        with self.assertRaisesRegex(hambo.Error, "actions: its shape is"):
            self.model.predict(states, states)

    def test_bad_input_is_refused_in_the_commands_words(self):
        without = columns()
        without.pop("v")
        short = {**columns(), "u": np.zeros(3)}
        for sentence, call in [
            ("column `v` is missing", lambda: hambo.fit(self.task, without)),
            ("column `u`: 3 rows", lambda: hambo.fit(self.task, short)),
            ("int is no log", lambda: hambo.fit(self.task, 3)),
            ("--model", lambda: hambo.fit(self.task, "log.csv", model="forest")),
            ("--kernle", lambda: hambo.fit(self.task, "log.csv", kernle="rbf")),
            ("for the command alone", lambda: hambo.fit(self.task, "log.csv", output="x")),
            ("gain", lambda: hambo.check(self.task, self.model, np.ones((1, 3)))),
            ("no controller that can be read", lambda: hambo.check(self.task, self.model, object())),
        ]:
            with self.assertRaises(hambo.Error) as raised:
                call()
            self.assertIn(sentence, str(raised.exception))
        for words, call in [
            ("fit task.toml --data none.csv -o x.hambo", lambda: hambo.fit(self.task, "none.csv")),
            ("task check none.toml --data log.csv", lambda: hambo.Task.from_file("none.toml")),
            ("model info none.hambo", lambda: hambo.Model.from_file("none.hambo")),
            (
                "check task.toml --model m.hambo --policy none.toml",
                lambda: hambo.check(self.task, self.model, "none.toml"),
            ),
        ]:
            code, _, error = command(words)
            self.assertEqual(code, 2)
            with self.assertRaises(hambo.Error) as raised:
                call()
            self.assertEqual(f"hambo: {raised.exception}\n", error, words)

    def test_a_draft_is_the_commands(self):
        code, text, error = command("task new --from log.csv --name cart")
        self.assertEqual(code, 0, error)
        wanted = text.replace('# expr = ""', 'expr = "-x^2"').replace("# Fill in the reward, look", "# Look")
        for data in ("log.csv", columns(np.float64)):
            task = hambo.Task.from_log(data, reward="-x^2", name="cart")
            self.assertEqual(task.text, wanted)
        rewarded = {**columns(), "reward": -columns()["x"] ** 2}
        self.assertIn("learned = true", hambo.Task.from_log(rewarded).text)
        Path("own.toml").unlink(missing_ok=True)
        task.save("own.toml")
        self.assertEqual(Path("own.toml").read_text(), wanted)
        for sentence, call in [
            ("never overwritten", lambda: task.save("own.toml")),
            ("no rewards", lambda: hambo.Task.from_log("log.csv")),
            ("--actions", lambda: hambo.Task.from_log({"x": np.ones(9), "u": np.ones(9)}, "-x^2")),
        ]:
            with self.assertRaises(hambo.Error) as raised:
                call()
            self.assertIn(sentence, str(raised.exception))

    def test_a_task_of_an_environment(self):
        task = hambo.Task.from_env(Cart())
        self.assertEqual((task.name, task.horizon), ("Cart-v0", 25))
        self.assertEqual((task.states, task.actions), (["x", "Velocity"], ["a0"]))
        for line in ("low = [-inf, -9]", "high = [1]", "learned = true"):
            self.assertIn(line, task.text)
        goal = hambo.Task.from_env(GoalCart(), "-(s0 - s2)^2", actions=["push"])
        self.assertEqual((goal.states, goal.actions), (["s0", "s1", "s2"], ["push"]))
        self.assertIn("s2 = \"s2\"", goal.text.split("[known]")[1])
        discrete = Cart()
        discrete.action_space = type("Discrete", (), {})()
        with self.assertRaisesRegex(hambo.Error, "its actions are Discrete"):
            hambo.Task.from_env(discrete)

    def test_trajectories_are_those_behind_the_bound(self):
        result = hambo.check(self.task, self.model, "pd.toml", data="log.csv", **CHECK)
        both = result.trajectories
        for walked in both.values():
            self.assertEqual(walked["states"].shape, (4, 21, 2))
            self.assertEqual(walked["actions"].shape, (4, 20, 1))
            np.testing.assert_array_equal(walked["states"][:, 0], [[1.0, 0.0]] * 4)
            np.testing.assert_allclose(walked["rewards"], -walked["states"][:, :-1, 0] ** 2, rtol=1e-6)
            np.testing.assert_allclose(walked["returns"], walked["rewards"].sum(axis=1), rtol=1e-5)
            clipped = np.clip(-walked["states"][:, :-1].sum(axis=2), -1, 1)
            np.testing.assert_allclose(walked["actions"][..., 0], clipped, atol=1e-6)
        self.assertLess(both["worst"]["returns"].mean(), both["neutral"]["returns"].mean())

    def test_the_truth_stands_beside_the_bound(self):
        result = hambo.check(self.task, self.model, "pd.toml", data="log.csv", **CHECK)
        truth = result.against(Cart(), episodes=3)
        x, v, wanted = 1.0, 0.0, 0.0
        for _ in range(20):
            wanted -= x**2
            x, v = x + 0.1 * v, 0.95 * v + 0.1 * max(-1.0, min(1.0, -x - v))
        np.testing.assert_allclose(truth.returns, [wanted] * 3, rtol=1e-4)
        self.assertTrue(truth.holds and truth.bound == result.bound, truth)
        short, wide = Cart(), GoalCart()
        short.steps_allowed = 5
        for sentence, env in [("horizon=5", short), ("3 numbers a row", wide)]:
            with self.assertRaisesRegex(hambo.Error, sentence):
                result.against(env, episodes=1)
        # What ends by itself ends the return as well.
        ends = Cart()
        ends.ends_beyond = 0.5
        self.assertGreater(result.against(ends, 1).mean, truth.mean)

    def test_actions_are_the_controllers(self):
        found = hambo.actions(self.task, "pd.toml", [[0.25, 0.5], [-9.0, 0.0]])
        np.testing.assert_array_equal(found, np.float32([[-0.75], [1.0]]))
        with self.assertRaisesRegex(hambo.Error, "3 numbers a row, and the task has 2: x, v"):
            hambo.actions(self.task, "pd.toml", np.ones((1, 3)))

    @unittest.skipUnless(all(map(importlib.util.find_spec, ("torch", "onnx"))), "torch and onnx are not here")
    def test_modules_of_torch(self):
        import torch
        from torch import nn

        torch.manual_seed(0)
        layers = nn.Sequential(nn.Linear(2, 8), nn.BatchNorm1d(8), nn.LeakyReLU(0.2), nn.Dropout(), nn.Linear(8, 1), nn.Tanh())
        layers(torch.randn(64, 2))

        class Own(nn.Module):
            def __init__(self, factor):
                super().__init__()
                self.net, self.factor = layers, factor

            def forward(self, x):
                return self.factor * self.net(x)

        rows = np.random.default_rng(1).normal(size=(50, 2)).astype(np.float32)
        layers.eval()
        wanted = layers(torch.as_tensor(rows)).detach().numpy()
        for module in (layers, Own(1.0)):
            np.testing.assert_allclose(hambo.actions(self.task, module, rows), wanted, atol=1e-6)
        for sentence, module in [
            ("does more than its layers", Own(0.5)),
            ("remembers", nn.Sequential(nn.GRU(2, 4), nn.Linear(4, 1))),
            ("with BatchNorm1d", nn.Sequential(nn.Linear(2, 4), nn.LayerNorm(4), nn.Linear(4, 1))),
            ("none that hambo takes", nn.Sequential(nn.Linear(2, 4), nn.Mish(), nn.Linear(4, 1))),
        ]:
            with self.assertRaisesRegex(hambo.Error, sentence):
                hambo.actions(self.task, module, rows)

    def test_a_full_disk_leaves_nothing_half_written(self):
        Path("whole.hambo").write_bytes(b"before")
        result = hambo.check(self.task, self.model, "pd.toml", data="log.csv", **CHECK)
        names = set(os.listdir())
        before = resource.getrlimit(resource.RLIMIT_FSIZE)
        ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (512, before[1]))
        try:
            for save in (lambda: self.model.save("whole.hambo"), lambda: result.save("run.html")):
                with self.assertRaisesRegex(hambo.Error, "too large"):
                    save()
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
            signal.signal(signal.SIGXFSZ, ignored)
        self.assertEqual(Path("whole.hambo").read_bytes(), b"before")
        self.assertEqual(set(os.listdir()), names)

    def test_a_bar_of_tqdm_moves(self):
        class Bar:
            made = []

            def __init__(self, total=None, leave=True):
                self.total, self.n, self.shown, self.closed = total, 0, 0, False
                Bar.made.append(self)

            def set_postfix_str(self, text, refresh=True):
                self.text = text

            def refresh(self):
                self.shown += 1

            def close(self):
                self.closed = True

        given = Bar()
        hambo.fit(self.task, "log.csv", progress=given, **FIT)
        hambo.fit(self.task, "log.csv", progress=Bar, **FIT)
        own = Bar.made[1]
        self.assertTrue(given.shown and own.shown and own.closed and not given.closed)
        self.assertEqual((given.n, own.n), (given.total, own.total))

    def test_ctrl_c_ends_a_fit(self):
        threading.Timer(1.0, signal.raise_signal, [signal.SIGINT]).start()
        begun = time.perf_counter()
        with self.assertRaises(KeyboardInterrupt):
            hambo.fit(self.task, "log.csv", steps=10_000_000, validation=0)
        self.assertLess(time.perf_counter() - begun, 10)

    def test_progress_is_told_and_may_end_the_work_while_others_run(self):
        told, counted = [], []
        stop = threading.Event()

        def count():
            while not stop.is_set():
                counted.append(1)
                time.sleep(0.001)

        def progress(done, planned, message):
            told.append((done, planned, message))
            if len(told) == 10:
                raise LookupError("enough")

        other = threading.Thread(target=count)
        other.start()
        with self.assertRaisesRegex(LookupError, "enough"):
            hambo.fit(self.task, "log.csv", steps=10_000_000, validation=0, progress=progress)
        stop.set()
        other.join()
        self.assertEqual(len(told), 10)
        self.assertTrue(all(0 <= done <= planned for done, planned, _ in told), told)
        # Half a second of a fit; another thread had the interpreter meanwhile.
        self.assertGreater(len(counted), 50)

    def test_the_readme_runs(self):
        text = Path(os.environ["README"]).read_text()
        (block,) = (part.split("```")[0] for part in text.split("```python\n")[1:])
        out = io.StringIO()
        quick = functools.partial(hambo.fit, **FIT), functools.partial(hambo.check, **CHECK)
        with unittest.mock.patch.multiple(hambo, fit=quick[0], check=quick[1]), contextlib.redirect_stdout(out):
            exec(block, {})  # noqa: S102: our own page
        self.assertRegex(out.getvalue(), r"^-?\d.* (deploy|reject|abstain) \[")

    def test_examples_run(self):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            found = doctest.testmod(hambo, optionflags=doctest.ELLIPSIS)
            page = doctest.testfile(os.environ["PAGE"], module_relative=False, optionflags=doctest.ELLIPSIS)
        self.assertEqual((found.failed, page.failed), (0, 0), out.getvalue())
        self.assertGreater(found.attempted, 8)
        self.assertGreater(page.attempted, 8)


def timeless(value):
    """Without how long something took."""
    if isinstance(value, dict):
        return {key: timeless(one) for key, one in value.items() if key != "seconds"}
    return [timeless(one) for one in value] if isinstance(value, list) else value


if __name__ == "__main__":
    unittest.main()
