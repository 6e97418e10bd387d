/** In which order a list offers what was typed. */

/** @typedef {{value: string, summary: string, also: string}} Item */

/**
 * The items that have all words sought: the exact name first, then names that begin so, then names that have it, then
 * those whose summary or long name has the words. Within each the order stays.
 * @param {Item[]} items
 * @param {string} sought
 * @returns {Item[]}
 */
export function ordered(items, sought) {
  const text = sought.trim().toLowerCase();
  if (!text) return items;
  const words = text.split(/\s+/);
  const ranked = items.map((item, place) => ({ item, place, rank: rankOf(item, text, words) }));
  return ranked.filter((one) => one.rank < 4).sort((a, b) => a.rank - b.rank || a.place - b.place).map((one) => one.item);
}

/**
 * @param {Item} item
 * @param {string} text
 * @param {string[]} words
 */
function rankOf(item, text, words) {
  const name = item.value.toLowerCase();
  if (name === text) return 0;
  if (name.startsWith(text)) return 1;
  if (name.includes(text)) return 2;
  const all = `${name} ${item.summary} ${item.also}`.toLowerCase();
  return words.every((word) => all.includes(word)) ? 3 : 4;
}
