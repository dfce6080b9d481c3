// Asks the page's wasm and the command line the same random questions and compares their JSON,
// value by value, to the bit.
//
//   node answers.mjs --bin target/debug/trapcheck --page page [--questions 300] [--seed 1]
//
// A question is answered by the wasm; the command line that is run is the one that the answer says.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { load } from './wasm.mjs';
import { Questions } from './questions.mjs';

const { values: given } = parseArgs({
  options: {
    bin: { type: 'string', default: 'target/debug/trapcheck' },
    page: { type: 'string', default: 'page' },
    questions: { type: 'string', default: '300' },
    seed: { type: 'string', default: '1' },
  },
});
const program = resolve(given.bin);
const [live, runs, logs] = await Promise.all(
  ['trapcheck', 'runs', 'logs'].map((name) => load(readFileSync(join(given.page, `${name}.wasm`)))),
);

/** Each question goes to the module that the page asks; files to both that judge some, as one of them refuses. */
function ask(question, files) {
  if (question.ask !== 'judge') return live(question, files);
  const [asRuns, asLogs] = [runs(question, files), logs(question, files)];
  if (asRuns.error === 'only run directories are judged here') return asLogs;
  if (asRuns.ok !== undefined) assert.equal(asLogs.error, 'only logs are judged here');
  return asRuns;
}
const scratch = mkdtempSync(join(tmpdir(), 'answers-'));

// Beside what a command prints, an answer holds these.
const BESIDE = new Set([
  'command', 'printed', 'said', 'mix', 'premium', 'at', 'paths', 'path', 'points', 'engines', 'scales', 'what', 'text',
]);

/** Runs a command line in a folder of its own; the program is found by its name. */
function run(line, folder) {
  const env = { ...process.env, PATH: `${dirname(program)}:${process.env.PATH}` };
  return new Promise((done) => {
    const options = { cwd: folder, env, maxBuffer: 1 << 28 };
    execFile('sh', ['-c', line], options, (error, stdout, stderr) => {
      done({ code: error ? (error.code ?? 3) : 0, stdout, stderr });
    });
  });
}

/** Compares an answer with what its command prints. */
async function compare(question, files, index) {
  const folder = join(scratch, String(index));
  mkdirSync(folder);
  for (const { name, bytes } of files) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), bytes);
  }
  const asked = { ...question, ...(files.length > 0 && { files: files.map(({ name }) => ({ name })) }) };
  const told = ask({ ask: 'command', question: asked }, []);
  assert.ok(told.ok, `no command: ${told.error}`);
  const answer = ask(question, files);
  const { code, stdout, stderr } = await run(`${told.ok.command} --format json`, folder);
  rmSync(folder, { recursive: true });
  if (answer.error !== undefined) {
    assert.equal(code, 2, `refused (${answer.error}), and the command line answers`);
    const said = stderr.split('\n').filter((line) => line.startsWith('error: '));
    const words = said.map((line) => line.slice('error: '.length)).join('\n');
    assert.equal(answer.error, words);
    return 'refused';
  }
  assert.notEqual(stdout, '', `the command line says: ${stderr}`);
  assert.equal(answer.ok.command, told.ok.command);
  const printed = JSON.parse(stdout);
  for (const [name, value] of Object.entries(printed)) {
    assert.deepStrictEqual(answer.ok[name], value, name);
  }
  const more = Object.keys(answer.ok).filter((name) => !(name in printed) && !BESIDE.has(name));
  assert.deepStrictEqual(more.filter((name) => name !== 'notes'), []);
  return 'answered';
}

/** Lists, one by one or a few at a time. */
async function inParallel(count, work) {
  let next = 0;
  const worker = async () => {
    while (next < count) await work(next++);
  };
  await Promise.all(Array.from({ length: availableParallelism() }, worker));
}

/** The lists are those of the files in configs/, with their values. */
function listed({ cells, protocols, workloads }) {
  const configs = (folder) =>
    new Map(
      readdirSync(join('configs', folder)).map((file) => [
        file.replace('.yaml', ''),
        readFileSync(join('configs', folder, file), 'utf8'),
      ]),
    );
  const same = (folder, list, values) => {
    const files = configs(folder);
    assert.deepEqual(list.map(({ name }) => name).sort(), [...files.keys()].sort(), folder);
    for (const one of list) {
      const text = files.get(one.name);
      for (const line of values(one)) assert.ok(text.includes(line), `configs/${folder}/${one.name}.yaml has ${line}`);
    }
  };
  same('cells', cells, (cell) => [
    `\npool_tokens: ${cell.pool_tokens}\n`,
    `\nworkload: ${cell.workload}\n`,
    // A file that names none means the paper's.
    ...(cell.protocol === 'paper' ? [] : [`\nprotocol: ${cell.protocol}\n`]),
    `\nlambda_ref_per_s: ${cell.lambda_ref_per_s}`,
  ]);
  same('protocols', protocols, ({ burst, horizon_s, window }) => [
    `horizon_s: ${horizon_s}`,
    `burst: {start_s: ${burst.start_s}, length_s: ${burst.length_s}, sessions: ${burst.sessions}}`,
    `window_s: [${window.join(', ')}]`,
  ]);
  same('workloads', workloads, ({ kind, first_prompt, decoded }) =>
    kind === 'law'
      ? [`\nfirst_prompt_tokens: ${first_prompt}\n`, `\ndecoded_tokens: ${decoded}\n`]
      : [`\nkind: ${kind}\n`],
  );
}

const lists = ask({ ask: 'lists' }, []).ok;
listed(lists);
const questions = new Questions(Number(given.seed), lists, (line, folder) => run(line, folder), scratch);
await questions.prepare();
const tally = new Map();
const failed = [];
await inParallel(Number(given.questions), async (index) => {
  const { question, files } = questions.at(index);
  try {
    const how = await compare(question, files, index);
    const key = `${question.ask} ${how}`;
    tally.set(key, (tally.get(key) ?? 0) + 1);
  } catch (error) {
    failed.push(`question ${index}: ${JSON.stringify(question)} ${files.map((f) => f.name)}\n${error.message}`);
  }
});
rmSync(scratch, { recursive: true });
for (const why of failed.slice(0, 20)) console.error(why);
console.log('lists answered: 1');
for (const [key, count] of [...tally].sort()) console.log(`${key}: ${count}`);
console.log(`${given.questions} questions, ${failed.length} differ`);
process.exitCode = failed.length === 0 ? 0 : 1;
