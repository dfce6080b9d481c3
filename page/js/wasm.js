// The questions' way into the program: JSON in, JSON out, bytes of dropped files beside it.

/**
 * What each module exports.
 * @typedef {object} Exports
 * @property {WebAssembly.Memory} memory
 * @property {(len: number) => number} alloc
 * @property {(ptr: number, len: number) => void} free
 * @property {(ptr: number, len: number) => bigint} answer
 */

/**
 * A file that is handed over as it is.
 * @typedef {{name: string, bytes: Uint8Array}} Handed
 */

/** @typedef {(question: Record<string, unknown>, files?: Handed[]) => unknown} Ask */

/**
 * Makes the function that asks.
 * @param {WebAssembly.Exports} instance
 * @returns {Ask}
 */
export function asker(instance) {
  const program = /** @type {Exports} */ (/** @type {unknown} */ (instance));
  /** @param {Uint8Array} bytes */
  const put = (bytes) => {
    const ptr = program.alloc(bytes.length);
    // The view is made after alloc: memory that grows leaves older views empty.
    new Uint8Array(program.memory.buffer, ptr, bytes.length).set(bytes);
    return { ptr, len: bytes.length };
  };
  return (question, files = []) => {
    const held = files.map((file) => ({ name: file.name, ...put(file.bytes) }));
    const whole = held.length > 0 ? { ...question, files: [question.files ?? [], held].flat() } : question;
    const asked = put(new TextEncoder().encode(JSON.stringify(whole)));
    const packed = BigInt.asUintN(64, program.answer(asked.ptr, asked.len));
    const ptr = Number(packed >> 32n);
    const len = Number(packed & 0xffffffffn);
    const text = new TextDecoder().decode(new Uint8Array(program.memory.buffer, ptr, len));
    program.free(ptr, len);
    for (const { ptr: at, len: size } of [asked, ...held]) {
      program.free(at, size);
    }
    return JSON.parse(text);
  };
}
