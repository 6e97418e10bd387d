/** The player of an HTML file: it shows the recordings that lie in the page, or says in one line why it cannot. */

import { mount } from "./player.js";
import { guideOf } from "./scene.js";

/** @param {string} text base64 */
function bytesOf(text) {
  let raw = "";
  try {
    raw = atob(text.trim());
  } catch {
    // What is no base64 is no recording: the player says so.
  }
  const bytes = new Uint8Array(raw.length);
  for (let at = 0; at < raw.length; at++) bytes[at] = raw.charCodeAt(at);
  return bytes;
}

const host = document.getElementById("player");
if (host) {
  const found = [...document.querySelectorAll("script.recording")];
  const recordings = found.map((script) => bytesOf(script.textContent ?? ""));
  for (const script of found) script.remove();
  const scene = guideOf(JSON.parse(document.querySelector("script.scene")?.textContent ?? "null"));
  // A test, or a page around, asks it for what it shows.
  Object.assign(host, {
    player: mount(host, { recordings, page: true, hash: location.hash || host.dataset.address, scene }),
  });
}
