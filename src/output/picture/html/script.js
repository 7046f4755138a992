"use strict";
(() => {
  const order = new Intl.Collator("en", { numeric: true });
  const table = document.querySelector("table.objects");
  if (table) {
    const body = table.tBodies[0];
    const rows = [...body.rows];
    const heads = [...table.tHead.rows[0].cells];
    const value = (row, at) => row.cells[at].dataset.sort ?? row.cells[at].textContent;
    heads.forEach((head, at) => {
      head.querySelector("button").addEventListener("click", () => {
        const up = head.getAttribute("aria-sort") !== "ascending";
        heads.forEach((other) => other.setAttribute("aria-sort", "none"));
        head.setAttribute("aria-sort", up ? "ascending" : "descending");
        rows.sort((a, b) => (up ? 1 : -1) * order.compare(value(a, at), value(b, at)));
        body.append(...rows);
      });
    });
    const filter = document.getElementById("filter");
    const shown = document.getElementById("shown");
    const texts = new Map(rows.map((row) => [row, row.textContent.toLowerCase()]));
    filter.addEventListener("input", () => {
      const words = filter.value.toLowerCase().split(/\s+/);
      rows.forEach((row) => {
        row.hidden = !words.every((word) => texts.get(row).includes(word));
      });
      shown.textContent = `${rows.filter((row) => !row.hidden).length} of ${rows.length} shown`;
    });
    document.querySelector(".filter").hidden = false;
  }
  addEventListener("beforeprint", () => {
    document.querySelectorAll("details").forEach((details) => { details.open = true; });
  });
})();
