// Two runs, aligned by operation: whoever steps through one steps through the other.

const MOST_DIFFERENCES = 200; // rows

/** What `distlab.viz.comparison` tells: both runs, and which operations belong together. */
class Compared {
  constructor(tree, buffers) {
    const told = buffers || tree.columns;
    const column = spec => new KINDS[spec.type](bytesOf(told[spec.column]));
    this.tree = tree;
    this.runs = tree.runs.map(run => new Run(run, told));
    const [left, right] = tree.pairs.map(column);
    this.partner = this.runs.map(run => new Int32Array(run.count).fill(-1));
    left.forEach((i, k) => {
      if (i < 0 || right[k] < 0) return;
      this.partner[0][i] = right[k];
      this.partner[1][right[k]] = i;
    });
    this.ofRows = tree.of_rows.map(column);
  }
}

class CompareView {
  constructor(frame, compared) {
    const {tree} = compared, sides = tree.names.map(() => h("div", {class: "dl-side"}));
    this.compared = compared;
    this.said = h("p", {class: "dl-said", "aria-live": "polite"});
    this.root = h("div", {class: "dl dl-compare", role: "group", "aria-label": tree.names.join(" and ")},
      h("p", {class: "dl-summary"}, tree.summary), h("div", {class: "dl-both"}, ...sides), this.said,
      this.table("What differs", tree.head, tree.rows), h("details", {class: "dl-whole"}, h("summary", {}, "what each rank did with its time, in both runs"),
        scrolling("what each rank did with its time, in both runs", ["rank", "run", ...SHARES], tree.shares.map(row => row.map(cell => h("td", {}, cell))))));
    frame.append(this.root);
    this.views = compared.runs.map((run, k) => new View(sides[k], run));
    this.views.forEach((view, k) => { // both begin where they differ most
      const i = tree.rows.length ? compared.ofRows[k][0] : -1;
      if (i >= 0) view.goQuietly(view.run.callOf[i]);
      view.gone = () => this.follow(k);
    });
    this.follow(tree.rows.length && compared.ofRows[0][0] < 0 ? 1 : 0);
  }

  table(name, head, rows) {
    if (!rows.length) return null;
    const some = rows.slice(0, MOST_DIFFERENCES).map((row, number) => row.map((cell, column) =>
      h("td", {}, column === 1 ? h("button", {type: "button", "aria-label": `show ${cell} of rank ${row[0]} in both runs`, onclick: () => this.show(number)}, cell) : cell)));
    if (rows.length > some.length) some.push([h("td", {colspan: head.length}, `and ${rows.length - some.length} operations more`)]);
    return scrolling(name, head, some);
  }

  /** Both runs at the operation of a row of the table. */
  show(number) {
    this.views.forEach((view, k) => {
      const i = this.compared.ofRows[k][number];
      if (i >= 0) view.choose(i);
    });
    this.views[this.compared.ofRows[0][number] >= 0 ? 0 : 1].stage.scrollIntoView({block: "nearest", behavior: "instant"});
  }

  /** Bring the other run to the operation that run `k` is at. */
  follow(k) {
    const from = this.views[k], to = this.views[1 - k], i = from.event, names = this.compared.tree.names;
    if (i < 0) return;
    const other = this.compared.partner[k][i], call = from.run.word("call", i), rank = from.run.rank[i];
    if (other < 0) this.said.textContent = `rank ${rank}: ${call} is in ${names[k]} alone`;
    else {
      if (to.event !== other) to.goQuietly(to.run.callOf[other]);
      const took = [[from, i], [to, other]].map(([view, e]) => view.run.done(e) ? duration(view.run.ending(e) - view.run.begin[e]) : "never finished");
      this.said.textContent = `rank ${rank}: ${call}: ${names[k]} ${took[0]}, ${names[1 - k]} ${took[1]}`;
    }
  }
}

function scrolling(name, head, rows) {
  return h("div", {class: "dl-scrolls", tabindex: "0", role: "group", "aria-label": name},
    h("table", {}, h("caption", {}, name), headed(head), h("tbody", {}, ...rows.map(cells => h("tr", {}, ...cells)))));
}
