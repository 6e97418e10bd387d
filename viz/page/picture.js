/** The whole view as a PNG. */

/**
 * The element as it looks now: its canvases as pictures, in an SVG that the browser draws.
 * @param {Element} element
 * @param {string} style its style sheet
 * @returns {Promise<Blob>}
 */
export async function pictureOf(element, style) {
  const box = element.getBoundingClientRect();
  const copy = /** @type {HTMLElement} */ (element.cloneNode(true));
  const drawn = element.querySelectorAll("canvas");
  copy.querySelectorAll("canvas").forEach((canvas, place) => {
    const image = document.createElement("img");
    image.src = drawn[place].width && drawn[place].height ? drawn[place].toDataURL() : "";
    image.className = canvas.className;
    image.setAttribute("style", canvas.getAttribute("style") ?? "");
    canvas.replaceWith(image);
  });
  const before = element.querySelectorAll("input, option");
  copy.querySelectorAll("input, option").forEach((field, place) => {
    const one = before[place];
    if (one instanceof HTMLOptionElement) field.toggleAttribute("selected", one.selected);
    else field.setAttribute("value", /** @type {HTMLInputElement} */ (one).value);
  });
  scrolled(element, copy);
  copy.setAttribute("xmlns", "http://www.w3.org/1999/xhtml");
  copy.style.width = `${box.width}px`;
  copy.style.height = `${box.height}px`;
  copy.style.minHeight = "0";
  // Widths that depend on the window are those of now.
  copy.style.gridTemplateColumns = getComputedStyle(element).gridTemplateColumns;
  const sheet = document.createElement("style");
  sheet.textContent = style;
  copy.prepend(sheet);
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${box.width}" height="${box.height}">`
    + `<foreignObject width="100%" height="100%">${new XMLSerializer().serializeToString(copy)}</foreignObject></svg>`;
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
  await image.decode();
  const ratio = Math.max(devicePixelRatio || 1, 1);
  const canvas = document.createElement("canvas");
  canvas.width = Math.round(box.width * ratio);
  canvas.height = Math.round(box.height * ratio);
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  context.scale(ratio, ratio);
  context.drawImage(image, 0, 0, box.width, box.height);
  return new Promise((done, fail) => canvas.toBlob((blob) => (blob ? done(blob) : fail(new Error("no picture"))), "image/png"));
}

/**
 * What is scrolled in the original is moved in the copy.
 * @param {Element} element
 * @param {Element} copy
 */
function scrolled(element, copy) {
  const copies = copy.querySelectorAll("*");
  element.querySelectorAll("*").forEach((one, place) => {
    if (!one.scrollTop) return;
    for (const child of copies[place].children) {
      /** @type {HTMLElement} */ (child).style.translate = `0 ${-one.scrollTop}px`;
    }
  });
}
