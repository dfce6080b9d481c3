// The command line, which every number on the page is held against.

import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after } from "node:test";
import { fileURLToPath } from "node:url";

/** The project. */
export const PROJECT = fileURLToPath(new URL("../..", import.meta.url));
/** The built program. */
export const PROGRAM = process.env.TRAPCHECK ?? join(PROJECT, "target/debug/trapcheck");

/** A folder that is gone when the tests are over. */
export async function scratch() {
  const folder = await mkdtemp(join(tmpdir(), "trapcheck-page-"));
  after(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/**
 * Runs the program.
 * @param {string[]} args
 * @param {string} cwd
 * @returns {Promise<{code: number, stdout: string, stderr: string}>}
 */
export function run(args, cwd = PROJECT) {
  return new Promise((done) => {
    execFile(PROGRAM, args, { cwd, maxBuffer: 1 << 28 }, (error, stdout, stderr) => {
      done({ code: error ? (error.code ?? 1) : 0, stdout, stderr });
    });
  });
}

/**
 * What a command of the page prints, as JSON. `&&` joins commands: each is run, the last one's JSON is the answer.
 * @param {string} command as shown on the page
 * @param {string} cwd
 */
export async function printed(command, cwd = PROJECT) {
  const parts = command.split(" && ");
  let answer = null;
  for (const [i, part] of parts.entries()) {
    const [name, ...args] = split(part);
    if (name !== "trapcheck") {
      throw new Error(`no command of ours: ${part}`);
    }
    const last = i === parts.length - 1;
    const { code, stdout, stderr } = await run(
      last && !args.includes("--format") ? [...args, "--format", "json"] : args,
      cwd,
    );
    if (code === 2) {
      throw new Error(`${part}: ${stderr}`);
    }
    answer = last ? JSON.parse(stdout) : null;
  }
  return answer;
}

/**
 * A command line's words, as a shell splits them.
 * @param {string} line
 */
export function split(line) {
  const words = [];
  for (const match of line.matchAll(/(?:'[^']*'|\\.|[^\s'])+/g)) {
    words.push(match[0].replace(/'([^']*)'|\\(.)/g, (_, quoted, escaped) => quoted ?? escaped));
  }
  return words;
}
