// A picture of a run becomes the run by a click: a frame with the HTML file that lies beside the page.
document.addEventListener("click", (event) => {
  const box = event.target.closest(".live-player");
  const link = box?.querySelector(".play a");
  if (!link || event.ctrlKey || event.metaKey || !(event.target === link || event.target.tagName === "IMG")) return;
  event.preventDefault();
  const frame = document.createElement("iframe");
  frame.src = link.href;
  frame.title = box.querySelector("img")?.alt ?? "A recorded run";
  frame.allowFullscreen = true;
  box.replaceChildren(frame);
  frame.focus();
});
