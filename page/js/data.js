// Reads the data that `trapcheck page` wrote, each file once.

/** @type {Map<string, Promise<any>>} */
const asked = new Map();

/** What lists the others. */
const INDEX = "index.json";
/** Said of a page that lies there without its data. */
const NO_DATA =
  "The data of this page are not here: `make page` in the project writes them, and `trapcheck page --out DIR` a page of runs of one's own.";

/**
 * A file of data/, parsed.
 * @param {string} name for example `law.json`
 * @returns {Promise<any>}
 */
export function data(name) {
  const known = asked.get(name);
  if (known !== undefined) {
    return known;
  }
  const reading = read(name);
  asked.set(name, reading);
  reading.catch(() => asked.delete(name));
  return reading;
}

/**
 * A part that the index names; `absent` says in a sentence why it is not there.
 * @param {string} name for example `law`
 * @returns {Promise<any>}
 */
export async function part(name) {
  const { parts } = await data(INDEX);
  if (parts === null) {
    return { absent: NO_DATA };
  }
  const { absent, file } = parts[name];
  return absent ? { absent } : data(file);
}

/**
 * Whose runs the page is of: `project` or `runs`; `nobody` of a page without data.
 * @returns {Promise<string>}
 */
export async function whose() {
  return (await data(INDEX)).of;
}

/** @param {string} name */
async function read(name) {
  const answer = await fetch(new URL(`../data/${name}`, import.meta.url));
  if (answer.status === 404 && name === INDEX) {
    return { of: "nobody", parts: null };
  }
  if (!answer.ok) {
    throw new Error(`data/${name}: ${answer.status}`);
  }
  return answer.json();
}
