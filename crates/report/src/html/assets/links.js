// Links to parts of the page, where it is in a frame that may do nothing but run scripts, as in the page for the browser: there the
// browser takes them for a way out, and refuses.
"use strict";
if (parent !== self) addEventListener("click", event => {
  const link = event.target.closest?.("a[href^='#']"), part = link && document.getElementById(link.hash.slice(1));
  if (!part || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  for (let folded = part.closest("details"); folded; folded = folded.parentElement.closest("details")) folded.open = true;
  part.scrollIntoView();
  // Whoever goes on by keyboard goes on from there.
  if (part.tabIndex < 0) part.setAttribute("tabindex", "-1");
  part.focus({ preventScroll: true });
});
