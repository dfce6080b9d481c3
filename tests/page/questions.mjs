// Random questions, the same ones for the same seed.

import { mkdirSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

const corpus = new URL('../../crates/observed/tests/corpus/', import.meta.url);

/** Mulberry32: 32 bits of state, enough to choose questions. */
function random(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

export class Questions {
  constructor(seed, lists, run, scratch) {
    Object.assign(this, { seed, lists, run, scratch });
    const laws = lists.workloads.filter((workload) => workload.kind === 'law');
    this.laws = laws.map((workload) => workload.name);
    this.workloads = lists.workloads.filter(({ kind }) => kind !== 'recorded').map(({ name }) => name);
    // Recorded sessions lie in files that no page has.
    const recorded = new Set(lists.workloads.filter(({ kind }) => kind === 'recorded').map(({ name }) => name));
    const cells = lists.cells.filter((cell) => !recorded.has(cell.workload));
    this.cells = cells.map((cell) => cell.name);
    this.costed = cells.filter((cell) => cell.has_iteration_costs).map((cell) => cell.name);
    // Cells of sessions play days: with a law's short sessions that is minutes to simulate.
    this.brief = cells.filter((cell) => this.laws.includes(cell.workload)).map((cell) => cell.name);
    this.logs = readdirSync(corpus).map((name) => ({ name, bytes: readFileSync(new URL(name, corpus)) }));
  }

  /** Simulates the runs that are dropped later. */
  async prepare() {
    const folder = join(this.scratch, 'runs');
    mkdirSync(folder);
    const arms = ['burst', 'noburst', 'capped --cap 20', 'rescue --cap 20 --from 1800', 'closed --population 24', 'e0b'];
    this.runs = [];
    for (const [i, arm] of arms.entries()) {
      const rate = arm.startsWith('closed') ? '' : ` --rate ${[1.35, 1.65, 0.9][i % 3]}`;
      const line = `trapcheck simulate --cell sglang-300k --arm ${arm}${rate} --seed ${i} --tables csv --out run-${i}`;
      const { code, stderr } = await this.run(line, folder);
      if (code !== 0) throw new Error(stderr);
      const files = readdirSync(join(folder, `run-${i}`));
      this.runs.push(files.map((name) => ({ name, bytes: readFileSync(join(folder, `run-${i}`, name)) })));
    }
    rmSync(folder, { recursive: true });
  }

  /** The question of a number: each kind comes up, the cheap ones most often. */
  at(index) {
    this.next = random(this.seed * 100_003 + index);
    const kinds = ['trap', 'trap', 'rescue', 'cut', 'stop', 'curve', 'burst', 'knee', 'simulate', 'judge', 'judge', 'time_scales'];
    const kind = kinds[index % kinds.length];
    const { files = [], ...question } = this[kind]();
    return { question: { ask: kind, ...question }, files };
  }

  real(from, to, digits = 3) {
    return Number((from + (to - from) * this.next()).toFixed(digits));
  }

  whole(from, to) {
    return from + Math.floor((to - from + 1) * this.next());
  }

  one(list) {
    return list[Math.floor(list.length * this.next())];
  }

  chance(share) {
    return this.next() < share;
  }

  some(from, to, digits) {
    return Array.from({ length: this.whole(1, 4) }, () => this.real(from, to, digits));
  }

  /** Now and then a field that a question may have. */
  maybe(share, fields) {
    return this.chance(share) ? fields() : {};
  }

  cell(cells) {
    const changes = {
      ...this.maybe(0.2, () => ({ pool: this.whole(50_000, 2_000_000) })),
      ...this.maybe(0.1, () => ({ speed: this.real(0.3, 4) })),
      ...this.maybe(0.1, () => ({ batching: this.one(['separate', 'mixed']) })),
      ...this.maybe(0.1, () => ({ tool_mean_s: this.real(0.5, 90) })),
      ...this.maybe(0.1, () => ({ mean_turns: this.real(2, 40), max_turns: this.whole(10, 90) })),
      ...this.maybe(0.1, () => ({ first_prompt: this.whole(200, 20_000), tool_output: this.whole(1, 3000) })),
    };
    const law = { mean_turns: this.real(3, 30), max_turns: this.whole(20, 80), first_prompt: 2000, tool_output: 550, decoded: 100 };
    switch (this.whole(0, 9)) {
      case 0:
        return { a_s: this.real(0.004, 0.03, 4), b_s_per_token: this.real(2e-5, 1e-4, 7), pool: this.whole(1e5, 1e6), ...law };
      case 1:
        return { cell: this.one(this.cells), workload: this.one(this.laws) };
      case 2:
        return { cell: this.one([...this.cells, 'sglang-301k', 'nothing']), ...changes };
      default:
        return { cell: this.one(cells), ...changes };
    }
  }

  load() {
    switch (this.whole(0, 5)) {
      case 0:
        return { rho: this.real(0.6, 2.5) };
      case 1:
        return { sessions_per_s: this.real(0.02, 0.6, 5) };
      default:
        return { rate: this.real(0.6, 3) };
    }
  }

  trap() {
    return { ...this.cell(this.cells), ...this.load(), ...this.maybe(0.1, () => ({ roots: true })) };
  }

  rescue() {
    return {
      ...this.cell(this.costed),
      ...this.load(),
      ...this.maybe(0.4, () => ({ cap: this.some(4, 90, 0) })),
      ...(this.chance(0.5) ? { engage_at: this.real(1300, 4000, 0) } : { backlog: this.real(1, 400, 1) }),
      ...this.maybe(0.3, () => ({ hold: this.real(0, 900, 0) })),
    };
  }

  cut() {
    return {
      ...this.cell(this.cells),
      ...this.load(),
      ...this.maybe(0.6, () => ({ to: this.some(0.2, 2, 2) })),
      ...this.maybe(0.6, () => ({ at: this.real(1000, 6000, 0) })),
      ...this.maybe(0.4, () => ({ until: this.real(6000, 20_000, 0) })),
    };
  }

  stop() {
    return { ...this.cell(this.cells), ...this.load(), ...this.maybe(0.6, () => ({ at: this.real(1000, 4000, 0) })) };
  }

  curve() {
    return {
      ...this.cell(this.costed),
      ...this.maybe(0.5, () => ({ population: this.some(1, 120, 1) })),
      ...this.maybe(0.3, () => ({ from_empty: this.real(600, 40_000, 0) })),
    };
  }

  burst() {
    return {
      ...this.cell(this.costed),
      ...this.load(),
      ...this.maybe(0.5, () => ({ sessions: this.some(1, 200, 0) })),
      ...this.maybe(0.3, () => ({ horizon: this.real(100, 9000, 0) })),
    };
  }

  knee() {
    const sizes = { pool_tokens: this.whole(80_000, 900_000), prefill_rate: this.whole(3000, 40_000) };
    const engine = this.chance(0.3) ? { ...sizes, workload: this.one(this.laws) } : { cell: this.one(this.costed) };
    return {
      ...engine,
      ...this.maybe(0.5, () => ({ engine: this.one(['vllm', 'sglang', 'paper']) })),
      ...this.maybe(0.7, () => ({ population: [this.whole(2, 20), this.whole(21, 60)] })),
      ...this.maybe(0.2, () => ({ host_tokens: 400_000, host_load_rate: this.whole(20_000, 200_000) })),
      most: 64,
      seeds: this.whole(1, 2),
      warm_up: this.real(60, 200, 0),
      window: this.real(60, 300, 0),
    };
  }

  /** A cell to simulate, now and then with another workload than its own. */
  playing(share) {
    const cell = this.one(this.costed);
    return { cell, ...this.maybe(this.brief.includes(cell) ? share : 0, () => ({ workload: this.one(this.workloads) })) };
  }

  simulate() {
    const runs = [
      { arm: 'burst', burst: this.whole(5, 200) },
      { arm: 'burst', name: 'stock' },
      { arm: 'noburst' },
      { arm: 'rescue', cap: this.whole(4, 60), from: this.real(1300, 3000, 0), burst: this.whole(20, 200) },
      { arm: 'capped', cap: this.whole(4, 60) },
      { arm: 'cut', from: 2400, cut_to: this.real(0.3, 1, 2) },
      { arm: 'shed', from: 1800, for: this.whole(60, 1200) },
      { arm: 'toolslow', from: 1200, for: 600, delay: this.whole(1, 40) },
      { arm: 'e0b' },
    ];
    const chosen = runs.filter(() => this.chance(0.25));
    return {
      ...this.playing(0.4),
      rate: this.real(0.6, 2, 2),
      seed: this.whole(0, 1000),
      runs: chosen.length > 0 ? chosen : [this.one(runs)],
      ...this.maybe(0.2, () => ({ batching: this.one(['separate', 'mixed']) })),
      ...this.maybe(0.1, () => ({ scheduling: 'lpm', no_lpm_fallback: true })),
      ...this.maybe(0.1, () => ({ token_cost_factor: this.real(0.5, 2) })),
      ...this.maybe(0.1, () => ({ keep_finished: true })),
    };
  }

  time_scales() {
    return {
      ...this.playing(0.2),
      rate: this.real(0.8, 2, 2),
      seed: this.whole(0, 1000),
    };
  }

  judge() {
    return this.chance(0.6) ? this.dropped_runs() : this.dropped_logs();
  }

  /** Some run directories, packed or not, now and then damaged. */
  dropped_runs() {
    const count = this.whole(1, 3);
    const files = [];
    for (let i = 0; i < count; i += 1) {
      const run = this.one(this.runs);
      const whole = run.filter((file) => file.name !== 'gate.csv' || this.chance(0.8));
      const broken = this.chance(0.3) ? this.one(whole).name : undefined;
      for (const file of whole) {
        const bytes = file.name === broken ? this.damaged(file.bytes) : file.bytes;
        const packed = file.name.endsWith('.csv') && this.chance(0.5);
        files.push({
          name: `batch-${i}/run/${file.name}${packed ? '.gz' : ''}`,
          bytes: packed ? this.cut_off(gzipSync(bytes)) : bytes,
        });
      }
    }
    return { files };
  }

  cut_off(bytes) {
    return this.chance(0.05) ? bytes.subarray(0, Math.floor(bytes.length * this.next())) : bytes;
  }

  /** One byte of a text is another, or its end is missing. */
  damaged(bytes) {
    if (this.chance(0.3)) return bytes.subarray(0, Math.floor(bytes.length * this.next()));
    const other = Buffer.from(bytes);
    other[Math.floor(other.length * this.next())] = this.one([0x2c, 0x2d, 0x78, 0x39, 0x0a, 0x22]);
    return other;
  }

  /** Logs, scrapes and tables, alone or as a folder. */
  dropped_logs() {
    const folder = this.chance(0.4) ? 'night/' : '';
    const names = new Set(Array.from({ length: this.whole(1, folder ? 4 : 2) }, () => this.one(this.logs)));
    const files = [...names].map(({ name, bytes }) => {
      const packed = this.chance(0.3);
      return { name: `${folder}${name}${packed ? '.gz' : ''}`, bytes: packed ? gzipSync(bytes) : bytes };
    });
    return {
      files,
      ...this.maybe(0.3, () => ({ pool: this.whole(10_000, 1_000_000) })),
      ...this.maybe(0.2, () => ({ closed: true })),
      ...this.maybe(0.3, () => ({ cell: this.one(this.cells), sessions_per_s: this.real(0.01, 1) })),
    };
  }
}
