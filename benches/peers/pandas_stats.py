"""Per-run statistics over the evaluation window, with pandas."""

import sys

import numpy as np
import pandas as pd
from common import WINDOW, runs, slope, table, write

A, B = WINDOW


def statistics(folder, meta):
    turns = pd.read_csv(table(folder, "turns"))
    sessions = pd.read_csv(table(folder, "sessions"))
    served = turns[turns.status == "ok"]
    window = served[(served.t_end >= A) & (served.t_end < B)]
    hit = 2 * window.cached_tokens > window.prompt_tokens
    follow = window.turn > 1
    latency = window.t_end - window.t_submit

    ordered = served.sort_values(["kind", "session", "turn"])
    gap = ordered.groupby(["kind", "session"]).t_end.diff()
    gaps = pd.DataFrame({"t_end": ordered.t_end, "gap": gap}).dropna()
    gaps = gaps[(gaps.t_end >= A) & (gaps.t_end < B)]
    medians = gaps.groupby(((gaps.t_end - A) // 300).astype(int)).gap.median()

    in_system = sessions[sessions.status != "refused"]
    start = in_system.t_planned.to_numpy()
    end = in_system.t_end.fillna(meta["duration_s"]).to_numpy()
    edges = np.arange(A, B + 1, 10.0)
    integral = np.clip(edges[:, None] - start, 0, None).sum(1) - np.clip(edges[:, None] - end, 0, None).sum(1)
    backlog = np.diff(integral) / 10.0

    done = sessions[(sessions.status == "completed") & (sessions.t_end >= A) & (sessions.t_end < B)]
    return [
        folder, hit.mean(), hit[follow].mean(),
        (window.prompt_tokens - window.cached_tokens).sum() / (B - A),
        backlog.mean(), np.polyfit(edges[:-1] + 5, backlog, 1)[0], len(done) / (B - A),
        window.prompt_tokens.mean(), gaps.gap.median(),
        slope(list(A + 150 + 300 * medians.index), list(medians)),
        latency.median(), latency.quantile(0.9),
    ]


write(statistics(folder, meta) for folder, meta in runs(sys.argv[1:]))
