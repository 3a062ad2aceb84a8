// A button beside each text that is to be copied. Without this script it can be marked by hand.
"use strict";
(() => {
  // Where a page is not of a secure origin, as in mail, there is no clipboard but this one.
  const byHand = code => {
    const range = document.createRange(), selection = getSelection();
    range.selectNodeContents(code);
    selection.removeAllRanges();
    selection.addRange(range);
    return document.execCommand("copy");
  };
  const copy = async code => {
    try {
      await navigator.clipboard.writeText(code.textContent);
      return true;
    } catch {
      return byHand(code);
    }
  };
  for (const item of document.querySelectorAll("[data-copy]")) {
    const button = document.createElement("button"), code = item.querySelector("code");
    button.type = "button";
    button.textContent = "Copy filter";
    button.setAttribute("aria-label", `Copy filter of ${item.dataset.copy}`);
    button.addEventListener("click", async () => {
      button.textContent = (await copy(code)) ? "Copied" : "Press Ctrl+C";
      button.removeAttribute("aria-label");
      setTimeout(() => {
        button.textContent = "Copy filter";
        button.setAttribute("aria-label", `Copy filter of ${item.dataset.copy}`);
      }, 2000);
    });
    code.before(button);
  }
})();
