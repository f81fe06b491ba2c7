"use strict";
// Everything can be read without this: it sorts tables and unfolds sections.
(() => {
  const all = (root, query) => Array.from(root.querySelectorAll(query));
  const value = (cell) => {
    if (cell.dataset.order !== undefined) return Number(cell.dataset.order);
    const text = cell.textContent.trim(), number = parseFloat(text.replace(/[,<\s]/g, ""));
    return text === "" ? null : Number.isNaN(number) ? text.toLowerCase() : number;
  };
  const compare = (a, b) => {
    if (a === null || b === null) return a === b ? 0 : a === null ? 1 : -1;
    if (typeof a !== typeof b) return typeof a === "number" ? -1 : 1;
    return a < b ? -1 : a > b ? 1 : 0;
  };
  const sort = (table, head, column) => {
    const up = head.getAttribute("aria-sort") === "descending";
    all(table, "thead th").forEach((one) => one.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", up ? "ascending" : "descending");
    const body = table.tBodies[0], rows = Array.from(body.rows).map((row) => [value(row.cells[column]), row]);
    rows.sort(([a], [b]) => (a === null || b === null ? compare(a, b) : (up ? 1 : -1) * compare(a, b)));
    body.append(...rows.map(([, row]) => row));
  };
  all(document, "table[data-sortable]").forEach((table) => all(table, "thead th").forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => sort(table, head, column));
  }));
  const unfold = (id) => { const part = document.querySelector(`[id="${id}"] > .section`); if (part) part.open = true; };
  all(document, "nav a").forEach((link) => link.addEventListener("click", () => unfold(link.getAttribute("href").slice(1))));
  unfold(location.hash.slice(1).replace(/[^a-z0-9-]/g, ""));
  const folded = all(document, "details"), item = document.createElement("li"), button = document.createElement("button");
  button.type = "button";
  button.className = "unfold";
  button.textContent = "Unfold all";
  button.addEventListener("click", () => {
    const open = button.textContent === "Unfold all";
    folded.forEach((part) => { part.open = open; });
    button.textContent = open ? "Fold all" : "Unfold all";
  });
  item.append(button);
  if (folded.length) document.querySelector("nav ol").append(item);
  // pages that show reports in a frame of their own, such as MLflow's, do not let links move inside it
  if (window !== window.parent) all(document, "nav a").forEach((link) => link.addEventListener("click", (event) => {
    event.preventDefault();
    document.getElementById(link.getAttribute("href").slice(1)).scrollIntoView();
  }));
  const unfolded = [];  // on paper nobody can click
  addEventListener("beforeprint", () => all(document, "details.printed:not([open])").forEach((one) => { one.open = true; unfolded.push(one); }));
  addEventListener("afterprint", () => unfolded.splice(0).forEach((one) => { one.open = false; }));
})();
