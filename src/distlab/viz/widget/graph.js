// Elements, and the wait-for graph of a moment as a small SVG.

/** An HTML element; strings among its children become text. Keys on it are not the notebook's. */
function h(name, attributes = {}, ...children) {
  const element = made(document.createElement(name), attributes, children);
  // Lumino asks the element that has the focus itself, before those around it
  if (["button", "input", "summary"].includes(name) || "tabindex" in attributes) element.dataset.lmSuppressShortcuts = "true";
  return element;
}

/**
 * Keys and clicks in a picture are its own: a notebook would select the cell, or begin to edit it.
 * With Ctrl or ⌘ keys are the notebook's (save, for one), which would not look for them in here.
 */
function keepsToItself(root) {
  for (const kind of ["mousedown", "dblclick"]) root.addEventListener(kind, e => e.stopPropagation());
  root.addEventListener("keydown", e => {
    e.stopPropagation();
    if (!(e.ctrlKey || e.metaKey) || !root.parentElement) return;
    if (!root.parentElement.dispatchEvent(new KeyboardEvent("keydown", e))) e.preventDefault();
  });
}

function svg(name, attributes = {}, ...children) {
  return made(document.createElementNS("http://www.w3.org/2000/svg", name), attributes, children);
}

function made(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value !== null && value !== undefined) element.setAttribute(name, value);
  }
  element.append(...children.filter(child => child !== null)); // strings as text, never as markup
  return element;
}

const MOST_CIRCLES = 32;

/** Fill `frame` with who waits for whom; `standings` by rank, as `Run.standing` gives them. */
function drawGraph(frame, standings) {
  const size = Math.min(standings.length, MOST_CIRCLES), ring = size > 8 ? 92 : 70, r = size > 16 ? 9 : size > 8 ? 12 : 17;
  const middle = ring + r + 6, wide = 2 * middle;
  const spot = rank => [middle + ring * Math.sin(2 * Math.PI * rank / size), middle - ring * Math.cos(2 * Math.PI * rank / size)];
  const arrows = [], edges = [];
  standings.slice(0, size).forEach((one, rank) => one.on.filter(other => other < size && other !== rank).forEach(other => {
    edges.push([rank, other]);
    const [x, y] = spot(rank), [tx, ty] = spot(other), long = Math.hypot(tx - x, ty - y) || 1;
    const [ux, uy] = [(tx - x) / long, (ty - y) / long], bend = size > 2 ? 12 : 20;
    const [ex, ey] = [tx - ux * (r + 2) - uy * 4, ty - uy * (r + 2) + ux * 4];
    const [cx, cy] = [(x + tx) / 2 - uy * bend, (y + ty) / 2 + ux * bend];
    const along = Math.hypot(ex - cx, ey - cy) || 1, [vx, vy] = [(ex - cx) / along, (ey - cy) / along];
    arrows.push(
      svg("path", {d: `M${x + ux * r} ${y + uy * r}Q${cx} ${cy} ${ex} ${ey}`, class: "dl-edge"}),
      svg("path", {d: `M${ex} ${ey}L${ex - 7 * vx - 3.5 * vy} ${ey - 7 * vy + 3.5 * vx}L${ex - 7 * vx + 3.5 * vy} ${ey - 7 * vy - 3.5 * vx}Z`, class: "dl-head"}));
  }));
  const circles = standings.slice(0, size).map((one, rank) => {
    const [x, y] = spot(rank);
    return svg("g", {class: `dl-rank dl-${one.state}`},
      svg("circle", {cx: x, cy: y, r}),
      svg("text", {x, y, "text-anchor": "middle", "dominant-baseline": "central", "font-size": r > 10 ? 12 : 9}, String(rank)));
  });
  const said = edges.length ? edges.map(([a, b]) => `rank ${a} waits for rank ${b}`).join("; ") : "no rank waits for another";
  const more = standings.length > size ? ` (the first ${size} ranks)` : "";
  frame.replaceChildren(svg("svg", {viewBox: `0 0 ${wide} ${wide}`, width: wide, height: wide, role: "img", "aria-label": `Who waits for whom${more}: ${said}`},
    ...arrows, ...circles));
}
