// The picture: what is visible of a run, on a canvas. What would be narrower than a pixel is merged.

// Okabe and Ito's colours, as in `distlab.viz.svg`
const COLOUR = {blue: "#1A83C6", green: "#009E73", orange: "#E69F00", red: "#D55E00", purple: "#CC79A7"};
const LEFT = 58, TOP = 8, AXIS = 26, TALLEST = 420; // pixels
const MOST_LABELS = 400;

class Drawing {
  /** Draws `run` into a canvas in `stage`, which scrolls where there are many ranks. */
  constructor(run, stage) {
    Object.assign(this, {run, stage, low: 0, high: 1, cursor: 0, chosen: -1});
    this.row = run.size <= 2 ? 76 : run.size <= 4 ? 58 : run.size <= 8 ? 40 : run.size <= 24 ? 26 : 14;
    this.bar = Math.min(14, this.row / 2);
    this.tall = TOP + this.row * run.size + AXIS;
    this.height = Math.min(this.tall, TALLEST);
    this.canvas = h("canvas", {"aria-hidden": "true"});
    this.room = h("div", {class: "dl-room"}, this.canvas);
    this.room.style.height = `${this.tall}px`;
    stage.append(this.room);
    stage.style.maxHeight = `${this.height + 2}px`;
    this.frame = 0;
    this.frames = 0; // drawn so far
    this.resize();
  }

  resize() {
    this.width = Math.max(200, this.stage.clientWidth || 600);
    const dense = window.devicePixelRatio || 1;
    this.canvas.width = Math.round(this.width * dense);
    this.canvas.height = Math.round(this.height * dense);
    this.canvas.style.width = `${this.width}px`;
    this.canvas.style.height = `${this.height}px`;
    this.brush = this.canvas.getContext("2d");
    this.brush.setTransform(dense, 0, 0, dense, 0, 0);
    this.later();
  }

  later() {
    if (!this.frame) this.frame = requestAnimationFrame(() => { this.frame = 0; this.draw(); });
  }

  get inner() { return this.width - LEFT - 12; }
  x(at) { return LEFT + (at - this.low) / (this.high - this.low) * this.inner; }
  atX(x) { return this.low + (x - LEFT) / this.inner * (this.high - this.low); }
  y(rank) { return TOP + this.row * (rank + 0.5) - this.stage.scrollTop; }

  show(low, high) {
    const wide = Math.min(1, Math.max(high - low, 1e-7));
    this.low = Math.min(Math.max(0, low), 1 - wide);
    this.high = this.low + wide;
    this.later();
  }

  zoom(factor, at = (this.low + this.high) / 2) {
    this.show(at - (at - this.low) / factor, at + (this.high - at) / factor);
  }

  /** Have a place in view, a little away from the edges. */
  reveal(at) {
    const wide = this.high - this.low;
    if (at < this.low || at > this.high) this.show(at - wide / 2, at + wide / 2);
  }

  draw() {
    const {brush, run, stage} = this, style = getComputedStyle(stage);
    this.ink = style.color;
    this.redInk = `color-mix(in srgb, ${COLOUR.red} 60%, ${this.ink})`; // can be read on light and on dark
    this.font = style.fontFamily || "sans-serif";
    this.frames++;
    brush.clearRect(0, 0, this.width, this.height);
    brush.save();
    brush.beginPath();
    brush.rect(LEFT - 1, 0, this.width - LEFT + 1, this.height);
    brush.clip();
    this._axis();
    this._bands();
    const top = Math.max(0, Math.floor((stage.scrollTop - TOP) / this.row));
    const below = Math.min(run.size, Math.ceil((stage.scrollTop + this.height) / this.row));
    for (let r = top; r < below; r++) this._rank(r);
    this._arrows();
    this._labels(top, below);
    this._cursor();
    brush.restore();
    brush.fillStyle = this.ink;
    brush.textAlign = "left";
    brush.textBaseline = "middle";
    for (let r = top; r < below; r++) {
      const lit = run.tree.ranks[r].lit;
      brush.font = `${lit ? "bold " : ""}${this.row < 20 ? 10 : 12}px ${this.font}`;
      brush.fillStyle = lit ? this.redInk : this.ink;
      brush.fillText(this.row < 20 && r % 2 ? "" : `rank ${r}`, 4, this.y(r));
    }
  }

  _axis() {
    const {brush, run} = this, bottom = this.height - AXIS + 6;
    brush.lineWidth = 1;
    brush.font = `10px ${this.font}`;
    brush.textAlign = "center";
    brush.textBaseline = "top";
    let free = 0;
    for (let x = LEFT; x <= LEFT + this.inner; x += 100) {
      const [t0, t1] = [run.timeAt(this.atX(x - 12)), run.timeAt(this.atX(x + 12))];
      const step = 10 ** Math.floor(Math.log10(Math.max(t1 - t0, 1e-9)));
      const time = Math.round((t0 + t1) / 2 / step) * step, at = this.x(run.at(time));
      if (run.tree.scale.breaks.some(([a, b]) => a < time && time < b)) continue;
      if (at < LEFT - 1 || at > LEFT + this.inner + 1) continue;
      this._line(this.ink, 0.2, [[at, 0], [at, bottom]]);
      const label = tickText(time, step, t1), half = brush.measureText(label).width / 2;
      if (at - half < free) continue;
      brush.globalAlpha = 0.8;
      brush.fillStyle = this.ink;
      brush.fillText(label, Math.max(at, LEFT + half), bottom + 4);
      brush.globalAlpha = 1;
      free = at + half + 8;
    }
    for (const [a, b] of run.tree.scale.breaks) {
      const x = (this.x(run.at(a)) + this.x(run.at(b))) / 2;
      brush.setLineDash([2, 3]);
      this._line(this.ink, 0.5, [[x - 3, 0], [x - 3, bottom]]);
      this._line(this.ink, 0.5, [[x + 3, 0], [x + 3, bottom]]);
      brush.setLineDash([]);
    }
  }

  _line(colour, alpha, points, width = 1) {
    const {brush} = this;
    brush.strokeStyle = colour;
    brush.globalAlpha = alpha;
    brush.lineWidth = width;
    brush.beginPath();
    points.forEach(([x, y], k) => k ? brush.lineTo(x, y) : brush.moveTo(x, y));
    brush.stroke();
    brush.globalAlpha = 1;
    brush.lineWidth = 1;
  }

  _rank(r) {
    const {brush, run} = this, rank = run.tree.ranks[r], y = this.y(r), stays = run.stays[r];
    const {live} = run.tree;
    if (rank.progress === "never started") {
      brush.fillStyle = live ? this.ink : this.redInk;
      brush.font = `11px ${this.font}`;
      brush.textAlign = "left";
      brush.textBaseline = "middle";
      brush.fillText(live ? "not begun" : "never started", LEFT + 6, y);
      return;
    }
    const x0 = Math.max(LEFT, this.x(run.at(rank.begin))), x1 = Math.min(this.width, this.x(run.at(rank.end)));
    if (x1 > x0) this._line(this.ink, 0.4, [[x0, y], [x1, y]], 3);
    this._waits(r, stays, y);
    this._posts(r, y);
    const end = this.x(run.at(rank.end));
    if (rank.progress === "returned") {
      brush.fillStyle = this.ink;
      brush.fillRect(end - 1, y - 4, 8, 8);
    } else if (rank.progress === "raised") {
      this._cross(end + 3, y, 4);
    } else if (!live) {
      this._cross(end + 3, y, 3);
    }
  }

  _cross(x, y, r) {
    this._line(COLOUR.red, 1, [[x - r, y - r], [x + r, y + r]], 2.5);
    this._line(COLOUR.red, 1, [[x - r, y + r], [x + r, y - r]], 2.5);
  }

  /** When a rank waited: hatched where a reader can see that, else blocks as high as their share. */
  _waits(r, stays, y) {
    const {brush, run} = this, {events, x0, x1, waited} = stays;
    const last = lastUpTo(x0, this.high);
    let k = Math.max(0, lastUpTo(x0, this.low)), steps = 0;
    while (k > 0 && x1[k - 1] > this.low && steps++ < 16) k--;
    const pixel = (this.high - this.low) / this.inner;
    while (k <= last) {
      const i = events[k], wide = (x1[k] - x0[k]) / pixel;
      if (wide < 2) { // and those after it, up to two pixels on
        const until = Math.max(lastUpTo(x0, x0[k] + 2 * pixel, k, last + 1), k);
        const share = Math.min(1, (waited[until + 1] - waited[k])
          / Math.max(run.timeAt(Math.max(x0[k] + 2 * pixel, x1[until])) - run.timeAt(x0[k]), 1e-12));
        const high = Math.max(3, this.bar * share);
        brush.fillStyle = run.done(i) ? COLOUR.orange : COLOUR.red;
        brush.fillRect(this.x(x0[k]), y - high / 2, Math.max(1.5, this.x(x1[until]) - this.x(x0[k])), high);
        k = until + 1;
        continue;
      }
      const [a, b] = [Math.max(LEFT - 4, this.x(x0[k])), Math.min(this.width + 4, this.x(x1[k]))];
      if (b > LEFT) this._wait(i, a, b - a, y);
      k++;
    }
  }

  _wait(i, x, wide, y) {
    const {brush, run} = this, colour = run.done(i) ? COLOUR.orange : COLOUR.red, high = this.bar;
    brush.fillStyle = colour;
    brush.globalAlpha = 0.25;
    brush.fillRect(x, y - high / 2, wide, high);
    brush.globalAlpha = 0.7;
    brush.save();
    brush.beginPath();
    brush.rect(x, y - high / 2, wide, high);
    brush.clip();
    brush.beginPath();
    for (let s = x - high - (x % 5); s < x + wide; s += 5) {
      brush.moveTo(s, y + high / 2);
      brush.lineTo(s + high, y - high / 2);
    }
    brush.strokeStyle = colour;
    brush.lineWidth = 1.4;
    brush.stroke();
    brush.restore();
    brush.globalAlpha = 1;
    const marked = run.is(i, "lit") || i === this.chosen;
    brush.lineWidth = marked ? 3 : 1;
    brush.strokeStyle = i === this.chosen ? this.ink : run.is(i, "lit") ? COLOUR.red : colour;
    brush.strokeRect(x, y - high / 2, wide, high);
    brush.lineWidth = 1;
  }

  _posts(r, y) {
    const {brush, run} = this;
    const low = run.first[r], high = run.first[r + 1];
    const from = lastUpTo(run.begin, run.timeAt(this.low), low, high) + 1;
    const to = lastUpTo(run.begin, run.timeAt(this.high), low, high);
    if (to - from > this.inner / 3) return;
    for (let i = Math.max(low, from - 1); i <= to; i++) {
      const x = this.x(run.at(run.begin[i]));
      if (run.is(i, "refused")) this._cross(x, y, 4);
      else if (!run.is(i, "blocking") && !run.is(i, "internal") && run.word("op", i) !== "new_group") {
        brush.fillStyle = "#56B4E9";
        brush.strokeStyle = i === this.chosen ? this.ink : COLOUR.blue;
        brush.beginPath();
        brush.arc(x, y, i === this.chosen ? 4.5 : 3, 0, 7);
        brush.fill();
        brush.stroke();
      }
    }
  }

  _bands() {
    const {brush, run} = this, {x0, x1} = run.bandX, pixel = (this.high - this.low) / this.inner;
    const last = lastUpTo(x0, this.high);
    let painted = -Infinity;
    for (let k = 0; k <= last; k++) {
      if (x1[k] < this.low) continue;
      const band = run.bands[k], wide = (x1[k] - x0[k]) / pixel;
      if (wide < 2 && x0[k] < painted + 2 * pixel && !run.isStuck(band)) continue;
      painted = x0[k];
      const calls = run.calls[band], stuck = run.isStuck(band);
      const colour = stuck ? COLOUR.red : run.is(calls[0], "internal") ? COLOUR.purple : COLOUR.green;
      brush.fillStyle = brush.strokeStyle = colour;
      brush.setLineDash(stuck ? [4, 3] : []);
      const rows = [...calls].sort((a, b) => run.rank[a] - run.rank[b]);
      let part = [];
      rows.forEach((i, n) => {
        if (part.length && run.rank[i] !== run.rank[part[part.length - 1]] + 1) { this._band(part); part = []; }
        part.push(i);
        if (n === rows.length - 1) this._band(part);
      });
      brush.setLineDash([]);
    }
  }

  /** One shape through begins and ends on ranks beside each other. */
  _band(calls) {
    const {brush, run} = this, half = this.bar / 2 + 4, left = [], right = [];
    for (const i of calls) {
      const y = this.y(run.rank[i]), x0 = this.x(run.at(run.begin[i]));
      const x1 = Math.max(x0 + 2, this.x(run.at(run.ending(i))));
      left.push([x0, y - half], [x0, y + half]);
      right.push([x1, y - half], [x1, y + half]);
    }
    brush.beginPath();
    [...left, ...right.reverse()].forEach(([x, y], k) => {
      const inside = Math.min(Math.max(x, LEFT - 50), this.width + 50);
      if (k) brush.lineTo(inside, y); else brush.moveTo(inside, y);
    });
    brush.closePath();
    brush.globalAlpha = 0.2;
    brush.fill();
    brush.globalAlpha = 0.9;
    brush.stroke();
    brush.globalAlpha = 1;
  }

  _arrows() {
    const {run} = this, {x0, x1} = run.arrows, pixel = (this.high - this.low) / this.inner;
    const last = lastUpTo(x0, this.high);
    let column = NaN, inColumn = 0;
    for (let k = 0; k <= last; k++) {
      if (x1[k] < this.low) continue;
      const i = run.messages[k], lost = run.mate[i] < 0;
      const here = Math.floor(x0[k] / pixel / 4);
      if (here !== column) [column, inColumn] = [here, 0];
      if (inColumn++ >= 3 && !lost) continue;
      this._arrow(i, this.x(x0[k]), this.x(x1[k]));
    }
  }

  _arrow(i, x0, x1) {
    const {run, brush} = this, m = run.mate[i], sends = run.word("op", i) === "send";
    const [from, to] = sends ? [run.rank[i], run.peer[i]] : [run.peer[i], run.rank[i]];
    if (to < 0 || to >= run.size || from === to) return;
    const open = run.tree.live && m < 0, good = run.arrives(i), colour = good ? COLOUR.blue : COLOUR.red;
    const source = from < 0 ? (to ? to - 1 : to + 1) : from, down = to > source ? 1 : -1;
    let y0 = this.y(source) + down * this.bar / 2, y1 = this.y(to) - down * this.bar / 2;
    if (m < 0) { // it goes to nowhere, or comes from there
      const reach = Math.min(Math.abs(y1 - y0) / 2, 40);
      if (sends) [y1, x1] = [y0 + down * reach, x0 + 34];
      else [y0, x0] = [y1 - down * reach, x1 - 34];
    }
    const wide = i === this.chosen || m >= 0 && m === this.chosen ? 3.5 : 1.6;
    brush.setLineDash(good && !open ? [] : [4, 3]);
    this._line(colour, 1, [[x0, y0], [x1, y1]], wide);
    brush.setLineDash([]);
    const [dx, dy] = [x1 - x0, y1 - y0], long = Math.hypot(dx, dy) || 1, [ux, uy] = [dx / long, dy / long];
    brush.fillStyle = colour;
    brush.beginPath();
    brush.moveTo(x1, y1);
    brush.lineTo(x1 - 7 * ux - 3 * uy, y1 - 7 * uy + 3 * ux);
    brush.lineTo(x1 - 7 * ux + 3 * uy, y1 - 7 * uy - 3 * ux);
    brush.fill();
  }

  /** Names of operations, where there is room for them. */
  _labels(top, below) {
    const {brush, run} = this;
    if (this.row < 26) return;
    brush.font = `10px ${this.font}`;
    brush.textAlign = "left";
    brush.textBaseline = "bottom";
    brush.fillStyle = this.ink;
    for (let r = top; r < below; r++) {
      const low = run.first[r], high = run.first[r + 1], y = this.y(r) - this.bar / 2 - 5;
      const from = Math.max(low, lastUpTo(run.begin, run.timeAt(this.low), low, high));
      const to = lastUpTo(run.begin, run.timeAt(this.high), low, high);
      if (to - from > MOST_LABELS) continue;
      let free = LEFT;
      for (let i = from; i <= to; i++) {
        const x = Math.max(this.x(run.at(run.begin[i])), LEFT + 2), next = i + 1 < high ? this.x(run.at(run.begin[i + 1])) : this.width;
        const text = run.word("call", i), wide = brush.measureText(text).width;
        if (x < free || x + wide > Math.max(next, x + 40) || this.x(run.at(run.ending(i))) < LEFT) continue;
        brush.fillText(text, x, y);
        free = x + wide + 6;
      }
    }
  }

  _cursor() {
    const x = this.x(this.run.at(this.cursor));
    this._line(this.ink, 0.9, [[x, 0], [x, this.height - AXIS + 6]], 1.5);
    const {brush} = this;
    brush.fillStyle = this.ink;
    brush.beginPath();
    brush.moveTo(x - 5, 0);
    brush.lineTo(x + 5, 0);
    brush.lineTo(x, 7);
    brush.fill();
  }

  /** The operation at a place of the stage, or -1: one that a rank sits in, a post, a collective. */
  find(x, y) {
    const {run} = this, r = Math.floor((y + this.stage.scrollTop - TOP) / this.row);
    if (r < 0 || r >= run.size || x < LEFT) return -1;
    const at = this.atX(x), reach = 4 / this.inner * (this.high - this.low), {x0, x1, events} = run.stays[r];
    const near = Math.abs(y - this.y(r)) <= this.bar / 2 + 6;
    if (near) {
      const post = lastUpTo(run.begin, run.timeAt(at + reach), run.first[r], run.first[r + 1]);
      const posted = post >= run.first[r] && !run.is(post, "blocking") && Math.abs(run.at(run.begin[post]) - at) <= reach;
      if (posted) return post;
      for (let k = lastUpTo(x0, at + reach), seen = 0; k >= 0 && seen < 16; k--, seen++) {
        if (at <= x1[k] + reach) return events[k];
      }
    }
    return near ? -1 : this._nearArrow(x, y);
  }

  _nearArrow(x, y) {
    const {run} = this, {x0, x1} = run.arrows;
    let found = -1, best = 7; // pixels
    const last = lastUpTo(x0, this.atX(x + 8));
    for (let k = last, seen = 0; k >= 0 && seen < 2000; k--, seen++) {
      const i = run.messages[k], m = run.mate[i];
      if (m < 0 || this.x(x1[k]) < x - 8) continue;
      const [ax, ay, bx, by] = [this.x(x0[k]), this.y(run.rank[i]), this.x(x1[k]), this.y(run.rank[m])];
      const long = (bx - ax) ** 2 + (by - ay) ** 2 || 1;
      const part = Math.min(1, Math.max(0, ((x - ax) * (bx - ax) + (y - ay) * (by - ay)) / long));
      const far = Math.hypot(ax + part * (bx - ax) - x, ay + part * (by - ay) - y);
      if (far < best) [found, best] = [i, far];
    }
    return found;
  }
}

function tickText(time, step, size) {
  if (time <= 0) return "0";
  const [factor, unit] = size < 1e-3 ? [1e6, "µs"] : size < 1 ? [1e3, "ms"] : [1, "s"];
  const decimals = Math.max(0, -Math.floor(Math.log10(step * factor) + 1e-9));
  return `${Number((time * factor).toFixed(Math.min(decimals, 6)))} ${unit}`;  // no zeros at its end
}
