// Loads Python into the page and shows the recorded runs. What Python says is shown as it is.
const byId = id => document.getElementById(id);
const text = async name => {
  const answer = await fetch(name);
  if (!answer.ok) throw new Error(`${name} is not here (${answer.status}); make docs builds it where npm is`);
  return answer.text();
};

async function load() {
  const settings = JSON.parse(await text("settings.json"));
  const {loadPyodide} = await import("./pyodide/pyodide.mjs");
  const widget = await import("./widget.js");
  const python = await loadPyodide({packageBaseUrl: settings.packages || undefined});
  await python.loadPackage("numpy", {messageCallback() {}, errorCallback() {}});
  if (!python.loadedPackages.numpy) throw new Error(`NumPy could not be fetched from ${settings.packages || "this site"}: see that this machine reaches it, then load the page again`);
  python.unpackArchive(await (await fetch("distlab.zip")).arrayBuffer(), "zip", {extractDir: "/home/pyodide"});
  python.FS.writeFile("/home/pyodide/page.py", await text("page.py"));
  const runs = await text("runs.json");
  const page = python.pyimport("page").Playground(runs);
  return {page, widget, runs: JSON.parse(runs)};
}

function show({page, widget}, name) {
  const told = JSON.parse(page.open(name));
  byId("verdict").textContent = told.verdict;
  byId("verdict").classList.toggle("stuck", told.stuck);
  const fresh = id => {
    const frame = document.createElement("div");
    byId(id).replaceChildren(frame);
    return frame;
  };
  widget.mount(fresh("timeline"), new widget.Run(told.run));
  const frame = fresh("simulator");
  if (told.simulator) widget.mountSimulator(frame, told.simulator, async positions => JSON.parse(page.answer(name, JSON.stringify(positions))));
  else frame.append(Object.assign(document.createElement("p"), {textContent: `No simulator: ${told.why}.`}));
}

const begin = performance.now();
try {
  const loaded = await load(), which = byId("which");
  which.append(...loaded.runs.map(run => new Option(run.title, run.name)));
  which.addEventListener("change", () => {
    show(loaded, which.value);
    history.replaceState(null, "", `#${which.value}`);
  });
  const asked = location.hash.slice(1);
  if (loaded.runs.some(run => run.name === asked)) which.value = asked;
  show(loaded, which.value);
  which.disabled = false;
  byId("status").textContent = `Python is there, after ${((performance.now() - begin) / 1000).toFixed(1)} s.`;
  document.body.dataset.ready = "true";
} catch (wrong) {
  byId("status").textContent = `Python could not be loaded: ${wrong.message || wrong}`;
  document.body.dataset.ready = "failed";
}
