"""Writes the small logs beside this file, with the libraries that users have.

    pip install numpy h5py pandas pyarrow
    python make_fixtures.py

All of them hold the same three episodes of a cart (x, v; u), 5, 4 and 6 steps
long: the first ends with a terminal, the others with a timeout. `expected.csv`
is that log as plain text, written without any of the libraries.
"""

import pathlib

import h5py
import numpy
import pandas
import pyarrow
import pyarrow.parquet

FOLDER = pathlib.Path(__file__).parent
LENGTHS = [5, 4, 6]


def episode(number, length):
    """Every number is exact in float32."""
    x, v = float(number), 0.25 * number
    rows = []
    for step in range(length):
        u = 0.5 * (step % 3) - 0.25
        next_x, next_v = x + 0.5 * v, v + 0.5 * u
        last = step == length - 1
        rows.append((x, v, u, next_x, next_v, -x, last and number == 0, last and number != 0, number))
        x, v = next_x, next_v
    return rows


rows = [row for number, length in enumerate(LENGTHS) for row in episode(number, length)]
table = numpy.array(rows, dtype=numpy.float64)
parts = {
    "observations": table[:, 0:2],
    "actions": table[:, 2:3],
    "next_observations": table[:, 3:5],
    "rewards": table[:, 5],
    "terminals": table[:, 6] == 1,
    "timeouts": table[:, 7] == 1,
}
single = {key: value.astype("f4") if value.dtype == "f8" else value for key, value in parts.items()}
shifted = {key: value for key, value in parts.items() if key != "next_observations"}

with open(FOLDER / "expected.csv", "w") as file:
    file.write("x,v,u,next.x,next.v,reward,terminal,timeout,episode\n")
    for row in rows:
        file.write(",".join(repr(number) for number in row[:6]))
        file.write(f",{int(row[6])},{int(row[7])},{row[8]}\n")


def npz(name, arrays, save=numpy.savez):
    save(FOLDER / f"{name}.npz", **arrays)


npz("numpy_f32", single)
npz("numpy_f64_compressed", parts, numpy.savez_compressed)
npz("numpy_shifted", shifted)
npz("numpy_uint8_flags", parts | {key: parts[key].astype("u1") for key in ("terminals", "timeouts")})
npz("numpy_int64_flags", parts | {key: parts[key].astype("i8") for key in ("terminals", "timeouts")})
npz("numpy_float_flags", parts | {key: parts[key].astype("f4") for key in ("terminals", "timeouts")})
npz("numpy_big_endian", {key: value.astype(value.dtype.newbyteorder(">")) for key, value in parts.items()})
npz("numpy_fortran", parts | {"observations": numpy.asfortranarray(parts["observations"])})
npz("numpy_columns", {key: value.reshape(len(table), -1) for key, value in parts.items()})


def hdf5(name, arrays, libver="earliest", **options):
    with h5py.File(FOLDER / f"{name}.hdf5", "w", libver=libver) as file:
        for key, value in arrays.items():
            file.create_dataset(key, data=value, **options)


gzip = {"chunks": True, "compression": "gzip", "shuffle": True}
hdf5("h5py_f32", single)
hdf5("h5py_f64_gzip_shuffle", parts, **gzip)
hdf5("h5py_shifted", shifted)
hdf5("h5py_v114", single, libver="v114")
hdf5("h5py_v114_gzip", parts, libver="v114", **gzip)
hdf5("h5py_lzf_fletcher", parts, compression="lzf", fletcher32=True)
hdf5("h5py_uint8_flags", parts | {key: parts[key].astype("u1") for key in ("terminals", "timeouts")})
hdf5("h5py_float_flags", parts | {key: parts[key].astype("f4") for key in ("terminals", "timeouts")})
with h5py.File(FOLDER / "h5py_growing.hdf5", "w") as file:
    for key, value in parts.items():
        file.create_dataset(key, data=value, maxshape=(None, *value.shape[1:]), chunks=(4, *value.shape[1:]))
with h5py.File(FOLDER / "h5py_infos.hdf5", "w", userblock_size=512) as file:
    for key, value in single.items():
        file.create_dataset(key, data=value)
    file.create_dataset("infos/qpos", data=single["observations"])
    file.create_dataset("metadata/algorithm", data="SAC")


def minari(name, libver="earliest", **options):
    """As minari's HDF5 storage writes it."""
    with h5py.File(FOLDER / f"{name}.hdf5", "w", libver=libver) as file:
        start = 0
        for number, length in enumerate(LENGTHS):
            group = file.create_group(f"episode_{number}")
            part = slice(start, start + length)
            start += length
            last = parts["next_observations"][part][-1:]
            states = numpy.concatenate([parts["observations"][part], last])
            group.create_dataset("observations", data=states, **options)
            group.create_dataset("actions", data=single["actions"][part], **options)
            group.create_dataset("rewards", data=parts["rewards"][part], **options)
            group.create_dataset("terminations", data=parts["terminals"][part], **options)
            group.create_dataset("truncations", data=parts["timeouts"][part], **options)
            group.create_group("infos")
            group.attrs["id"] = number
            group.attrs["total_steps"] = length
            group.attrs["seed"] = 7
        file.attrs["total_episodes"] = len(LENGTHS)
        file.attrs["total_steps"] = len(table)


minari("minari")
minari("minari_v114_gzip", libver="v114", **gzip)

names = ["x", "v", "u", "next.x", "next.v", "reward", "terminal", "timeout", "episode"]
frame = pandas.DataFrame(table, columns=names)
frame = frame.astype({"terminal": bool, "timeout": bool, "episode": "int64"})
for compression in ("snappy", "zstd", "gzip", None):
    frame.to_parquet(FOLDER / f"pandas_{compression or 'plain'}.parquet", compression=compression)
frame.to_csv(FOLDER / "pandas.csv", index=False)
words = frame.astype({"terminal": str, "timeout": str, "episode": "int8"})
words = words.astype({name: "float32" for name in names[:6]})
words.to_parquet(FOLDER / "pandas_words.parquet")
pyarrow.parquet.write_table(
    pyarrow.Table.from_pandas(frame, preserve_index=True),
    FOLDER / "pyarrow_v2_pages.parquet",
    data_page_version="2.0",
    row_group_size=4,
)

# Other rows: so many that the dictionary of a column is larger than the footer.
count = numpy.arange(2500, dtype="float32")
pyarrow.parquet.write_table(
    pyarrow.table({"x": count, "u": 0.5 * count, "next.x": count + 1}),
    FOLDER / "pyarrow_dictionary.parquet",
)

# What must be refused.
hdf5("bad_layout_5", parts, libver="latest", **gzip)
ragged = numpy.empty(2, dtype=object)
ragged[:] = [parts["observations"][:5], parts["observations"][5:]]
npz("bad_object", parts | {"observations": ragged})
npz("bad_text", parts | {"rewards": numpy.array(["a"] * len(table))})
with h5py.File(FOLDER / "bad_string.hdf5", "w") as file:
    for key, value in (parts | {"rewards": numpy.array([b"a"] * len(table))}).items():
        file.create_dataset(key, data=value)
with h5py.File(FOLDER / "bad_filter.hdf5", "w") as file:
    for key, value in parts.items():
        file.create_dataset(key, data=value, chunks=True, compression=None, scaleoffset=None)
    # Zstandard: not built in, so the filter is only named, as optional.
    properties = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    properties.set_chunk((4,))
    properties.set_filter(32015, h5py.h5z.FLAG_OPTIONAL, (3,))
    del file["rewards"]
    space = h5py.h5s.create_simple((len(table),))
    data = h5py.h5d.create(file.id, b"rewards", h5py.h5t.IEEE_F64LE, space, properties)
    data.write(h5py.h5s.ALL, h5py.h5s.ALL, numpy.ascontiguousarray(parts["rewards"]))
with h5py.File(FOLDER / "bad_dictionary_space.hdf5", "w") as file:
    group = file.create_group("episode_0")
    group.create_dataset("observations/achieved", data=parts["observations"])
    group.create_dataset("actions", data=parts["actions"])
with h5py.File(FOLDER / "bad_ragged_minari.hdf5", "w") as file:
    group = file.create_group("episode_0")
    group.create_dataset("observations", data=parts["observations"])
    group.create_dataset("actions", data=parts["actions"])
with h5py.File(FOLDER / "bad_huge_dimensions.hdf5", "w") as file:
    for key, value in parts.items():
        if key != "observations":
            file.create_dataset(key, data=value)
    file.create_dataset("observations", shape=(1 << 40, 2), dtype="f8", chunks=(1024, 2))
