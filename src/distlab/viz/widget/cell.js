// The line of an operation in the cell that it came from, marked where the notebook shows that cell.

let unmark = () => {};

/** The notebook's code cells with the text of their lines, where this is JupyterLab or Notebook 7. */
function cellsBeside(element) {
  const book = element.closest(".jp-Notebook");
  if (!book) return [];
  return [...book.querySelectorAll(".jp-CodeCell")].map(cell => ({
    cell, lines: [...cell.querySelectorAll(".jp-InputArea-editor .cm-content .cm-line")],
  })).filter(({lines}) => lines.length);
}

/**
 * Mark line `number` of the cell whose text is `source`; returns whether that was found.
 * A cell that has been changed since is taken only while this line still reads the same.
 */
function markLine(element, source, number) {
  unmark();
  const wanted = source.split("\n"), text = wanted[number - 1];
  if (text === undefined) return false;
  let best = null, most = 0;
  for (const {cell, lines} of cellsBeside(element)) {
    if (!lines[number - 1] || lines[number - 1].textContent.trimEnd() !== text.trimEnd()) continue;
    const same = lines.filter((line, k) => wanted[k] !== undefined && line.textContent.trimEnd() === wanted[k].trimEnd()).length;
    if (same > most) [best, most] = [{cell, line: lines[number - 1]}, same];
  }
  if (!best) return false;
  const editor = best.cell.querySelector(".jp-InputArea-editor");
  const mark = h("div", {class: "dl-mark", "aria-hidden": "true"});
  const place = () => {
    const [line, around] = [best.line.getBoundingClientRect(), editor.getBoundingClientRect()];
    Object.assign(mark.style, {top: `${line.top - around.top + editor.scrollTop}px`, height: `${line.height}px`});
  };
  if (getComputedStyle(editor).position === "static") editor.style.position = "relative";
  editor.append(mark);
  place();
  const watch = new ResizeObserver(place);
  watch.observe(editor);
  const end = () => { mark.remove(); watch.disconnect(); editor.removeEventListener("input", end); };
  editor.addEventListener("input", end); // what is written now, another run has to show
  unmark = end;
  best.cell.scrollIntoView({block: "nearest", behavior: "instant"});
  best.line.scrollIntoView({block: "nearest", behavior: "instant"});
  return true;
}
