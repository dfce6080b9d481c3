"""What the two scripts share: finding runs, their window, and printing."""

import csv
import json
import sys
from pathlib import Path

COLUMNS = [
    "run", "hit_fraction", "follow_up_hit_fraction", "uncached_tokens_per_s", "backlog_mean_sessions",
    "backlog_slope_per_s", "completions_per_s", "mean_prompt_tokens", "gap_median_s", "gap_slope",
    "latency_median_s", "latency_p90_s",
]
WINDOW = (5700.0, 8700.0)


def runs(paths):
    for path in paths:
        for meta in sorted(Path(path).rglob("meta.json")):
            yield meta.parent, json.loads(meta.read_text())


def table(folder, name):
    return next(f for f in sorted(folder.glob(f"{name}.csv*")))


def write(rows):
    out = csv.writer(sys.stdout)
    out.writerow(COLUMNS)
    for row in rows:
        out.writerow([row[0]] + [f"{x:.6f}" for x in row[1:]])


def slope(x, y):
    n = len(x)
    mx, my = sum(x) / n, sum(y) / n
    return sum((a - mx) * (b - my) for a, b in zip(x, y)) / sum((a - mx) ** 2 for a in x)
