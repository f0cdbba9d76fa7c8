"""Exports the actor of a Stable-Baselines3 agent as a plain ONNX file for hambo.

    pip install stable-baselines3 onnx onnxscript
    python export_sb3.py sac agent.zip actor.onnx
    python export_sb3.py ppo agent.zip actor.onnx --normalise vecnormalize.pkl
    hambo check task.toml --model m.hambo --policy actor.onnx

The file's outputs are `action`, in the units of the environment, and for SAC and PPO
`log_std`: SAC's before its tanh, PPO's of the action; the file's property
`hambo.head` says which. `--deterministic` leaves `log_std` out: then hambo checks the
mean action, as `agent.predict(…, deterministic=True)` gives it.

`--normalise` takes the statistics of a VecNormalize into the graph: (x − mean) / std,
clipped as VecNormalize clips. hambo takes that clip for ReLU layers only; for others
leave it out with `--no-clip` if your observations stay within it.

PPO's actions are clipped to the limits of the environment's actions, as
Stable-Baselines3 does; give the task the same limits. Networks that hambo takes have
hidden layers of one activation: ReLU, tanh, sigmoid or SiLU.

Tried for SAC, PPO and TD3 with stable-baselines3 2.9.2, torch 2.15.0, onnx 1.23.2 and
onnxscript 0.7.2: the file's actions are within 1e-6 of agent.predict().
"""

import argparse
import pickle

import onnx
import torch
from torch import nn


class Actor(nn.Module):
    """Observations in, actions and log_std out, by the agent's own layers."""

    def __init__(self, kind, policy, normalise, clip, deterministic):
        super().__init__()
        self.kind, self.deterministic, self.clip = kind, deterministic, None
        self.normalised = normalise is not None
        if self.normalised:
            statistics = normalise.obs_rms
            scale = (statistics.var + normalise.epsilon) ** 0.5
            self.register_buffer("mean", torch.tensor(statistics.mean, dtype=torch.float32))
            self.register_buffer("scale", torch.tensor(scale, dtype=torch.float32))
            if clip:
                self.clip = float(normalise.clip_obs)
        space = policy.action_space
        low, high = torch.tensor(space.low), torch.tensor(space.high)
        self.register_buffer("centre", (high + low) / 2)
        self.register_buffer("reach", (high - low) / 2)
        if kind == "ppo":
            self.layers = nn.Sequential(*policy.mlp_extractor.policy_net, policy.action_net)
            self.log_std = policy.log_std
        elif kind == "sac":
            self.layers = policy.actor.latent_pi
            self.mu, self.log_std = policy.actor.mu, policy.actor.log_std
        else:
            # TD3's and DDPG's networks end in their tanh.
            self.layers = policy.actor.mu

    def forward(self, observation):
        if self.normalised:
            observation = (observation - self.mean) / self.scale
            if self.clip is not None:
                observation = torch.clamp(observation, -self.clip, self.clip)
        out = self.layers(observation)
        if self.kind == "td3":
            return out * self.reach + self.centre
        if self.kind == "ppo":
            # Actions of a Gaussian are in the environment's units already.
            return out if self.deterministic else (out, self.log_std.expand_as(out))
        action = torch.tanh(self.mu(out)) * self.reach + self.centre
        if self.deterministic:
            return action
        return action, torch.clamp(self.log_std(out), -20, 2)


def export(kind, agent, path, normalise=None, clip=True, deterministic=False):
    """Writes the actor of an agent; `kind` is "sac", "ppo" or "td3"."""
    policy = agent.policy
    if getattr(policy, "use_sde", False):
        raise SystemExit("state-dependent exploration (use_sde=True) has no plain log_std: "
                         "export with --deterministic")
    if not isinstance(policy.features_extractor_class, type) or (
        policy.features_extractor_class.__name__ != "FlattenExtractor"
    ):
        raise SystemExit("only policies over plain vectors (MlpPolicy) can be exported")
    deterministic = deterministic or kind == "td3"
    actor = Actor(kind, policy, normalise, clip, deterministic).to("cpu").eval()
    width = policy.observation_space.shape[0]
    names = ["action"] if deterministic else ["action", "log_std"]
    torch.onnx.export(
        actor,
        (torch.zeros(1, width),),
        path,
        input_names=["observation"],
        output_names=names,
        opset_version=18,
        dynamo=True,
        external_data=False,
        verbose=False,
    )
    head = "deterministic" if deterministic else {"sac": "tanh_gaussian", "ppo": "gaussian"}[kind]
    model = onnx.load(path)
    onnx.helper.set_model_props(model, {"hambo.head": head, "agent": kind})
    onnx.save(model, path)


def main():
    import stable_baselines3

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("kind", choices=["sac", "ppo", "td3"])
    parser.add_argument("agent", help="the .zip file of agent.save()")
    parser.add_argument("output", help="the .onnx file to write")
    parser.add_argument("--normalise", help="the .pkl file of VecNormalize.save()")
    parser.add_argument("--no-clip", action="store_true", help="without VecNormalize's clip")
    parser.add_argument("--deterministic", action="store_true", help="the mean action alone")
    arguments = parser.parse_args()
    agent = getattr(stable_baselines3, arguments.kind.upper()).load(arguments.agent, device="cpu")
    normalise = None
    if arguments.normalise:
        # A pickle runs code: load only your own.
        with open(arguments.normalise, "rb") as file:
            normalise = pickle.load(file)
    export(
        arguments.kind,
        agent,
        arguments.output,
        normalise,
        not arguments.no_clip,
        arguments.deterministic,
    )


if __name__ == "__main__":
    main()
