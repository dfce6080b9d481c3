// Reads the data that `trapcheck page` wrote, each file once.

/** @type {Map<string, Promise<any>>} */
const asked = new Map();

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
  const { parts } = await data("index.json");
  const { absent, file } = parts[name];
  return absent ? { absent } : data(file);
}

/** @param {string} name */
async function read(name) {
  const answer = await fetch(new URL(`../data/${name}`, import.meta.url));
  if (!answer.ok) {
    throw new Error(`data/${name}: ${answer.status}`);
  }
  return answer.json();
}
