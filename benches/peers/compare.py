"""Runs trapcheck and the two scripts over the same runs: same numbers? at what ratio of time?"""

import csv
import io
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).parent
TRAPCHECK = HERE.parent.parent / "target" / "debug" / "trapcheck"
CHECKED = ["hit_fraction", "backlog_mean_sessions", "backlog_slope_per_s", "mean_prompt_tokens", "gap_median_s"]


def timed(command):
    best, out = None, ""
    for _ in range(3):
        start = time.perf_counter()
        out = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        took = time.perf_counter() - start
        best = took if best is None else min(best, took)
    return best, {Path(row["run"]): row for row in csv.DictReader(io.StringIO(out))}


def last_digit(text):
    return 10.0 ** -len(text.partition(".")[2])


paths = sys.argv[1:] or ["results/sim/paired"]
ours, reference = timed([TRAPCHECK, "score", "--format", "csv", *paths])
print(f"{len(reference)} runs, best of three")
print(f"trapcheck score   {ours:7.2f} s  (every statistic, checks of the data, verdicts)")
for peer in ["pandas", "polars"]:
    took, rows = timed([sys.executable, HERE / f"{peer}_stats.py", *paths])
    off = [
        f"{run} {name}: {row[name]} against {reference[run][name]}"
        for run, row in rows.items()
        for name in CHECKED
        if abs(float(row[name]) - float(reference[run][name])) > 0.5001 * last_digit(reference[run][name])
    ]
    print(f"{peer:<17} {took:7.2f} s  {took / ours:5.1f} times as long (12 statistics), {len(off)} values differ")
    for line in off[:5]:
        print("  ", line)
