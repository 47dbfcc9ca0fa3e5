// A run that goes on: below the cell that runs, in the page alone, until its finished picture is there.

const MOST_LIVE_ROWS = 32;
const SHARES = ["computing", "communicating", "waiting"];
const percent = part => `${Math.round(100 * part)} %`;

/** What a rank did with its time, in cells of a table. */
function shareCells(seconds) {
  const all = seconds.reduce((a, b) => a + b, 0);
  return seconds.map((part, k) => all > 0
    ? h("td", {class: `dl-share dl-share-${SHARES[k]}`, style: `--dl-part:${Math.round(100 * part / all)}%`}, percent(part / all)) : h("td"));
}

const rateText = rate => rate === null ? "" : `${rate >= 100 ? Math.round(rate) : rate.toPrecision(3)}`;
const lossText = loss => loss === null ? "" : typeof loss === "string" ? loss : String(Number(loss.toPrecision(4)));

/** What ranks told of their training, in cells of a table. */
function trainingCells(told) {
  return told ? [h("td", {}, lossText(told.loss)), h("td", {}, rateText(told.rate))] : [];
}
const trainingNames = training => training ? ["loss", "images/s"] : [];

/** All ranks together in a sentence. */
function trainingText({ranks}, live) {
  const told = ranks.filter(one => one.reports), sum = (of, key) => of.reduce((all, one) => all + one[key], 0);
  const losses = told.map(one => one.loss).filter(loss => loss !== null), rates = told.filter(one => one.rate !== null);
  const numbers = losses.filter(loss => typeof loss === "number"), odd = losses.find(loss => typeof loss === "string");
  const mean = odd || (numbers.length ? lossText(numbers.reduce((a, b) => a + b, 0) / numbers.length) : "");
  return [mean && `loss ${mean}`, rates.length && `${rateText(sum(rates, "rate"))} images/s on all ranks`,
          sum(told, "images") && `${sum(told, "images")} images ${live ? "so far" : "in all"}`].filter(Boolean).join(" · ");
}

/** The curve of a loss as a small SVG. */
function lossCurve(run) {
  const {time, loss} = run.curve, finite = Array.from(loss).filter(Number.isFinite);
  if (finite.length < 2) return null;
  const [low, high] = [Math.min(...finite), Math.max(...finite)], [wide, tall] = [220, 64];
  const x = t => 4 + (t - time[0]) / (time[time.length - 1] - time[0] || 1) * (wide - 8);
  const y = v => tall - 6 - (v - low) / (high - low || 1) * (tall - 12);
  const points = Array.from(loss, (v, k) => Number.isFinite(v) ? `${x(time[k]).toFixed(1)},${y(v).toFixed(1)}` : "").join(" ");
  const said = `loss of rank ${run.tree.training.whose}: ${lossText(finite[0])} at first, ${lossText(finite[finite.length - 1])} ${run.tree.live ? "now" : "at last"}, ${lossText(low)} at its lowest`;
  return h("figure", {class: "dl-curve"},
    svg("svg", {viewBox: `0 0 ${wide} ${tall}`, width: wide, height: tall, role: "img", "aria-label": said}, svg("polyline", {points})),
    h("figcaption", {}, said));
}

class LiveView {
  constructor(frame, run) {
    Object.assign(this, {run});
    this.said = h("p", {class: "dl-said"});
    this.figures = h("p", {class: "dl-figures"});
    this.stage = h("div", {class: "dl-stage", role: "img"});
    this.head = h("thead");
    this.rows = h("tbody");
    this.curve = h("div");
    const marks = [["computes", "computing"], ["waits", "waiting"], ["message", "message"], ["collective", "collective"]]
      .map(([kind, text]) => h("span", {}, h("i", {class: `dl-key dl-key-${kind}`, "aria-hidden": "true"}), text));
    this.root = h("section", {class: "dl dl-live", role: "group", "aria-label": `${run.tree.title}, running`},
      h("p", {class: "dl-title"}, h("span", {class: "dl-running", "aria-hidden": "true"}), `${run.tree.title}, running`),
      this.figures, h("div", {class: "dl-picture"}, this.stage), h("p", {class: "dl-legend"}, ...marks), this.said,
      h("div", {class: "dl-panels"},
        h("div", {class: "dl-ranks", tabindex: "0", role: "group", "aria-label": "each rank now"},
          h("table", {class: "dl-wide"}, h("caption", {class: "dl-hidden"}, "Each rank now, and its share of the time that is shown"), this.head, this.rows)), this.curve));
    this.root.view = this; // for whoever measures it
    frame.append(this.root);
    this.picture = new Drawing(run, this.stage);
    new ResizeObserver(() => this.picture.resize()).observe(this.stage);
    this.show(run);
  }

  /** Show the newest look. */
  show(run) {
    this.run = this.picture.run = run;
    const {training, ranks} = run.tree, now = run.horizon;
    this.picture.cursor = now;
    this.picture.later();
    const standings = ranks.map((_, r) => run.standing(r, now));
    this.said.textContent = awaited(standings, run);
    this.stage.setAttribute("aria-label", `${run.count} operations of the last ${duration(now)}; the table below says what each rank does`);
    this.figures.textContent = training ? trainingText(training, true) : "";
    const names = headed(["rank", "does", "waits for", ...SHARES, ...trainingNames(training)]);
    this.head.replaceChildren(...names.children);
    const rows = standings.slice(0, MOST_LIVE_ROWS).map((one, r) => h("tr", {},
      h("th", {scope: "row"}, h("i", {class: `dl-key dl-key-${one.state}`, "aria-hidden": "true"}), String(r)),
      h("td", {}, one.does), h("td", {}, one.why), ...shareCells(ranks[r].shares), ...trainingCells(training && training.ranks[r])));
    if (standings.length > rows.length) rows.push(h("tr", {}, h("td", {colspan: 8}, `and ${standings.length - rows.length} ranks more`)));
    this.rows.replaceChildren(...rows);
    const curve = training && lossCurve(run);
    if (curve) this.curve.replaceChildren(curve);
  }
}

/** Whom others wait for while it computes: a straggler, if it goes on for long. */
function awaited(standings, run) {
  const waiting = new Map(); // of each rank that computes, who waits for it
  standings.forEach((one, r) => one.on.forEach(other => {
    if (standings[other].state === "computes") waiting.set(other, [...(waiting.get(other) || []), r]);
  }));
  const [rank, who] = [...waiting].sort((a, b) => b[1].length - a[1].length)[0] || [-1, []];
  if (rank < 0) return "";
  const since = Math.max(...who.map(r => run.from[standings[r].event]));
  return `${ranksText(who)} ${who.length > 1 ? "wait" : "waits"} for rank ${rank}, which computes: for ${duration(run.horizon - since)} so far`;
}

/** The code cell that runs and has this text; an editor renders of a long one what is in view. */
function runningCell(code) {
  const lines = new Set(code.split("\n").map(line => line.trimEnd()));
  return [...document.querySelectorAll(".jp-CodeCell")].find(cell => {
    const shown = [...cell.querySelectorAll(".jp-InputArea-editor .cm-line")];
    return isRunning(cell) && shown.length && shown.every(line => lines.has(line.textContent.trimEnd()));
  });
}

const isRunning = cell => Boolean(cell.querySelector(".jp-InputPrompt")?.textContent.includes("*"));
const framesIn = cell => cell.querySelectorAll(".jp-OutputArea [data-distlab-run]").length;

/** The place of the runs of one kernel that go on: one at a time. */
class LivePlace {
  constructor() { this.gone(); }

  gone() {
    this.host?.remove();
    Object.assign(this, {cell: null, host: null, view: null, number: 0, frames: 0, frozen: false, ended: false, idle: false});
  }

  /** Take a look at a run, or that there is nothing more to be seen. */
  take(told) {
    if (!told.tree) {
      this.ended = true;
      return this.settle();
    }
    if (this.host && (!this.host.isConnected || this.ended || this.frozen)) this.gone();
    if (!this.host && !this.open(told.code)) return;
    const run = new Run(told.tree, told.columns);
    run.lookedAt = told.at; // for whoever measures it
    if (this.view && this.number === told.run && !told.over) return this.view.show(run);
    this.host.replaceChildren();
    this.number = told.run;
    this.frozen = told.over;
    this.view = told.over ? new View(this.host, run) : new LiveView(this.host, run);
  }

  open(code) {
    const cell = runningCell(code);
    if (!cell) return false;
    dress();
    const host = h("div", {class: "dl-place"}), outputs = cell.querySelector(".jp-Cell-outputWrapper");
    Object.assign(this, {cell, host, frames: framesIn(cell)});
    if (outputs) outputs.after(host);
    else cell.append(host);
    return true;
  }

  /** Make room for the finished picture, and for the cell's next run. */
  settle() {
    if (!this.host) return;
    const runs = isRunning(this.cell), shown = framesIn(this.cell) > this.frames;
    if (this.ended && !runs) this.idle = true;
    if (shown || this.idle && (runs || !this.frozen)) this.gone();
  }
}
