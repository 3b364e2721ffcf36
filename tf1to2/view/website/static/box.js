"use strict";

// The box in the sidebar: answers while somebody writes in it (answer.js).
(() => {
  const box = document.getElementById("box");
  const shown = document.getElementById("box-answer");
  const { element, linked, ready, to } = window.tf1to2Answer;
  const SHOWN = 6;

  async function show() {
    shown.replaceChildren();
    const asked = box.value.trim();
    if (!asked) return;
    const { shown: answer } = await to(asked, SHOWN);
    if (box.value.trim() !== asked) return;
    if (!answer.length) {
      answer.push(element("p", /\s/.test(asked) ? "Nothing in the guide has these words."
        : `TensorFlow 1.15 has no ${asked}.`));
    }
    const words = encodeURIComponent(asked.split("\n").pop().slice(0, 200));
    const search = linked("Search the pages for it", `search.html?q=${words}`);
    shown.replaceChildren(...answer, element("p", search));
  }

  box.addEventListener("focus", ready);
  box.addEventListener("input", show);
  box.addEventListener("keydown", (event) => {
    if (event.key === "Escape") { box.value = ""; show(); box.blur(); }
    if (event.key !== "Enter" || event.shiftKey) return;
    event.preventDefault();
    const first = shown.querySelector("a");
    if (first) location.href = first.href;
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "/" || event.target.matches("input, textarea")) return;
    event.preventDefault();
    box.focus();
  });
})();
