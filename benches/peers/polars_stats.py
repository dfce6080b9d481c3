"""Per-run statistics over the evaluation window, with polars."""

import io
import sys

import numpy as np
import polars as pl
from common import WINDOW, runs, slope, table, write

A, B = WINDOW
OPTIONS = {"infer_schema_length": None}


def read(path):
    if path.suffix == ".zst":
        import zstandard

        return pl.read_csv(io.BytesIO(zstandard.ZstdDecompressor().stream_reader(path.open("rb")).read()), **OPTIONS)
    return pl.read_csv(path, **OPTIONS)


def statistics(folder, meta):
    turns = read(table(folder, "turns"))
    sessions = read(table(folder, "sessions"))
    served = turns.filter(pl.col("status") == "ok")
    window = served.filter(pl.col("t_end").is_between(A, B, closed="left")).with_columns(
        hit=2 * pl.col("cached_tokens") > pl.col("prompt_tokens"),
        latency=pl.col("t_end") - pl.col("t_submit"),
    )
    gaps = (
        served.sort("kind", "session", "turn")
        .with_columns(gap=pl.col("t_end").diff().over("kind", "session"))
        .drop_nulls("gap")
        .filter(pl.col("t_end").is_between(A, B, closed="left"))
    )
    medians = (
        gaps.group_by(((pl.col("t_end") - A) // 300).cast(pl.Int64).alias("bin"))
        .agg(pl.col("gap").median())
        .sort("bin")
    )
    in_system = sessions.filter(pl.col("status") != "refused")
    start = in_system["t_planned"].to_numpy()
    end = in_system["t_end"].fill_null(meta["duration_s"]).to_numpy()
    edges = np.arange(A, B + 1, 10.0)
    integral = np.clip(edges[:, None] - start, 0, None).sum(1) - np.clip(edges[:, None] - end, 0, None).sum(1)
    backlog = np.diff(integral) / 10.0
    done = sessions.filter((pl.col("status") == "completed") & pl.col("t_end").is_between(A, B, closed="left"))
    return [
        folder, window["hit"].mean(), window.filter(pl.col("turn") > 1)["hit"].mean(),
        (window["prompt_tokens"] - window["cached_tokens"]).sum() / (B - A),
        backlog.mean(), np.polyfit(edges[:-1] + 5, backlog, 1)[0], len(done) / (B - A),
        window["prompt_tokens"].mean(), gaps["gap"].median(),
        slope([A + 150 + 300 * b for b in medians["bin"]], list(medians["gap"])),
        window["latency"].median(), window["latency"].quantile(0.9, "linear"),
    ]


write(statistics(folder, meta) for folder, meta in runs(sys.argv[1:]))
