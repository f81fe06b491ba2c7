"use strict";
// Everything can be read without this: it sorts tables, filters runs, and chooses metrics and cutoffs.
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
  const chooser = (before, label, names, choose) => {
    const box = document.createElement("div"), text = document.createElement("label"), select = document.createElement("select");
    box.className = "controls";
    [`every ${label}`, ...names].forEach((name, place) => select.add(new Option(name, place ? name : "")));
    select.addEventListener("change", () => choose(select.value));
    text.append(`${label} `, select);
    if (before.previousElementSibling && before.previousElementSibling.className === "controls") before.previousElementSibling.append(text);
    else { box.append(text); before.before(box); }
  };
  all(document, "table[data-sortable]").forEach((table) => all(table, "thead th").forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => sort(table, head, column));
  }));
  all(document, "[data-chooser]").forEach((block) => {
    const parts = all(block, "[data-group]"), names = [...new Set(parts.map((one) => one.dataset.group))];
    const before = block.closest(".scroll") || block;
    chooser(before, block.dataset.chooser, names, (name) => parts.forEach((one) => { one.hidden = name !== "" && one.dataset.group !== name; }));
    const heads = all(block, "thead th"), cutoffs = heads.map((one) => one.textContent).filter((text) => text.startsWith("@"));
    if (cutoffs.length > 1) chooser(before, "cutoff", cutoffs, (name) => heads.forEach((head, column) => {
      const hide = name !== "" && head.textContent.startsWith("@") && head.textContent !== name;
      [head, ...all(block, "tbody tr").map((row) => row.cells[column])].forEach((cell) => { cell.hidden = hide; });
    }));
  });
  const unfold = (id) => { const part = document.querySelector(`[id="${id}"] > details`); if (part) part.open = true; };
  all(document, "nav a").forEach((link) => link.addEventListener("click", () => unfold(link.getAttribute("href").slice(1))));
  unfold(location.hash.slice(1).replace(/[^a-z0-9-]/g, ""));
  const folded = all(document, "details.section"), item = document.createElement("li"), button = document.createElement("button");
  button.type = "button";
  button.className = "unfold";
  button.textContent = "Unfold all";
  button.addEventListener("click", () => folded.forEach((part) => { part.open = true; }));
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
  all(document, "table.leaderboard, table.every").forEach((table) => {
    if (table.tBodies[0].rows.length < 8) return;
    const before = table.closest(".scroll"), label = document.createElement("label"), input = document.createElement("input");
    const box = before.previousElementSibling && before.previousElementSibling.className === "controls" ? before.previousElementSibling : document.createElement("div");
    box.className = "controls";
    input.type = "search";
    label.append("runs with ", input);
    box.append(label);
    if (!box.parentNode) before.before(box);
    input.addEventListener("input", () => Array.from(table.tBodies[0].rows).forEach((row) => {
      row.classList.toggle("filtered", !row.cells[0].textContent.toLowerCase().includes(input.value.toLowerCase()));
    }));
  });
})();
