// Where the picture comes up: in the place of the still one, which stays where no script runs.

const KEPT = 20; // runs that are kept for a place that shows one of them again

/** Put the live picture of a run where its still one is. */
function mount(frame, run) {
  if (frame.dataset.distlabLive) return;
  frame.dataset.distlabLive = "1";
  dress();
  const still = [...frame.children];
  if (run instanceof Compared) new CompareView(frame, run);
  else new View(frame, run);
  for (const one of still) one.hidden = true;
}

/** Have the page know the pictures' style, once. */
function dress() {
  if (document.querySelector("style.distlab-style")) return;
  document.head.append(h("style", {class: "distlab-style"}, STYLE));
  followTheme();
}

/** Draw anew what is in the page when its colours change: once a page, so that no picture is kept for it. */
function followTheme() {
  const redraw = () => document.querySelectorAll("section.dl").forEach(({view}) => view.picture.later());
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
  const attributeFilter = ["data-jp-theme-light", "data-jp-theme-name", "class", "data-md-color-scheme"];
  new MutationObserver(redraw).observe(document.body, {attributes: true, attributeFilter});
}

const runOf = (tree, buffers) => tree.kind === "comparison" ? new Compared(tree, buffers) : new Run(tree, buffers);

/** Mount a run that is still to be read, and note how many milliseconds that took until it was drawn. */
function open(frame, read) {
  const begin = performance.now();
  mount(frame, read());
  const {view} = frame.querySelector("section.dl");
  view.tellNow();
  view.picture.draw();
  view.openedIn = performance.now() - begin;
}

/** In a page: the run lies beside its picture. Outputs of VS Code come up one by one. */
function mountPage() {
  for (const data of document.querySelectorAll("script.distlab-data")) {
    const frame = document.querySelector(`[data-distlab-run="${CSS.escape(data.dataset.of)}"]:not([data-distlab-live])`);
    try {
      if (frame) open(frame, () => runOf(JSON.parse(data.textContent)));
    } catch (error) { // one that another version has written, say: the others come to life all the same
      console.warn("distlab: a picture stays still", error);
    }
  }
}

/** In a notebook: wherever a still picture of this kernel comes up, ask the kernel for its run. */
function initialize({model}) {
  const mine = model.get("kernel"), runs = new Map(), asked = new Set();
  const frames = run => document.querySelectorAll(`[data-distlab-run="${CSS.escape(run)}"]:not([data-distlab-live])`);
  const look = () => {
    for (const frame of document.querySelectorAll(`[data-distlab-run^="${CSS.escape(mine)}-"]:not([data-distlab-live])`)) {
      const name = frame.dataset.distlabRun;
      if (runs.has(name)) mount(frame, runs.get(name));
      else if (!asked.has(name)) {
        asked.add(name);
        model.send({kind: "want", run: name});
      }
    }
  };
  const answered = (said, buffers) => {
    if (said.kind !== "run") return;
    asked.delete(said.run);
    runs.set(said.run, runOf(said.tree, buffers));
    if (runs.size > KEPT) runs.delete(runs.keys().next().value);
    for (const frame of frames(said.run)) mount(frame, runs.get(said.run));
  };
  model.on("msg:custom", answered);
  const place = new LivePlace();
  let newest = null, drawing = 0;
  const takeNewest = () => {
    cancelAnimationFrame(drawing);
    drawing = 0;
    if (newest) place.take(newest);
    newest = null;
  };
  const looked = () => { // the last look at a run is shown, of the others the newest alone
    newest = model.get("look");
    if (!newest || !newest.tree || newest.over) takeNewest();
    else drawing ||= requestAnimationFrame(takeNewest);
  };
  model.on("change:look", looked);
  if (model.get("look")?.tree) looked();
  let due = 0;
  const soon = () => { due ||= setTimeout(() => { due = 0; look(); place.settle(); }, 50); };
  const watch = new MutationObserver(soon);
  watch.observe(document.body, {childList: true, subtree: true});
  soon();
  return () => {
    watch.disconnect();
    clearTimeout(due);
    cancelAnimationFrame(drawing);
    place.gone();
    model.off("msg:custom", answered);
    model.off("change:look", looked);
  };
}
