// From data to pixels, and where an axis has its ticks.

/**
 * @typedef {object} Scale
 * @property {(value: number) => number} at where a value lies, px
 * @property {(px: number) => number} value the value at a place
 * @property {number[]} ticks
 * @property {boolean} log
 */

/**
 * @param {[number, number]} domain
 * @param {[number, number]} range px
 * @param {{log?: boolean, count?: number}} [how]
 * @returns {Scale}
 */
export function scale([from, to], [start, end], { log = false, count = 5 } = {}) {
  const put = log ? Math.log10 : (/** @type {number} */ x) => x;
  const lift = log ? (/** @type {number} */ x) => 10 ** x : (/** @type {number} */ x) => x;
  const low = put(from);
  const span = put(to) - low || 1;
  return {
    at: (value) => start + ((put(value) - low) / span) * (end - start),
    value: (px) => lift(low + ((px - start) / (end - start || 1)) * span),
    ticks: log ? decades(from, to) : steps(from, to, count),
    log,
  };
}

/**
 * Powers of ten, and where there is but one, its 2 and 5 too.
 * @param {number} from
 * @param {number} to
 */
function decades(from, to) {
  const whole = [];
  const fine = [];
  for (let power = Math.floor(Math.log10(from)); power <= Math.ceil(Math.log10(to)); power += 1) {
    for (const digit of [1, 2, 5]) {
      const tick = Number(`${digit}e${power}`);
      if (tick >= from * 0.999 && tick <= to * 1.001) {
        fine.push(tick);
        if (digit === 1) {
          whole.push(tick);
        }
      }
    }
  }
  return whole.length > 1 ? whole : fine;
}

/**
 * Multiples of 1, 2, 2.5 or 5 times a power of ten.
 * @param {number} from
 * @param {number} to
 * @param {number} count about how many
 */
function steps(from, to, count) {
  const rough = (to - from) / count;
  if (!(rough > 0) || !Number.isFinite(rough)) {
    return [from];
  }
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((f) => f * power).find((f) => f >= rough * 0.999) ?? power;
  const ticks = [];
  for (let at = Math.ceil(from / step - 1e-9); at * step <= to + step * 1e-9; at += 1) {
    ticks.push(Number((at * step).toPrecision(12)));
  }
  return ticks;
}

/**
 * A tick's number: plain, with a thin space between thousands.
 * @param {number} value
 */
export function tick(value) {
  const [whole = "", rest] = String(Math.abs(value)).split(".");
  const spaced = whole.length > 4 ? whole.replace(/\B(?=(\d{3})+$)/g, "\u2009") : whole;
  const text = rest === undefined ? spaced : `${spaced}.${rest}`;
  return value < 0 ? `\u2212${text}` : text;
}

/**
 * The least and the greatest of the known numbers.
 * @param {Iterable<number | null | undefined>} numbers
 * @returns {[number, number]}
 */
export function extent(numbers) {
  let least = Number.POSITIVE_INFINITY;
  let most = Number.NEGATIVE_INFINITY;
  for (const number of numbers) {
    if (number !== null && number !== undefined && Number.isFinite(number)) {
      least = Math.min(least, number);
      most = Math.max(most, number);
    }
  }
  return least <= most ? [least, most] : [0, 1];
}
