"""Runs trapcheck and the two scripts over the same runs: same numbers? at what cost in CPU and wall time?"""

import csv
import gzip
import importlib.util
import io
import resource
import statistics
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).parent
TRAPCHECK = HERE.parent.parent / "target" / "debug" / "trapcheck"
CHECKED = ["hit_fraction", "backlog_mean_sessions", "backlog_slope_per_s", "mean_prompt_tokens", "gap_median_s"]
ROUNDS = 5


def cpu_s():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def timed(command):
    """CPU seconds (of the kernel too) and wall seconds of one run, and what it printed."""
    cpu, start = cpu_s(), time.perf_counter()
    out = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return cpu_s() - cpu, time.perf_counter() - start, out


def unpacked_mb(paths):
    """What the runs' csv tables are without their packing."""
    size = 0
    for file in sorted(f for path in paths for f in Path(path).rglob("*.csv*")):
        if file.suffix == ".zst":
            import zstandard

            with zstandard.ZstdDecompressor().stream_reader(file.open("rb")) as stream:
                while piece := stream.read(1 << 20):
                    size += len(piece)
        elif file.suffix == ".gz":
            size += len(gzip.decompress(file.read_bytes()))
        else:
            size += file.stat().st_size
    return size / 1e6


def rows_of(out):
    return {Path(row["run"]): row for row in csv.DictReader(io.StringIO(out))}


def last_digit(text):
    return 10.0 ** -len(text.partition(".")[2])


def differing(rows, reference):
    return [
        f"{run} {name}: {row[name]} against {reference[run][name]}"
        for run, row in rows.items()
        for name in CHECKED
        if abs(float(row[name]) - float(reference[run][name])) > 0.5001 * last_digit(reference[run][name])
    ]


paths = sys.argv[1:] or ["results/sim/paired"]
peers = [peer for peer in ["pandas", "polars"] if importlib.util.find_spec(peer)]
commands = {
    "trapcheck inspect": [TRAPCHECK, "inspect", "--format", "csv", *paths],
    "trapcheck score": [TRAPCHECK, "score", "--format", "csv", *paths],
    **{peer: [sys.executable, HERE / f"{peer}_stats.py", *paths] for peer in peers},
}
# In turn, so that a machine whose speed drifts is unfair to none.
rounds = [{name: timed(command) for name, command in commands.items()} for _ in range(ROUNDS)]
megabytes = unpacked_mb(paths)
reference = rows_of(rounds[0]["trapcheck score"][2])
print(f"{len(reference)} runs, {megabytes:.1f} MB of csv unpacked; medians of {ROUNDS}, commands in turn")
print(f"{'':<18} {'CPU s':>7} {'wall s':>7} {'MB per CPU-s':>13} {'CPU of score':>13}")
medians = {name: [statistics.median(r[name][i] for r in rounds) for i in range(2)] for name in commands}
for name, (cpu, wall) in medians.items():
    ratio = statistics.median(r[name][0] / r["trapcheck score"][0] for r in rounds)
    print(f"{name:<18} {cpu:7.2f} {wall:7.2f} {megabytes / cpu:13.0f} {ratio:12.2f}x")
for peer in peers:
    off = differing(rows_of(rounds[0][peer][2]), reference)
    print(f"{peer}: 12 statistics of turns and sessions alone; {len(off)} values differ")
    for line in off[:5]:
        print("  ", line)
