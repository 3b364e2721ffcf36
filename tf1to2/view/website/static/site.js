"use strict";

// The forms of a pair, exact and Keras', become tabs; the choice holds for all pairs.
const forms = new Map();
for (const form of document.querySelectorAll(".form")) {
  const pair = form.parentElement;
  forms.set(pair, [...(forms.get(pair) ?? []), form]);
}

function choose(kind) {
  for (const tab of document.querySelectorAll("[role=tab]")) {
    const chosen = tab.dataset.form === kind;
    tab.setAttribute("aria-selected", chosen);
    tab.tabIndex = chosen ? 0 : -1;
    document.getElementById(tab.getAttribute("aria-controls")).hidden = !chosen;
  }
}

for (const [pair, panels] of forms) {
  const list = document.createElement("div");
  const name = pair.closest("section").id;
  list.setAttribute("role", "tablist");
  list.setAttribute("aria-label", `Ways to write ${name}`);
  for (const panel of panels) {
    const tab = document.createElement("button");
    tab.type = "button";
    tab.role = "tab";
    tab.dataset.form = panel.dataset.form;
    tab.textContent = panel.firstElementChild.textContent;
    tab.id = `${name}-tab-${panel.dataset.form}`;
    panel.id = `${name}-panel-${panel.dataset.form}`;
    tab.setAttribute("aria-controls", panel.id);
    panel.setAttribute("role", "tabpanel");
    panel.setAttribute("aria-labelledby", tab.id);
    panel.classList.add("tabbed");
    list.append(tab);
  }
  list.addEventListener("click", (event) => {
    const tab = event.target.closest("[role=tab]");
    if (!tab) return;
    const top = tab.getBoundingClientRect().top;
    choose(tab.dataset.form);
    scrollBy(0, tab.getBoundingClientRect().top - top);
  });
  list.addEventListener("keydown", (event) => {
    if (!["ArrowLeft", "ArrowRight"].includes(event.key)) return;
    const tabs = [...list.children];
    const other = tabs[(tabs.indexOf(event.target) + 1) % tabs.length];
    choose(other.dataset.form);
    other.focus();
  });
  panels[0].before(list);
}
choose("exact");

// One side of a pair is copied whole: what both sides say stands on the left.
document.addEventListener("click", async (event) => {
  const button = event.target.closest("button[data-copy]");
  if (!button) return;
  const sides = button.closest(".sides");
  const shared = sides ? [...sides.querySelectorAll("span.b")] : [];
  const lines = sides
    ? [...sides.querySelectorAll(`code.${button.dataset.copy} > span:not(.u)`)]
      .map((line) => line.classList.contains("c") ? shared.shift() : line)
    : [button.parentElement.nextElementSibling];
  const text = lines.map((line) => line.textContent).join("");
  const label = button.firstChild;
  try {
    await navigator.clipboard.writeText(text);
    label.textContent = "Copied";
  } catch {  // a page that is opened from a folder may not be allowed to
    const area = document.createElement("textarea");
    area.value = text;
    document.body.append(area);
    area.select();
    label.textContent = document.execCommand("copy") ? "Copied" : "Select and copy by hand";
    area.remove();
  }
  setTimeout(() => { label.textContent = "Copy"; }, 1500);
});

// The rest of a pair's docstrings: a button for each side, where one is below the other.
document.addEventListener("click", (event) => {
  const button = event.target.closest("button[data-docs]");
  if (!button) return;
  const sides = button.closest(".sides");
  const shown = sides.classList.toggle("documented");
  for (const each of sides.querySelectorAll("button[data-docs]")) {
    each.setAttribute("aria-expanded", shown);
  }
});

// An anchor is the same on every page: "layers.make_conv2d" is on layers.html.
function reveal() {
  const anchor = decodeURIComponent(location.hash.slice(1));
  if (!anchor) return;
  const root = document.documentElement.dataset.content_root;
  const [, stem, kind] = anchor.match(/^(\w+)(?:\.(\w+)[\w.]*\/)?/) ?? [];
  const page = kind ? `${stem}/${kind}` : stem;
  const here = location.pathname.split("/").pop().replace(/\.html$/, "");
  const target = document.getElementById(anchor)
    ?? document.getElementById(`${here}.${anchor}`);
  if (target) {
    const folded = target.closest("details:not([open])")
      ?? (target.matches("section") ? target.querySelector(":scope > details.pair") : null);
    if (folded) folded.open = true;
    if (target.closest("[hidden]")) choose(target.closest("[hidden]").dataset.form);
    target.scrollIntoView();
  } else if (/^[a-z]\w*[./]/.test(anchor) && page !== here) {
    location.replace(`${root}${page}.html${location.hash}`);
  }
}
addEventListener("hashchange", reveal);
reveal();
