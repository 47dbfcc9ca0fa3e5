// The sliders of a simulator. Whatever is shown comes from Python: of the kernel, or in the page (Pyodide).

const TURNS = 250; // milliseconds after which a move is told to a screen reader, once it rests

class SimulatorView {
  /** `ask(positions)` gives a promise of the answer: {html, said}. */
  constructor(frame, spec, ask) {
    Object.assign(this, {ask, asking: false, again: false, answered: 0, took: []});
    this.picture = {later() {}}; // its pictures have the colours of the page: nothing is drawn anew with them
    const id = `ds-${crypto.getRandomValues(new Uint32Array(1))[0].toString(36)}`;
    this.sliders = spec.sliders.map((one, k) => {
      const said = h("output", {class: "ds-value", for: `${id}-${k}`});
      const input = h("input", {type: "range", id: `${id}-${k}`, min: 0, max: one.texts.length - 1, step: 1, value: one.value,
                                oninput: () => { tell(); this.move(); }});
      const tell = () => {
        said.textContent = one.texts[input.value];
        input.setAttribute("aria-valuetext", said.textContent);
      };
      tell();
      return {name: one.name, input, row: h("div", {class: "ds-slider"}, h("label", {for: `${id}-${k}`}, one.label), input, said)};
    });
    this.said = h("p", {class: "ds-said"});
    this.heard = h("p", {class: "dl-hidden", role: "status"});
    this.result = h("div", {class: "ds-result", role: "region", tabindex: "0", "aria-label": `${spec.title}: pictures and tables`});
    this.root = h("section", {class: "dl ds", role: "group", "aria-label": spec.title},
      h("p", {class: "dl-title"}, spec.title),
      h("div", {class: "ds-sliders", role: "group", "aria-label": "what the run is timed for"}, ...this.sliders.map(one => one.row)),
      this.said, this.heard, this.result);
    this.root.view = this; // for whoever measures it
    keepsToItself(this.root);
    frame.append(this.root);
    this.show(spec.answer);
  }

  positions() {
    return Object.fromEntries(this.sliders.map(({name, input}) => [name, Number(input.value)]));
  }

  /** One question at a time: while it is under way moves are kept, and the last of them is asked next. */
  async move() {
    if (this.asking) { this.again = true; return; }
    this.asking = true;
    do {
      this.again = false;
      const begin = performance.now();
      try {
        this.show(await this.ask(this.positions()));
        this.took.push(performance.now() - begin);
      } catch (wrong) {
        this.said.textContent = `No answer: ${wrong.message || wrong}`;
      }
    } while (this.again);
    this.asking = false;
  }

  show(answer) {
    this.said.textContent = answer.said;
    this.result.innerHTML = answer.html; // of Python's own making, which escapes what strangers wrote
    this.answered++;
    clearTimeout(this.due);
    this.due = setTimeout(() => { this.heard.textContent = answer.said; }, TURNS);
  }
}

/** Put a simulator in the place of its still picture. */
function mountSimulator(frame, spec, ask) {
  if (frame.dataset.distlabLive) return null;
  frame.dataset.distlabLive = "1";
  if (!document.querySelector("style.distlab-simulator-style")) document.head.append(h("style", {class: "distlab-simulator-style"}, STYLE + SIMULATOR_STYLE));
  const still = [...frame.children];
  const view = new SimulatorView(frame, spec, ask);
  for (const one of still) one.hidden = true;
  return view;
}

/** In a notebook: wherever a simulator of this kernel comes up, ask the kernel for what it shows. */
function initializeSimulators({model}) {
  const mine = model.get("kernel"), asked = new Map(), begun = new Set();
  let number = 0, due = 0;
  const question = (run, positions) => new Promise(answer => {
    asked.set(++number, answer);
    model.send({kind: "simulate", run, number, positions});
  });
  const look = () => {
    for (const frame of document.querySelectorAll(`[data-distlab-simulator^="${CSS.escape(mine)}-"]:not([data-distlab-live])`)) {
      if (begun.has(frame)) continue;
      begun.add(frame);
      const run = frame.dataset.distlabSimulator;
      question(run, null).then(spec => mountSimulator(frame, spec, positions => question(run, positions)));
    }
  };
  const answered = said => {
    if (said.kind !== "simulated" || !asked.has(said.number)) return;
    asked.get(said.number)(said.told);
    asked.delete(said.number);
  };
  model.on("msg:custom", answered);
  const soon = () => { due ||= setTimeout(() => { due = 0; look(); }, 50); };
  const watch = new MutationObserver(soon);
  watch.observe(document.body, {childList: true, subtree: true});
  soon();
  return () => {
    watch.disconnect();
    clearTimeout(due);
    model.off("msg:custom", answered);
  };
}
