"""Writes the logs beside this file, as people log with Gymnasium and save with pandas, polars
and DuckDB.

    pip install -r requirements.txt
    python make_fixtures.py

Every small file holds the same steps of Pendulum-v1 under random torques: 12 episodes of 25
steps, cut off by a time limit. `expected.csv` has them with hambo's own column names. The files
`many_*.parquet` hold 4,000 rows, so that dictionaries and several row groups and pages occur.
"""

import pathlib

import duckdb
import gymnasium
import numpy
import pandas
import polars
import pyarrow
import pyarrow.parquet

FOLDER = pathlib.Path(__file__).parent
EPISODES, STEPS = 12, 25


def logged():
    environment = gymnasium.make("Pendulum-v1", max_episode_steps=STEPS)
    environment.action_space.seed(0)
    rows = []
    for episode in range(EPISODES):
        observation, _ = environment.reset(seed=episode)
        for step in range(STEPS):
            action = environment.action_space.sample()
            following, reward, terminated, truncated, _ = environment.step(action)
            rows.append(
                {
                    **{f"obs_{i}": x for i, x in enumerate(observation)},
                    "action_0": action[0],
                    "reward": numpy.float32(reward),
                    **{f"next_obs_{i}": x for i, x in enumerate(following)},
                    "terminated": terminated,
                    "truncated": truncated,
                    "episode": episode,
                    "t": step,
                }
            )
            observation = following
    return pandas.DataFrame(rows)


log = logged()
states = ["obs_0", "obs_1", "obs_2"]
plain = log[states + ["action_0", "reward", "terminated", "truncated"]]

# With hambo's own names and without a library.
with open(FOLDER / "expected.csv", "w") as file:
    file.write("obs_0,obs_1,obs_2,action_0,reward,terminal,timeout,episode\n")
    for row in log.itertuples():
        numbers = [row.obs_0, row.obs_1, row.obs_2, row.action_0, row.reward]
        file.write(",".join(str(number) for number in numbers))
        file.write(f",{int(row.terminated)},{int(row.truncated)},{row.episode}\n")

# The index is a column without a name, flags are True and False.
plain.to_csv(FOLDER / "gymnasium.csv")
# Flags as words in a column of text, and the next observations.
words = log.drop(columns=["episode", "t"]).astype({"terminated": str, "truncated": str})
words.to_parquet(FOLDER / "gymnasium_next.parquet")
# One column for both ends, and names of episodes.
done = plain.drop(columns=["terminated", "truncated"])
done = done.assign(done=log.terminated | log.truncated, episode_id=[f"run-{n:02}" for n in log.episode])
done.to_csv(FOLDER / "done.csv", index=False)
done.drop(columns="done").to_parquet(FOLDER / "episode_words.parquet")
# The step alone tells where an episode begins; names that are functions in expressions.
steps = log[["t"] + states + ["action_0", "reward"]]
steps = steps.rename(columns={"obs_0": "cos", "obs_1": "sin", "obs_2": "speed", "action_0": "action"})
steps.to_csv(FOLDER / "step.csv", index=False)
# Spreadsheets in countries with decimal commas, and tabs.
plain.to_csv(FOLDER / "semicolon.csv", index=False, sep=";", decimal=",")
plain.to_csv(FOLDER / "tab.tsv", index=False, sep="\t")
# A bag as a table: stamps of 20 Hz, a pause between the episodes, topics for names.
seconds = log.t * 0.05 + log.episode * 10.0
stamps = pandas.Timestamp("2026-03-01 10:00:00") + pandas.to_timedelta(seconds, unit="s")
bag = pandas.DataFrame({"stamp": stamps})
for state in range(3):
    bag[f"/pendulum.position[{state}]"] = log[f"obs_{state}"]
bag["/cmd.torque"] = log.action_0
bag.to_csv(FOLDER / "bag.csv", index=False)
bag.to_parquet(FOLDER / "bag.parquet", index=False)
# Nothing says where an episode ends: refused.
plain[states + ["action_0", "reward"]].to_csv(FOLDER / "no_ends.csv", index=False)
plain[states + ["action_0", "terminated"]].to_csv(FOLDER / "never_terminated.csv", index=False)

many = pandas.DataFrame(
    {
        "x": numpy.round(numpy.sin(0.1 * numpy.arange(4000)), 2),
        "u": numpy.arange(4000) % 7 * 0.25,
        "episode": numpy.arange(4000) // 100,
    }
)
many.to_parquet(FOLDER / "many_pandas.parquet")
table = pyarrow.Table.from_pandas(many, preserve_index=False)
pyarrow.parquet.write_table(table, FOLDER / "many_pyarrow_groups.parquet", row_group_size=700)
pyarrow.parquet.write_table(
    table,
    FOLDER / "many_pyarrow_plain_v2.parquet",
    use_dictionary=False,
    data_page_version="2.0",
    data_page_size=4096,
    compression="gzip",
)
pyarrow.parquet.write_table(
    table, FOLDER / "many_pyarrow_zstd_v2.parquet", data_page_version="2.0", compression="zstd"
)
frame = polars.from_pandas(many)
frame.write_parquet(FOLDER / "many_polars.parquet")
frame.write_parquet(FOLDER / "many_polars_snappy.parquet", compression="snappy", row_group_size=900)
connection = duckdb.connect()
connection.register("many", many)
connection.execute(f"COPY many TO '{FOLDER / 'many_duckdb.parquet'}' (FORMAT parquet)")
connection.execute(
    f"COPY many TO '{FOLDER / 'many_duckdb_zstd.parquet'}' (FORMAT parquet, COMPRESSION zstd)"
)
