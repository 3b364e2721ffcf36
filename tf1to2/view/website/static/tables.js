"use strict";

// A table that is wider than its place becomes denser. If that is not enough, each row
// becomes a list of its cells, each below the head of its column: nothing is cut off.
const heads = (table) => [...table.querySelectorAll("thead th, thead td")];

function labelled(table) {
  const labels = heads(table).map((head) => head.textContent);
  table.setAttribute("role", "table");
  for (const part of table.querySelectorAll("thead, tbody")) {
    part.setAttribute("role", "rowgroup");
  }
  for (const row of table.querySelectorAll("tr")) {
    row.setAttribute("role", "row");
    [...row.cells].forEach((cell, i) => {
      cell.dataset.label = labels[i] ?? "";
      cell.classList.toggle("blank", !cell.textContent.trim());
      cell.setAttribute("role", row.parentElement.matches("thead") ? "columnheader" : "cell");
    });
  }
}

function fit(wrapper) {
  const table = wrapper.querySelector("table");
  if (!table || !wrapper.clientWidth) return;  // folded: it is measured when it unfolds
  const isWide = () => wrapper.scrollWidth > wrapper.clientWidth + 1;
  wrapper.classList.remove("dense", "stacked");
  if (isWide()) wrapper.classList.add("dense");
  if (isWide()) {
    if (!table.dataset.labelled) labelled(table);
    table.dataset.labelled = "yes";
    wrapper.classList.add("stacked");
  }
  if (isWide()) wrapper.tabIndex = 0;
  else wrapper.removeAttribute("tabindex");
}

const widths = new Map();
const observer = new ResizeObserver((entries) => {
  for (const { target, contentRect } of entries) {
    if (widths.get(target) === contentRect.width) continue;
    widths.set(target, contentRect.width);
    fit(target);
  }
});
for (const wrapper of document.querySelectorAll(".table-wrapper")) observer.observe(wrapper);
