/** Where each node stands on the stage: a grid by clusters, or the network's own shape where that leaves room. */

/** @typedef {import("./recording.js").Recording} Recording */
/** @typedef {{x: number, y: number, width: number, height: number}} Box */
/** @typedef {{boxes: Box[], groups: {name: string, box: Box}[], tiles: boolean, links: boolean}} Places */

/** Above this many nodes they are tiles, not machines. */
const MOST_MACHINES = 100;
const GAP = 6;

/**
 * @param {Recording} recording
 * @param {number} width
 * @param {number} height
 * @returns {Places}
 */
export function placesOf(recording, width, height) {
  const tiles = recording.nodes > MOST_MACHINES;
  const own = tiles ? null : ownShape(recording, width, height);
  if (own) return { boxes: own, groups: [], tiles, links: true };
  const clusters = clustersOf(recording);
  const area = { x: 4, y: 4, width: width - 8, height: height - 8 };
  /** @type {Box[]} */
  const boxes = new Array(recording.nodes);
  if (clusters.length === 1 || clusters.length > 24) {
    grid(clusters.length === 1 ? clusters[0].nodes : clusters.flatMap((one) => one.nodes), area, tiles, boxes);
    return { boxes, groups: [], tiles, links: false };
  }
  /** @type {{name: string, box: Box}[]} */
  const frames = [];
  const columns = bestColumns(clusters.length, area.width, area.height, 1.6);
  const rows = Math.ceil(clusters.length / columns);
  for (let place = 0; place < clusters.length; place++) {
    const cell = { width: area.width / columns, height: area.height / rows };
    const box = {
      x: area.x + (place % columns) * cell.width + 3,
      y: area.y + Math.floor(place / columns) * cell.height + 3,
      width: cell.width - 6,
      height: cell.height - 6,
    };
    frames.push({ name: clusters[place].name, box });
    grid(
      clusters[place].nodes,
      { x: box.x + 5, y: box.y + 18, width: box.width - 10, height: box.height - 23 },
      tiles,
      boxes,
    );
  }
  return { boxes, groups: frames, tiles, links: false };
}

/** @param {Recording} recording */
function clustersOf(recording) {
  const { cluster } = recording.tables.nodes.columns;
  const names = recording.tables.nodes.texts.cluster;
  const found = names.map((name) => ({ name, nodes: /** @type {number[]} */ ([]) }));
  for (let node = 0; node < recording.nodes; node++) found[cluster[node]].nodes.push(node);
  return found.filter((one) => one.nodes.length);
}

/**
 * @param {number[]} nodes
 * @param {Box} area
 * @param {boolean} tiles
 * @param {Box[]} boxes filled in
 */
function grid(nodes, area, tiles, boxes) {
  const gap = tiles ? (nodes.length > 400 ? 1 : 2) : GAP;
  const columns = bestColumns(nodes.length, area.width, area.height, tiles ? 1 : 1.35);
  const rows = Math.ceil(nodes.length / columns);
  const width = area.width / columns;
  const height = area.height / rows;
  nodes.forEach((node, place) => {
    boxes[node] = {
      x: area.x + (place % columns) * width + gap / 2,
      y: area.y + Math.floor(place / columns) * height + gap / 2,
      width: Math.max(width - gap, 1),
      height: Math.max(height - gap, 1),
    };
  });
}

/**
 * @param {number} count
 * @param {number} width
 * @param {number} height
 * @param {number} shape of a cell, width over height
 */
function bestColumns(count, width, height, shape) {
  let best = 1;
  let most = 0;
  for (let columns = 1; columns <= count; columns++) {
    const rows = Math.ceil(count / columns);
    const size = Math.min(width / columns / shape, height / rows) * (columns * rows > count ? 0.88 : 1);
    if (size > most) [best, most] = [columns, size];
  }
  return best;
}

/**
 * The positions that the network has, if machines have room there and its links are few.
 * @param {Recording} recording
 * @param {number} width
 * @param {number} height
 * @returns {Box[] | null}
 */
function ownShape(recording, width, height) {
  const { x, y } = recording.tables.nodes.columns;
  const links = recording.tables.links.rows;
  if (!links || recording.header.links_left_out || links > 2.5 * recording.nodes) return null;
  const size = { width: 84, height: 62 };
  const room = { width: width - size.width - 12, height: height - size.height - 12 };
  /** @type {Box[]} */
  const boxes = [];
  for (let node = 0; node < recording.nodes; node++) {
    const box = { x: 6 + x[node] * room.width, y: 6 + y[node] * room.height, ...size };
    const overlaps = boxes.some(
      (one) => Math.abs(one.x - box.x) < size.width + 4 && Math.abs(one.y - box.y) < size.height + 4,
    );
    if (!(box.x > 0 && box.y > 0) || overlaps) return null;
    boxes.push(box);
  }
  return boxes;
}
