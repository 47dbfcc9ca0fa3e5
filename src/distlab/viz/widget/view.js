// The picture with its controls and tables. Whatever it shows, a table or a sentence says too.

const PAGE = 25; // operations on a page of their table
const MOST_ROWS = 256; // ranks in theirs
const KEYS = "Left and right arrow: one moment back or on. Up and down: the rank before or after. " +
  "Plus and minus: zoom. Shift with an arrow: move the view. 0: all. Home and End: first and last moment. Enter: mark the line.";
const LEGEND = [["computes", "computing"], ["waits", "waiting"], ["stuck", "never finished"], ["message", "message"],
                ["unmatched", "never matched"], ["collective", "collective"], ["internal", "collective of torch's own"], ["ended", "returned"]];

class View {
  constructor(frame, run) {
    Object.assign(this, {frame, run, moment: 0, event: -1, page: 0, drag: null, due: 0, gone: null});
    // a page can hold pictures of several kernels, each with a module of its own
    const id = `dl-${crypto.getRandomValues(new Uint32Array(1))[0].toString(36)}`, title = run.tree.title || "timeline";
    const button = (text, label, act) => h("button", {type: "button", "aria-label": label, title: label, onclick: act}, text);
    this.slider = h("input", {type: "range", min: 0, max: Math.max(0, run.moments.time.length - 1), value: 0,
                              "aria-label": "moment of the run", oninput: () => this.go(Number(this.slider.value))});
    this.clock = h("output", {class: "dl-clock"});
    this.toggle = h("button", {type: "button", "aria-expanded": "false", "aria-controls": `${id}t`,
                               onclick: () => this.showTable(this.toggle.getAttribute("aria-expanded") !== "true")}, "all operations as a table");
    this.bar = h("div", {class: "dl-bar", role: "group", "aria-label": "step and zoom"},
      button("|◀", "first moment", () => this.go(0)), button("◀", "one moment back", () => this.step(-1)), this.slider,
      button("▶", "one moment on", () => this.step(1)), button("▶|", "last moment", () => this.go(Infinity)), this.clock,
      button("−", "zoom out", () => this.zoom(1 / 1.6)), button("+", "zoom in", () => this.zoom(1.6)), button("all", "show all of the run", () => this.picture.show(0, 1)));
    this.stage = h("div", {class: "dl-stage", tabindex: "0", role: "application", "aria-roledescription": "timeline",
                           "aria-label": title, "aria-describedby": `${id}s ${id}k`});
    this.tip = h("div", {class: "dl-tip", "aria-hidden": "true"});
    this.tip.hidden = true;
    this.said = h("p", {class: "dl-said", "aria-live": "polite"});
    this.rows = h("tbody");
    this.ranks = h("div", {class: "dl-ranks", tabindex: "0", role: "group", "aria-label": "each rank at this moment"},
      h("table", {}, h("caption", {class: "dl-hidden"}, "Each rank at this moment"), headed(["rank", "does", "waits for", "its tensor"]), this.rows));
    this.graph = h("div", {class: "dl-graph"});
    this.detail = h("div", {class: "dl-detail", role: "group", "aria-label": "the operation"});
    this.table = h("div", {class: "dl-table dl-hidden", id: `${id}t`});
    const {tree} = run;
    this.root = h("section", {class: "dl", role: "group", "aria-label": title},
      tree.title ? h("p", {class: "dl-title"}, tree.title) : null,
      tree.verdict ? h("p", {class: "dl-verdict"}, tree.verdict) : null,
      h("p", {class: "dl-summary", id: `${id}s`}, tree.summary),
      h("p", {class: "dl-hidden", id: `${id}k`}, KEYS),
      this.bar, h("div", {class: "dl-picture"}, this.stage, this.tip), this.legend(), this.said,
      h("div", {class: "dl-panels"}, this.ranks, this.graph, this.detail), this.whole(),
      h("p", {class: "dl-more"}, this.toggle), this.table);
    this.root.view = this; // for whoever measures it
    frame.append(this.root);
    this.picture = new Drawing(run, this.stage);
    this.listen();
    this.opens();
  }

  /** What each rank did with its time, and what was told of training. */
  whole() {
    const {ranks, training} = this.run.tree;
    if (!this.run.count && !training) return null;
    const rows = ranks.slice(0, MOST_ROWS).map((rank, r) => h("tr", {}, h("th", {scope: "row"}, String(r)),
      ...shareCells(rank.shares), ...trainingCells(training && training.ranks[r])));
    const curve = training && lossCurve(this.run);
    return h("details", {class: "dl-whole"}, h("summary", {}, training ? trainingText(training) || "training" : "what each rank did with its time"),
      h("div", {class: "dl-panels"},
        h("div", {class: "dl-scrolls", tabindex: "0", role: "group", "aria-label": "what each rank did with its time"},
          h("table", {}, h("caption", {class: "dl-hidden"}, "What each rank did with its time"),
            headed(["rank", ...SHARES, ...trainingNames(training)]), h("tbody", {}, ...rows))), curve));
  }

  /** Where a run begins to be read: at its first moment, or where it stands if it never ended. */
  opens() {
    const stuck = this.run.tree.ranks.some(rank => rank.progress === "did not end");
    this.fillTable();
    this.moment = -1;
    this.go(stuck ? Infinity : 0, false);
    if (!stuck && this.run.moments.time.length) this.go(this.run.moments.kind.indexOf("call"), false);
  }

  legend() {
    const {run} = this, states = new Set(["computes"]);
    if (run.tree.ranks.some(rank => rank.progress === "returned")) states.add("ended");
    for (let i = 0; i < run.count && states.size < LEGEND.length; i++) {
      if (run.is(i, "collective")) states.add(run.is(i, "internal") ? "internal" : "collective");
      states.add(run.done(i) ? "waits" : "stuck");
    }
    for (const i of run.messages) states.add(run.arrives(i) ? "message" : "unmatched");
    const marks = LEGEND.filter(([kind]) => states.has(kind)).map(([kind, text]) =>
      h("span", {}, h("i", {class: `dl-key dl-key-${kind}`, "aria-hidden": "true"}), text));
    const notes = run.tree.scale.linear ? [] : [h("em", {}, "time is not to scale: short steps drawn wider")];
    if (run.tree.scale.breaks.length) notes.push(h("em", {}, `dotted: ${run.tree.scale.breaks.map(([a, b]) => duration(b - a)).join(", ")} cut out`));
    return h("p", {class: "dl-legend"}, ...marks, ...notes);
  }

  listen() {
    const {stage, picture} = this;
    stage.addEventListener("keydown", e => this.key(e));
    keepsToItself(this.root);
    stage.addEventListener("wheel", e => {
      const sideways = e.shiftKey ? e.deltaY || e.deltaX : e.deltaX;
      if (e.ctrlKey || e.metaKey) picture.zoom(Math.exp(-e.deltaY / 300), picture.atX(this.over(e).x));
      else if (Math.abs(sideways) > Math.abs(e.shiftKey ? 0 : e.deltaY)) this.pan(sideways / picture.inner);
      else return;
      e.preventDefault();
    }, {passive: false});
    stage.addEventListener("scroll", () => picture.later());
    stage.addEventListener("pointerdown", e => { this.drag = {x: e.clientX, moved: false}; });
    stage.addEventListener("pointermove", e => {
      if (this.drag && e.buttons & 1) {
        const dx = e.clientX - this.drag.x;
        if (!this.drag.moved && Math.abs(dx) < 4) return;
        if (!this.drag.moved) stage.setPointerCapture(e.pointerId);
        this.drag = {x: e.clientX, moved: true};
        this.tip.hidden = true;
        this.pan(-dx / picture.inner);
      } else this.hover(e);
    });
    stage.addEventListener("pointerleave", () => { this.tip.hidden = true; });
    stage.addEventListener("pointerup", e => {
      const dragged = !this.drag || this.drag.moved, {x, y} = this.over(e);
      this.drag = null;
      const i = dragged ? -1 : picture.find(x, y);
      if (i >= 0) this.choose(i);
      else if (!dragged && x > LEFT) this.go(lastUpTo(this.run.moments.time, this.run.timeAt(picture.atX(x))));
    });
    stage.addEventListener("dblclick", () => picture.show(0, 1));
    new ResizeObserver(() => picture.resize()).observe(stage);
  }

  over(e) {
    const box = this.stage.getBoundingClientRect();
    return {x: e.clientX - box.left, y: e.clientY - box.top};
  }

  key(e) {
    const {picture} = this, wide = picture.high - picture.low;
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    const acts = {
      ArrowLeft: () => e.shiftKey ? this.pan(-0.1) : this.step(-1),
      ArrowRight: () => e.shiftKey ? this.pan(0.1) : this.step(1),
      ArrowUp: () => this.toRank(-1), ArrowDown: () => this.toRank(1),
      "+": () => this.zoom(1.6), "=": () => this.zoom(1.6), "-": () => this.zoom(1 / 1.6), 0: () => picture.show(0, 1),
      Home: () => this.go(0), End: () => this.go(Infinity), Enter: () => this.event >= 0 && this.markLine(),
      PageUp: () => this.pan(-0.8), PageDown: () => this.pan(0.8),
    };
    if (!acts[e.key]) return;
    e.preventDefault();
    acts[e.key](wide);
  }

  zoom(factor) {
    const at = this.run.at(this.picture.cursor), {low, high} = this.picture;
    this.picture.zoom(factor, at >= low && at <= high ? at : undefined);
  }

  pan(part) {
    const {picture} = this, by = part * (picture.high - picture.low);
    picture.show(picture.low + by, picture.high + by);
  }

  step(by) { this.go(this.moment + by); }

  /** The operation of the rank above or below that is nearest in time. */
  toRank(by) {
    const {run} = this, now = this.event < 0 ? (by > 0 ? -1 : run.size) : run.rank[this.event];
    for (let r = now + by; r >= 0 && r < run.size; r += by) {
      const i = run.lastBegun(r, this.picture.cursor), first = run.first[r];
      if (run.first[r + 1] > first) return this.go(run.callOf[i < 0 ? first : i]);
    }
  }

  go(moment, reveal = true) {
    const {run} = this, last = run.moments.time.length - 1;
    this.moment = Math.max(0, Math.min(last, moment));
    this.reveals = reveal;
    const time = last < 0 ? 0 : run.moments.time[this.moment];
    this.picture.cursor = time;
    this.event = last < 0 ? -1 : run.eventOf(this.moment);
    if (this.due) return;
    this.due = requestAnimationFrame(() => { this.due = 0; this.tell(); });
  }

  /** Go there without telling who follows this view. */
  goQuietly(moment) {
    const {gone} = this;
    this.gone = null;
    this.go(moment);
    this.tellNow();
    this.gone = gone;
  }

  choose(i) {
    this.go(this.run.callOf[i]);
    this.tellNow();
    this.markLine();
  }

  tellNow() {
    cancelAnimationFrame(this.due);
    this.due = 0;
    this.tell();
  }

  /** Bring picture, sentence and tables to the moment that was gone to. */
  tell() {
    const {run, picture, moment} = this, time = picture.cursor;
    picture.chosen = this.event;
    if (this.reveals) picture.reveal(run.at(time));
    picture.later();
    this.slider.value = moment;
    this.clock.textContent = `${duration(time)} · ${moment + 1} of ${run.moments.time.length}`;
    this.slider.setAttribute("aria-valuetext", this.clock.textContent);
    this.said.textContent = run.sentence(moment);
    const standings = run.tree.ranks.map((_, r) => run.standing(r, time));
    const rows = standings.slice(0, MOST_ROWS).map((one, r) => h("tr", this.event >= 0 && run.rank[this.event] === r ? {class: "dl-now"} : {},
      h("th", {scope: "row"}, h("i", {class: `dl-key dl-key-${one.state}`, "aria-hidden": "true"}), String(r)),
      h("td", {}, one.does), h("td", {}, one.why), h("td", {}, run.holds(r, time))));
    if (standings.length > MOST_ROWS) rows.push(h("tr", {}, h("td", {colspan: 4}, `and ${standings.length - MOST_ROWS} ranks more`)));
    this.rows.replaceChildren(...rows);
    drawGraph(this.graph, standings);
    this.describe();
    this.follow();
    this.gone?.();
  }

  describe() {
    const {run, event} = this;
    if (event < 0) return this.detail.replaceChildren();
    const facts = run.facts(event).filter(([, text]) => text);
    const lines = run.source(event);
    const listing = lines.length ? h("pre", {class: "dl-source", tabindex: "0", role: "group", "aria-label": "its lines"}, ...lines.map(([number, text]) =>
      h(number === run.line[event] ? "mark" : "span", {}, `${String(number).padStart(3)}  ${text}\n`))) : null;
    this.where = h("p", {class: "dl-where", role: "status"});
    this.detail.replaceChildren(
      h("dl", {}, ...facts.flatMap(([name, text]) => [h("dt", {}, name), h("dd", {}, text)])), ...(listing ? [listing] : []), this.where);
  }

  markLine() {
    const {run, event} = this, source = run.tree.sources[run.word("file", event)];
    const marked = source !== undefined && markLine(this.root, source, run.line[event]);
    this.where.textContent = marked ? `line ${run.line[event]} is marked in its cell`
      : source === undefined || !this.root.closest(".jp-Notebook") ? "" : "its cell is not to be found here, or was changed since";
    this.stage.dataset.marked = String(marked);
  }

  hover(e) {
    const {x, y} = this.over(e), i = this.picture.find(x, y), {run, tip} = this;
    tip.hidden = i < 0;
    if (i < 0) return;
    if (tip.dataset.event !== String(i)) {
      tip.dataset.event = i;
      const source = run.source(i, 0).map(([, text]) => h("code", {}, text.trim()));
      tip.replaceChildren(h("dl", {}, ...run.facts(i).filter(([, text]) => text).flatMap(([name, text]) => [h("dt", {}, name), h("dd", {}, text)])), ...source);
    }
    const wide = this.stage.clientWidth;
    tip.style.left = `${Math.min(x + 14, Math.max(0, wide - tip.offsetWidth - 4))}px`;
    tip.style.top = `${y + 18}px`;
  }

  // the table of all operations, a page at a time

  showTable(open) {
    this.toggle.setAttribute("aria-expanded", String(open));
    this.table.classList.toggle("dl-hidden", !open);
    for (const one of this.table.querySelectorAll("button, [data-scrolls]")) one.tabIndex = open ? 0 : -1;
  }

  follow() {
    if (this.event < 0) return;
    if (!this.placeOf) { // of each operation, its place in order of time
      this.placeOf = new Uint32Array(this.run.count);
      this.run.order.forEach((i, place) => { this.placeOf[i] = place; });
    }
    const page = Math.floor(this.placeOf[this.event] / PAGE);
    if (page !== this.page || this.shown !== this.event) {
      this.page = page;
      this.fillTable();
    }
  }

  fillTable() {
    const {run, page} = this, pages = Math.max(1, Math.ceil(run.count / PAGE));
    this.shown = this.event;
    const some = Array.from(run.order.subarray(page * PAGE, page * PAGE + PAGE));
    const names = ["number", ...NAMES];
    const rows = some.map((i, k) => h("tr", i === this.event ? {"aria-current": "step", class: "dl-now", "aria-rowindex": page * PAGE + k + 2} : {"aria-rowindex": page * PAGE + k + 2},
      h("th", {scope: "row"}, String(page * PAGE + k + 1)), ...run.facts(i).map(([, text]) => h("td", {}, text))));
    const turn = (text, by) => h("button", {type: "button", onclick: () => { this.page = Math.max(0, Math.min(pages - 1, this.page + by)); this.fillTable(); }}, text);
    const focused = this.table.contains(document.activeElement) ? document.activeElement.textContent : null;
    this.table.replaceChildren(
      h("div", {class: "dl-scrolls", "data-scrolls": "", tabindex: "-1", role: "group", "aria-label": "all operations"},
        h("table", {"aria-rowcount": run.count + 1}, h("caption", {class: "dl-hidden"}, `Operations, page ${page + 1} of ${pages}`), headed(names), h("tbody", {}, ...rows))),
      h("p", {}, turn("earlier", -1), ` page ${page + 1} of ${pages} `, turn("later", 1)));
    this.showTable(this.toggle.getAttribute("aria-expanded") === "true");
    if (focused) [...this.table.querySelectorAll("button")].find(one => one.textContent === focused)?.focus();
  }
}

const NAMES = ["rank", "operation", "line", "begins", "takes", "waits", "meets", "carries", "arguments", "held before", "holds after", "remarks"];

function headed(names) {
  return h("thead", {}, h("tr", {}, ...names.map(name => h("th", {scope: "col"}, name))));
}
