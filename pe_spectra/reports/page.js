"use strict";
(() => {
  const said = document.getElementById("said");
  const make = (name, text, set) => Object.assign(document.createElement(name), { textContent: text }, set);
  const read = (cell) => {
    const exact = cell.querySelector("data");
    return exact ? exact.value : cell.textContent;
  };

  // ------------------------------------------------------------------ tables: sort, filter, copy
  const quote = (text, isNumber) => {
    const safe = !isNumber && /^[=+\-@\t\r]/.test(text) ? "'" + text : text;
    return /[",\n]/.test(safe) ? '"' + safe.replaceAll('"', '""') + '"' : safe;
  };
  const compare = (a, b) => {
    const x = Number(a), y = Number(b), isX = a !== "" && !Number.isNaN(x), isY = b !== "" && !Number.isNaN(y);
    return isX && isY ? x - y : isX !== isY ? (isX ? -1 : 1) : a.localeCompare(b);
  };
  const sort = (table, heads, place) => {
    const head = heads[place], body = table.tBodies[0];
    const order = head.getAttribute("aria-sort") === "ascending" ? "descending" : "ascending";
    heads.forEach((one) => one.setAttribute("aria-sort", "none"));
    head.setAttribute("aria-sort", order);
    const rows = [...body.rows].map((row) => [read(row.cells[place]), row]);
    // what does not exist stays at the end
    rows.sort(([a], [b]) => (a === "-") - (b === "-") || (order === "ascending" ? compare(a, b) : compare(b, a)));
    body.append(...rows.map(([, row]) => row));
    said.textContent = `Sorted by ${head.textContent}, ${order}`;
  };
  const filter = (table, text) => {
    const wanted = text.toLowerCase();
    let shown = 0;
    for (const row of table.tBodies[0].rows) {
      row.hidden = !row.textContent.toLowerCase().includes(wanted);
      shown += !row.hidden;
    }
    said.textContent = `${shown} rows shown`;
  };
  const write = (table, heads) => {
    const lines = [heads.map((head) => quote(head.textContent, false))];
    for (const row of table.tBodies[0].rows) {
      if (!row.hidden) lines.push([...row.cells].map((cell) => quote(read(cell), cell.className === "n")));
    }
    return lines.map((line) => line.join(",") + "\n").join("");
  };
  const copy = async (text) => {
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      const area = make("textarea", text);
      document.body.append(area);
      area.select();
      document.execCommand("copy");
      area.remove();
    }
    said.textContent = "Copied";
  };
  for (const frame of document.querySelectorAll(".rows")) {
    const table = frame.querySelector("table"), heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, place) => {
      const button = make("button", head.textContent, { type: "button" });
      button.addEventListener("click", () => sort(table, heads, place));
      head.replaceChildren(button);
      head.setAttribute("aria-sort", "none");
    });
    const tools = make("div", "", { className: "tools" });
    const label = make("label", "Rows with "), field = make("input", "", { type: "search" });
    field.addEventListener("input", () => filter(table, field.value));
    label.append(field);
    const button = make("button", "Copy as CSV", { type: "button" });
    button.addEventListener("click", () => copy(write(table, heads)));
    tools.append(label, button);
    frame.before(tools);
  }

  // ------------------------------------------------------------------ figures: the value under the pointer
  const format = (value) => String(typeof value === "number" ? Number(value.toPrecision(6)) : value);
  for (const figure of document.querySelectorAll("figure")) {
    const sheet = figure.querySelector(".sheet"), svg = sheet.querySelector("svg");
    const list = (map) => map.up.flatMap((up, row) => map.across.map((across, column) => ({
      point: [map.x[column], map.y[row], across, up], colour: map.colour, value: map.values[row][column],
    })));
    const points = JSON.parse(figure.querySelector("script").textContent).flatMap((axes) => [
      ...axes.lines.flatMap((line) => line.points.map((point) => ({ axes, name: line.name, point }))),
      ...axes.maps.flatMap(list).filter(({ value }) => value !== null).map((cell) => ({ axes, ...cell })),
    ]);
    if (!points.length) continue;
    const hint = make("div", "", { className: "hint", hidden: true });
    const mark = document.createElementNS("http://www.w3.org/2000/svg", "circle");
    const place = svg.viewBox.baseVal;
    let now = 0;
    mark.setAttribute("r", "3");
    mark.setAttribute("fill", "none");
    mark.setAttribute("stroke", "#000000");
    figure.append(hint);
    const show = (index) => {
      now = index;
      const { axes, name, colour, value, point: [x, y, across, up] } = points[index];
      const box = svg.getBoundingClientRect(), outer = figure.getBoundingClientRect(), scale = box.width / place.width;
      const words = [`${axes.across || "across"}: ${format(across)}`, `${axes.up || "up"}: ${format(up)}`];
      const cell = value === undefined ? [] : [`${colour || "value"}: ${format(value)}`];
      hint.textContent = [...(name ? [name] : []), ...words, ...cell].join("\n");
      hint.hidden = false;
      const left = box.left - outer.left + x * scale + 12, top = box.top - outer.top + y * scale + 12;
      hint.style.left = `${Math.max(0, Math.min(left, outer.width - hint.offsetWidth))}px`;
      hint.style.top = `${top}px`;
      mark.setAttribute("cx", x);
      mark.setAttribute("cy", y);
      svg.append(mark);
    };
    const hide = () => {
      hint.hidden = true;
      mark.remove();
    };
    sheet.addEventListener("pointermove", (event) => {
      const box = svg.getBoundingClientRect(), scale = place.width / box.width;
      const x = (event.clientX - box.left) * scale, y = (event.clientY - box.top) * scale;
      let best = -1, least = 400;
      points.forEach(({ point }, index) => {
        const far = (point[0] - x) ** 2 + (point[1] - y) ** 2;
        if (far < least) [best, least] = [index, far];
      });
      if (best < 0) hide();
      else show(best);
    });
    sheet.addEventListener("pointerleave", hide);
    sheet.addEventListener("blur", hide);
    sheet.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (event.key === "Escape") hide();
      if (!step) return;
      event.preventDefault();
      show(hint.hidden ? now : (now + step + points.length) % points.length);
      said.textContent = hint.textContent.replaceAll("\n", ", ");
    });
  }
})();
