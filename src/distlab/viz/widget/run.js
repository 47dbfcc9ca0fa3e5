// A run as `distlab.viz.run_model` tells it, and what can be computed of it.
// Names, lines and errors in it are a stranger's: they go into text nodes alone, never into markup.

const IS = {message: 1, collective: 2, internal: 4, blocking: 8, refused: 16, changed: 32,
            lit: 64, gaveUp: 128};
const POSTED = 1, DONE = 2, FAILED = 3;
const KINDS = {f8: Float64Array, i4: Int32Array, u4: Uint32Array, u2: Uint16Array, u1: Uint8Array};

/** Bytes of a column: from base64 in a page, or as a kernel has sent them. */
function bytesOf(told) {
  if (typeof told === "string") return Uint8Array.from(atob(told), c => c.charCodeAt(0)).buffer;
  const view = new Uint8Array(told.buffer || told, told.byteOffset || 0, told.byteLength);
  return view.slice().buffer; // aligned
}

/** The last place in sorted `values` (from `low` to below `high`) that is at most `x`, or low - 1. */
function lastUpTo(values, x, low = 0, high = values.length) {
  while (low < high) {
    const middle = (low + high) >> 1;
    if (values[middle] <= x) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

function sortedBy(places, key) {
  const sorted = Uint32Array.from(places);
  let inOrder = true;
  for (let i = 1; i < sorted.length && inOrder; i++) inOrder = key[sorted[i - 1]] <= key[sorted[i]];
  return inOrder ? sorted : sorted.sort((a, b) => key[a] - key[b] || a - b);
}

/** A duration for people, three digits: "85.1 µs", "10.3 ms", "1.20 s". */
function duration(seconds) {
  if (!(seconds > 0)) return "0 s";
  const [factor, unit] = seconds < 1e-3 ? [1e6, "µs"] : seconds < 1 ? [1e3, "ms"] : [1, "s"];
  const value = seconds * factor;
  return `${value.toFixed(value >= 100 ? 0 : value >= 10 ? 1 : 2)} ${unit}`;
}

function sizeText(bytes) {
  let value = bytes;
  for (const unit of ["B", "kB", "MB", "GB"]) {
    if (value < 1000 || unit === "GB") return `${Number(value.toPrecision(3))} ${unit}`;
    value /= 1000;
  }
}

const numberText = value => Number.isNaN(value) ? "nan"
  : Number.isSafeInteger(value) ? String(value) : String(Number(value.toPrecision(6)));

const shapeText = shape => shape ? `shape ${shape}` : "scalar";

function ranksText(ranks) {
  const some = ranks.slice(0, 8).join(", ") + (ranks.length > 8 ? `, … (${ranks.length})` : "");
  return ranks.length === 1 ? `rank ${some}` : `ranks ${some}`;
}

class Run {
  constructor(tree, buffers) {
    const told = buffers || tree.columns;
    const column = spec => new KINDS[spec.type](bytesOf(told[spec.column]));
    this.tree = tree;
    this.size = tree.ranks.length;
    this.words = tree.words;
    this.count = tree.events.count;
    for (const [name, spec] of Object.entries(tree.events)) {
      if (name !== "count") this[name] = column(spec);
    }
    this.knots = {time: column(tree.scale.time), at: column(tree.scale.at)};
    this.horizon = Math.max(tree.horizon, 1e-9);
    const {training} = tree;
    this.curve = training && {time: column(training.time), loss: column(training.loss)};
    this._index();
    this._hold(Object.fromEntries(
      Object.entries(tree.held).map(([name, spec]) => [name, column(spec)])));
    this._moments();
  }

  word(column, i) { return this.words[this[column][i]] || ""; }
  is(i, flag) { return (this.flags[i] & IS[flag]) !== 0; }
  /** Has it ended well, or may it still? */
  done(i) { return this.state[i] === DONE || this.tree.live && this.state[i] === POSTED; }

  /** Where a moment stands in the whole picture, from 0 to 1; and back. */
  at(time) { return between(this.knots.time, this.knots.at, time); }
  timeAt(at) { return between(this.knots.at, this.knots.time, at); }

  /** The end of an operation, as far as it is known, else the run's. */
  ending(i) { return Number.isNaN(this.end[i]) ? this.horizon : Math.max(this.end[i], this.begin[i]); }

  _index() {
    const n = this.count;
    this.first = new Uint32Array(this.size + 1); // events of rank r: first[r] to below first[r + 1]
    for (let i = 0; i < n; i++) this.first[this.rank[i] + 1]++;
    for (let r = 0; r < this.size; r++) this.first[r + 1] += this.first[r];
    this.stays = []; // of each rank, in order: events in which it sat
    for (let r = 0; r < this.size; r++) {
      const own = [];
      for (let i = this.first[r]; i < this.first[r + 1]; i++) if (!Number.isNaN(this.from[i])) own.push(i);
      const events = sortedBy(own, this.from);
      const from = Float64Array.from(events, i => this.from[i]);
      const waited = new Float64Array(events.length + 1); // seconds in all before each
      events.forEach((i, k) => { waited[k + 1] = waited[k] + this.until[i] - this.from[i]; });
      this.stays.push({events, from, waited,
                       x0: from.map(t => this.at(t)), x1: Float64Array.from(events, i => this.at(this.until[i]))});
    }
    this.order = sortedBy(Array.from({length: n}, (_, i) => i), this.begin);
    const messages = [];
    this.calls = this.tree.collectives.map(() => []); // of each collective, its events
    for (const i of this.order) {
      if (this.band[i] >= 0) this.calls[this.band[i]].push(i);
      if (this.is(i, "message") && !this.is(i, "refused")) {
        const sends = this.word("op", i) === "send";
        if (sends || this.mate[i] < 0) messages.push(i);
      }
    }
    this.messages = Uint32Array.from(messages); // sends, and receives of what nobody sent
    this.arrows = {
      x0: Float64Array.from(messages, i => this.at(this.begin[i])),
      x1: Float64Array.from(messages, i => {
        const m = this.mate[i];
        return this.at(m < 0 ? this.begin[i] : this.done(m) ? this.ending(m) : Math.max(this.begin[m], this.begin[i]));
      }),
    };
    this.bands = sortedBy(
      this.calls.map((calls, b) => b).filter(b => this.calls[b].length),
      this.calls.map(calls => calls.length ? this.begin[calls[0]] : 0));
    const bands = [...this.bands];
    this.bandX = {
      x0: Float64Array.from(bands, b => this.at(this.begin[this.calls[b][0]])),
      x1: Float64Array.from(bands, b => this.at(Math.max(...this.calls[b].map(i => this.ending(i))))),
    };
  }

  isStuck(band) {
    const {members, conflict} = this.tree.collectives[band];
    const calls = this.calls[band];
    if (this.tree.live) return conflict !== 0;
    return conflict !== 0 || calls.length < members.length || calls.some(i => !this.done(i));
  }

  _hold(held) {
    this.holdings = Array.from({length: this.size}, () => []);
    this.heldBy = new Map(); // event -> [before, after]
    let offset = 0;
    for (let k = 0; k < held.event.length; k++) {
      const i = held.event[k], when = held.when[k];
      const values = held.values.subarray(offset, offset += held.count[k]);
      const time = when ? this.ending(i) : this.begin[i];
      const one = {event: i, when, time, values, norm: held.norm[k]};
      this.holdings[this.rank[i]].push(one);
      if (!this.heldBy.has(i)) this.heldBy.set(i, [null, null]);
      this.heldBy.get(i)[when] = one;
    }
    for (const own of this.holdings) own.sort((a, b) => a.time - b.time);
    this.holdingTimes = this.holdings.map(own => Float64Array.from(own, one => one.time));
  }

  heldText(one) {
    if (one === null) return "";
    const [i, dtype] = [one.event, this.word("dtype", one.event)];
    if (one.values.length) return `[${Array.from(one.values, numberText).join(", ")}]`;
    const norm = Number.isNaN(one.norm) ? "" : ` · norm ${numberText(one.norm)}`;
    return `${dtype}, ${shapeText(this.word("shape", i))}${norm}`;
  }

  /** All moments at which something happens, in order: kinds are those of `sentence`. */
  _moments() {
    const time = [], event = [], kind = [];
    const add = (t, i, k) => { time.push(t); event.push(i); kind.push(k); };
    this.tree.ranks.forEach((rank, r) => {
      if (rank.progress === "never started") return;
      add(rank.begin, r, "starts");
      if (rank.progress === "returned" || rank.progress === "raised") add(rank.end, r, "ends");
    });
    for (let i = 0; i < this.count; i++) {
      add(this.begin[i], i, "call");
      if (this.from[i] > this.begin[i]) add(this.from[i], i, "wait");
      if (!Number.isNaN(this.end[i])) add(this.ending(i), i, "end");
    }
    if (time.length && !this.tree.ranks.every(r => r.progress === "returned")) add(this.horizon, 0, "stop");
    const rankOf = {starts: 0, call: 1, wait: 2, end: 3, ends: 4, stop: 5};
    const order = Uint32Array.from(time, (_, k) => k)
      .sort((a, b) => time[a] - time[b] || rankOf[kind[a]] - rankOf[kind[b]] || a - b);
    this.moments = {
      time: Float64Array.from(order, k => time[k]),
      event: Uint32Array.from(order, k => event[k]),
      kind: Array.from(order, k => kind[k]),
    };
    this.callOf = new Uint32Array(this.count); // of each operation, the moment of its call
    order.forEach((k, place) => { if (kind[k] === "call") this.callOf[event[k]] = place; });
  }

  /** The operation that a moment is about, or -1. */
  eventOf(k) {
    const kind = this.moments.kind[k];
    return kind === "call" || kind === "wait" || kind === "end" ? this.moments.event[k] : -1;
  }

  sentence(k) {
    if (!this.moments.time.length) return "nothing happened";
    const {event, kind} = this.moments, i = event[k];
    if (kind[k] === "starts") return `rank ${i} begins`;
    if (kind[k] === "ends") return `rank ${i} ${this.tree.ranks[i].progress}`;
    if (kind[k] === "stop") return "the run was ended";
    const called = `rank ${this.rank[i]}: ${this.word("call", i)} at ${this.word("place", i)}`;
    const doing = {call: "begins", wait: "is waited for", end: this.state[i] === FAILED ? "fails" : "ends"};
    return `${called} ${doing[kind[k]]}`;
  }

  /** What rank `r` does at a time: {does, state, event, on: ranks that it waits for, why}. */
  standing(r, time) {
    const rank = this.tree.ranks[r];
    const said = (does, state, event = -1, on = [], why = "") => ({does, state, event, on, why});
    if (rank.progress === "never started") return said(this.tree.live ? "has not begun" : "never started", "absent");
    if (time < rank.begin) return said("has not begun", "absent");
    const over = rank.progress === "returned" || rank.progress === "raised";
    if (over && time >= rank.end) return said(rank.progress, "ended");
    const {events, from} = this.stays[r];
    for (let k = lastUpTo(from, time), seen = 0; k >= 0 && seen < 16; k--, seen++) {
      const i = events[k], open = Number.isNaN(this.end[i]) || this.until[i] === this.horizon && !this.done(i);
      if (time < this.until[i] || open) {
        const {on, why} = this.needs(i, time);
        return said(`waits in ${this.word("call", i)} at ${this.word("place", i)}`, this.done(i) ? "waits" : "stuck", i, on, why);
      }
    }
    if (rank.stands && time >= this.horizon) return said(`stands still ${rank.stands}`, "stuck");
    const last = this.lastBegun(r, time);
    const after = last < 0 ? "" : ` after ${this.word("call", last)} at ${this.word("place", last)}`;
    return said(`computes${after}`, "computes", last);
  }

  lastBegun(r, time) {
    const [low, high] = [this.first[r], this.first[r + 1]];
    const k = lastUpTo(this.begin, time, low, high);
    return k < low ? -1 : k;
  }

  /** Is a message at its end, or may it still get there? */
  arrives(i) {
    const m = this.mate[i];
    return (m < 0 ? this.tree.live : this.done(m)) && !this.note[i];
  }

  /** The ranks that an operation waits for at a time, and why. */
  needs(i, time) {
    if (this.is(i, "message")) {
      const sends = this.word("op", i) === "send", m = this.mate[i], peer = this.peer[i];
      const who = peer < 0 ? "any rank" : `rank ${peer}`;
      const on = peer < 0 ? [] : [peer];
      if (m < 0 && !this.tree.live) return {on, why: sends ? `${who} never receives it` : `${who} never sends it`};
      if (m < 0 || this.begin[m] > time) return {on, why: sends ? `${who} does not receive yet` : `${who} has not sent yet`};
      return {on: [], why: "the message is on its way"};
    }
    if (this.band[i] < 0) return {on: [], why: ""};
    const {members} = this.tree.collectives[this.band[i]];
    const come = new Set(this.calls[this.band[i]].filter(j => this.begin[j] <= time).map(j => this.rank[j]));
    const on = members.filter(r => !come.has(r));
    return on.length ? {on, why: `${ranksText(on)} did not call it yet`} : {on, why: "all are there"};
  }

  /** What the tensor of rank `r` holds at a time, in words, as far as it was kept. */
  holds(r, time) {
    const k = lastUpTo(this.holdingTimes[r], time);
    if (k >= 0) {
      const one = this.holdings[r][k];
      return `${this.heldText(one)} ${one.when ? "after" : "in"} ${this.word("call", one.event)}`;
    }
    let i = this.lastBegun(r, time);
    while (i >= this.first[r] && !this.bytes[i]) i--;
    if (i < this.first[r]) return "";
    return `${this.carried(i)} in ${this.word("call", i)}`;
  }

  carried(i) {
    const value = Number.isNaN(this.value[i]) ? "" : `, begins with ${numberText(this.value[i])}`;
    const shape = this.word("shape", i);
    return this.bytes[i] || shape ? `${this.word("dtype", i)}, ${shapeText(shape)}${value}` : "";
  }

  meets(i) {
    const m = this.mate[i];
    if (m >= 0) return `${this.word("call", m)} of rank ${this.rank[m]} at ${this.word("place", m)}`;
    if (this.is(i, "message")) return this.is(i, "refused") ? "refused by torch" : "nothing";
    if (this.band[i] < 0) return "";
    const calls = this.calls[this.band[i]], {members} = this.tree.collectives[this.band[i]];
    const last = calls[calls.length - 1];
    return calls.length < members.length
      ? `${calls.length} of ${members.length} ranks` : `all; last to come: rank ${this.rank[last]}`;
  }

  /** All that is known of an operation, as [name, text]: for the pointer, the panel and the table. */
  facts(i) {
    const [before, after] = this.heldBy.get(i) || [null, null];
    const waits = this.until[i] - this.from[i], note = this.words[this.note[i]];
    const marks = [[IS.internal, "called by torch itself"], [IS.changed, "its buffer was changed before the send had finished"],
                   [IS.refused, "refused by torch"], [IS.gaveUp, "gave up: its own timeout had passed"]]
      .filter(([flag]) => this.flags[i] & flag).map(([, text]) => text);
    const pieces = this.pieces[i] > 1 ? `${this.pieces[i]} of ` : "";
    return [
      ["rank", String(this.rank[i])],
      ["operation", this.word("call", i)],
      ["line", this.word("place", i)],
      ["begins", duration(this.begin[i])],
      ["takes", this.state[i] === FAILED ? `${duration(this.ending(i) - this.begin[i])}, failed`
        : this.done(i) ? duration(this.ending(i) - this.begin[i]) : "never finished"],
      ["waits", Number.isNaN(waits) ? (this.is(i, "message") || this.is(i, "collective") ? "nobody waited for it" : "") : duration(waits)],
      ["meets", this.meets(i)],
      ["carries", this.bytes[i] || this.word("shape", i) ? `${pieces}${this.carried(i)} · ${sizeText(this.bytes[i])}` : ""],
      ["arguments", [this.word("reduction", i) && `op ${this.word("reduction", i)}`,
                     this.word("group", i) && `group of ranks ${this.word("group", i)}`,
                     this.is(i, "message") && this.tag[i] ? `tag ${this.tag[i]}` : ""].filter(Boolean).join(", ")],
      ["held before", this.heldText(before)],
      ["holds after", this.heldText(after)],
      ["remarks", [note, ...marks].filter(Boolean).join("; ")],
    ];
  }

  /** The lines around an operation's own, where its source is known: [number, text]. */
  source(i, around = 2) {
    const text = this.tree.sources[this.word("file", i)], line = this.line[i];
    const lines = text === undefined ? [] : text.split("\n");
    if (line < 1 || line > lines.length) return [];
    const first = Math.max(1, line - around);
    return lines.slice(first - 1, line + around).map((one, k) => [first + k, one]);
  }
}

function between(xs, ys, x) {
  const n = xs.length;
  if (x <= xs[0]) return ys[0];
  if (x >= xs[n - 1]) return ys[n - 1];
  const i = lastUpTo(xs, x);
  return ys[i] + (ys[i + 1] - ys[i]) * (x - xs[i]) / (xs[i + 1] - xs[i]);
}
