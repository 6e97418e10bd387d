/**
 * The bytes of a recording (`cluster_abm/recording/payload.py`) as tables of numbers. Bytes that are not one, whole and
 * of this version end in `Unreadable` with one line for the reader.
 */

/** @typedef {Int32Array | Float32Array} Numbers */
/** @typedef {{rows: number, columns: Record<string, Numbers>, texts: Record<string, string[]>}} Table */
/** @typedef {{header: any, tables: Record<string, Table>}} Decoded */

const MAGIC = 0x4d424143; // "CABM"
const VERSION = 1;
const ENVELOPE = 20;
const MOST_BYTES = 1 << 29;
const MOST_ROWS = 1 << 25;

/** Bytes that the player cannot show; the message says why, in one line. */
export class Unreadable extends Error {}

/**
 * @param {Uint8Array} bytes
 * @returns {Promise<Decoded>}
 */
export async function decode(bytes) {
  if (bytes.length < ENVELOPE) throw new Unreadable(`The recording is cut off: it has ${bytes.length} bytes.`);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  if (view.getUint32(0, true) !== MAGIC) throw new Unreadable("This is no recording: it does not begin as one.");
  const version = view.getUint32(4, true);
  if (version !== VERSION) {
    throw new Unreadable(`The recording has version ${version}; this player reads version ${VERSION}.`);
  }
  const [packed, length, checksum] = [8, 12, 16].map((place) => view.getUint32(place, true));
  if (bytes.length !== ENVELOPE + packed) {
    throw new Unreadable(`The recording is cut off: it has ${bytes.length} bytes of ${ENVELOPE + packed}.`);
  }
  if (length > MOST_BYTES) {
    throw new Unreadable(
      `The recording is too large: ${Math.round(length / 1e6)} MB, at most ${(MOST_BYTES / 1e6) | 0} MB.`,
    );
  }
  const raw = await inflated(bytes.subarray(ENVELOPE), length);
  if (crc32(raw) !== checksum) throw new Unreadable("The recording is damaged: its checksum is wrong.");
  return tablesOf(raw);
}

/**
 * @param {Uint8Array} packed
 * @param {number} length of what comes out
 * @returns {Promise<Uint8Array>}
 */
async function inflated(packed, length) {
  const raw = new Uint8Array(length);
  const stream = new Blob([/** @type {BlobPart} */ (packed)]).stream().pipeThrough(new DecompressionStream("deflate"));
  const reader = stream.getReader();
  let at = 0;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      if (at + value.length > length) throw new Unreadable("more than it says");
      raw.set(value, at);
      at += value.length;
    }
  } catch {
    throw new Unreadable("The recording is damaged: it cannot be unpacked.");
  } finally {
    reader.cancel().catch(() => {});
  }
  if (at !== length) throw new Unreadable("The recording is damaged: it is shorter than it says.");
  return raw;
}

/**
 * @param {Uint8Array} bytes
 * @returns {number}
 */
export function crc32(bytes) {
  const table = new Uint32Array(256);
  for (let value = 0; value < 256; value++) {
    let bits = value;
    for (let round = 0; round < 8; round++) bits = bits & 1 ? (bits >>> 1) ^ 0xedb88320 : bits >>> 1;
    table[value] = bits;
  }
  let crc = 0xffffffff;
  for (let at = 0; at < bytes.length; at++) crc = table[(crc ^ bytes[at]) & 255] ^ (crc >>> 8);
  return (crc ^ 0xffffffff) >>> 0;
}

/**
 * @param {Uint8Array} raw
 * @returns {Decoded}
 */
function tablesOf(raw) {
  const wrong = new Unreadable("The recording is damaged: its tables are not what they should be.");
  if (raw.length < 4) throw wrong;
  const headerLength = new DataView(raw.buffer).getUint32(0, true);
  if (headerLength > raw.length - 4) throw wrong;
  /** @type {any} */
  let header;
  try {
    header = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(raw.subarray(4, 4 + headerLength)));
  } catch {
    throw wrong;
  }
  const body = raw.subarray(4 + headerLength);
  /** @type {Record<string, Table>} */
  const tables = {};
  if (!isRecord(header) || !isRecord(header.tables)) throw wrong;
  for (const [name, described] of Object.entries(header.tables)) {
    const { rows, columns } = /** @type {any} */ (described ?? {});
    if (!Number.isInteger(rows) || rows < 0 || rows > MOST_ROWS || !isRecord(columns)) throw wrong;
    /** @type {Table} */
    const table = { rows, columns: Object.create(null), texts: Object.create(null) };
    for (const [column, how] of Object.entries(columns)) {
      const numbers = columnOf(body, rows, how);
      if (!numbers) throw wrong;
      table.columns[column] = numbers;
      if (how.texts !== undefined) {
        if (!Array.isArray(how.texts)) throw wrong;
        table.texts[column] = how.texts.map(String);
      }
    }
    tables[name] = table;
  }
  return { header, tables };
}

/** @param {any} value */
const isRecord = (value) => typeof value === "object" && value !== null && !Array.isArray(value);

/**
 * @param {Uint8Array} body
 * @param {number} rows
 * @param {any} how as the header describes the column
 * @returns {Numbers | null} null: it does not fit
 */
function columnOf(body, rows, how) {
  const { offset, width, type } = how ?? {};
  const fits =
    Number.isInteger(offset) && offset >= 0 && [1, 2, 4].includes(width) && offset + rows * width <= body.length;
  if (!fits) return null;
  const bits = new Uint32Array(rows);
  for (let plane = 0; plane < width; plane++) {
    const start = offset + plane * rows;
    for (let row = 0; row < rows; row++) bits[row] |= body[start + row] << (8 * plane);
  }
  if (type === "float") return new Float32Array(bits.buffer);
  if (type !== "int") return null;
  const values = new Int32Array(bits.buffer);
  for (let row = 0; row < rows; row++) values[row] = (bits[row] >>> 1) ^ -(bits[row] & 1);
  if (how.delta) for (let row = 1; row < rows; row++) values[row] += values[row - 1];
  return values;
}
