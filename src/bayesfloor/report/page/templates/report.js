// Sorting, filtering, tooltips and the scheme. The page is complete without it.
(() => {
  "use strict";
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const collator = new Intl.Collator(undefined, { numeric: true, sensitivity: "base" });

  // Lists: one list of all entries, of which the first few are shown until more are asked for.
  for (const listing of all("[data-listing]")) {
    const home = listing.querySelector("tbody, [data-entries]");
    const rest = listing.querySelector("[data-rest]");
    if (rest) {
      home.append(...rest.querySelector("tbody, ul").children);
      rest.remove();
    }
    const limit = Number(listing.dataset.limit);
    const noun = listing.dataset.noun;
    const total = home.children.length;
    const field = listing.querySelector("input");
    const status = listing.querySelector(".status");
    const more = listing.querySelector(".more");
    const button = more.querySelector("button");
    let open = false;

    const show = () => {
      const words = field ? field.value.toLowerCase().split(/\s+/).filter(Boolean) : [];
      let found = 0;
      for (const entry of home.children) {
        const text = entry.dataset.find.toLowerCase();
        entry.hidden = !words.every((word) => text.includes(word));
        if (!entry.hidden) found += 1;
        entry.classList.toggle("folded", !open && found > limit);
      }
      status.textContent = words.length ? `${found} of ${total} ${noun} match “${field.value.trim()}”` : "";
      more.hidden = found <= limit;
      button.textContent = open ? `Show the first ${limit} only` : `Show all ${found} ${noun}`;
    };
    button.addEventListener("click", () => { open = !open; show(); });
    if (field) {
      field.closest("p").hidden = false;
      field.addEventListener("input", show);
    }

    const headings = all("th[data-sort]", listing);
    headings.forEach((heading, column) => {
      const figures = heading.dataset.sort === "n";
      const key = (row) => row.cells[column].dataset.v ?? row.cells[column].textContent.trim();
      const button = document.createElement("button");
      button.type = "button";
      button.append(...heading.childNodes);
      heading.append(button);
      button.addEventListener("click", () => {
        const now = heading.getAttribute("aria-sort");
        const up = now ? now === "descending" : !figures;
        headings.forEach((each) => each.removeAttribute("aria-sort"));
        heading.setAttribute("aria-sort", up ? "ascending" : "descending");
        const rows = [...home.children].map((row) => [key(row), row]);
        rows.sort(([a], [b]) => {
          if (a === "" || b === "") return (a === "") - (b === ""); // what is missing comes last, either way
          const order = figures ? Number(a) - Number(b) : collator.compare(a, b);
          return up ? order : -order;
        });
        home.append(...rows.map(([, row]) => row));
        show();
      });
    });
    show();
  }

  // The heat map: hovering, or arrow keys, tell a pair's figures.
  const tip = document.getElementById("tip");
  for (const table of all("[data-heat]")) {
    const columns = all("thead th", table);
    let here = null;

    const hide = () => {
      if (!here) return;
      here.classList.remove("here");
      here.removeAttribute("aria-describedby");
      all(".lit", table).forEach((name) => name.classList.remove("lit"));
      tip.hidden = true;
      here = null;
    };
    const tell = (cell) => {
      hide();
      here = cell;
      cell.classList.add("here");
      cell.setAttribute("aria-describedby", "tip");
      cell.parentElement.cells[0].classList.add("lit");
      columns[cell.cellIndex - 1].classList.add("lit");
      tip.replaceChildren(...cell.dataset.told.split("\n").map((line) => {
        const row = document.createElement("div");
        row.textContent = line;
        return row;
      }));
      tip.hidden = false;
      place();
    };
    const place = () => {
      if (!here) return;
      const box = here.getBoundingClientRect();
      const above = box.top - tip.offsetHeight - 8;
      const left = box.left + box.width / 2 - tip.offsetWidth / 2;
      tip.style.top = `${above > 4 ? above : box.bottom + 8}px`;
      tip.style.left = `${Math.max(4, Math.min(left, document.documentElement.clientWidth - tip.offsetWidth - 4))}px`;
    };

    const cells = all("tbody td", table);
    for (const cell of cells) {
      cell.dataset.told = cell.title; // the browser's own tooltip would come on top
      cell.removeAttribute("title");
      cell.tabIndex = -1;
    }
    cells[0].tabIndex = 0;
    table.setAttribute("role", "grid");
    const cellOf = (event) => event.target.closest("td[data-told]");
    table.addEventListener("pointerover", (event) => (cellOf(event) ? tell(cellOf(event)) : hide()));
    table.addEventListener("pointerleave", hide);
    table.addEventListener("focusin", (event) => cellOf(event) && tell(cellOf(event)));
    table.addEventListener("focusout", hide);
    table.addEventListener("keydown", (event) => {
      const cell = cellOf(event);
      if (event.key === "Escape") hide();
      const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
      if (!cell || !step) return;
      event.preventDefault();
      const row = table.tBodies[0].rows[cell.parentElement.sectionRowIndex + step[0]];
      const next = row && row.cells[cell.cellIndex + step[1]];
      if (!next || !next.dataset.told) return;
      cell.tabIndex = -1;
      next.tabIndex = 0;
      next.focus();
    });
    document.addEventListener("scroll", place, { capture: true, passive: true });
  }

  // Light or dark, until the page is closed.
  const root = document.documentElement;
  const prefers = matchMedia("(prefers-color-scheme: dark)");
  const theme = document.getElementById("theme");
  const dark = () => (root.dataset.theme ? root.dataset.theme === "dark" : prefers.matches);
  const name = () => { theme.textContent = dark() ? "Light" : "Dark"; };
  theme.addEventListener("click", () => { root.dataset.theme = dark() ? "light" : "dark"; name(); });
  prefers.addEventListener("change", name);
  name();
  theme.closest("p").hidden = false;

  // The command: copied where the browser allows it, selected otherwise.
  const copy = document.getElementById("copy");
  copy.hidden = false;
  copy.addEventListener("click", async () => {
    const command = document.getElementById("command");
    try {
      await navigator.clipboard.writeText(command.textContent);
      copy.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(command);
      copy.textContent = "Selected";
    }
    setTimeout(() => { copy.textContent = "Copy"; }, 2000);
  });

  // Browsers that cannot unfold by style alone.
  addEventListener("beforeprint", () => all("details:not([open])").forEach((each) => { each.open = true; each.dataset.printed = ""; }));
  addEventListener("afterprint", () => all("details[data-printed]").forEach((each) => { each.open = false; delete each.dataset.printed; }));
})();
