// The lab: draws what the core says, and asks it for what somebody wants to see. Nothing is learnt here. The core
// works in a worker, a slice at a time, so the page answers whatever it has to do.
"use strict";
const LAB_BEGUN = performance.now();
(() => {
const $ = (id) => document.getElementById("lab-" + id);
const root = document.getElementById("lab"), form = $("form"), plane = $("plane"), SIZE = 440, PAD = 14;
// Milliseconds: of the core at a time, of a picture in a run, and of one that somebody looks at.
const SLICE = 30, QUICK = 20, PATIENT = 4000;
const CLASSES = ["0 ●", "1 ■", "2 ▲"];
const state = { points: [], classes: [], t: 0, known: 0, epochs: 0, ended: true, k: 0, chosen: null, ready: false, running: false,
  // Of the plane's colours: cells on a side, the view that they show, and points that are wrong in a view.
  side: 0, coloured: null, wrong: null, counted: null };
const { number, pair, element, drawProof, tellProof, drawWeights, toSvg, save } = LAB_PICTURES;
// `walk`: what the proof compares in this run; `turned`: in that of the examples that turn.
let worker, view, margin, walk, turned, box, curve = [], newest = 0, busy = Promise.resolve(), cost = 2e-4;

// In the worker. A text goes into the core, JSON comes out.
function serve() {
  let core;
  const bytes = (at, n) => new Uint8Array(core.memory.buffer, at, n);
  function call(name, ...numbers) {
    const n = core[name](...numbers), said = JSON.parse(new TextDecoder().decode(bytes(core.output(), n)));
    if ("error" in said) throw new Error(said.error);
    return said.ok;
  }
  function withText(name, text) {
    const encoded = new TextEncoder().encode(text), at = core.input(encoded.length);
    bytes(at, encoded.length).set(encoded);
    return call(name);
  }
  const commands = {
    async load(letters) {
      const packed = new Blob([Uint8Array.from(atob(letters), (letter) => letter.charCodeAt(0))]);
      const binary = new Response(packed.stream().pipeThrough(new DecompressionStream("gzip")));
      core = (await WebAssembly.instantiate(await binary.arrayBuffer())).instance.exports;
    },
    open: (link) => withText("open", link),
    points: (link) => withText("points", link),
    // Epochs until there are so many examples, or the time is over.
    advance(t, time) {
      const until = performance.now() + time;
      let made;
      do made = call("epoch"); while (made.known < t && !made.ended && performance.now() < until);
      return made;
    },
  };
  onmessage = async ({ data: [name, ...values] }) => {
    const begun = performance.now();
    try {
      const ok = await (name in commands ? commands[name](...values) : call(name, ...values));
      postMessage({ ok, took: performance.now() - begun });
    } catch (error) {
      postMessage({ error: error.message, trapped: error instanceof WebAssembly.RuntimeError });
    }
  };
}
function post(...message) {
  return new Promise((resolve, reject) => {
    worker.onmessage = ({ data }) => {
      // The core has gone so far also where nobody waits for it any more.
      if (message[0] === "advance" && data.ok) {
        const { known, epochs, ended } = data.ok;
        Object.assign(state, { known, epochs, ended });
      }
      if ("error" in data) reject(Object.assign(new Error(data.error), data)); else resolve(data);
    };
    worker.onerror = (event) => reject(new Error(event.message));
    worker.postMessage(message);
  });
}

function say(text, isError = false) {
  $("status").textContent = text;
  $("status").classList.toggle("lab-error", isError);
}
// What somebody wants is done by `f`, which asks the core for it, one answer after the other. With the next wish
// it is given up between two of them.
const GIVEN_UP = Symbol("given up");
async function attempt(f) {
  const wish = ++newest;
  const check = (value) => { if (wish !== newest) throw GIVEN_UP; return value; };
  const send = async (message) => {
    while (true) {
      const before = busy;
      await before;
      check();
      if (before === busy) break;
    }
    const sent = post(...message);
    busy = sent.catch(() => {});
    return check(await sent);
  };
  setRunning(false);
  delete root.dataset.at;
  try {
    await f({
      send,
      ask: async (...message) => (await send(message)).ok,
      frame: () => new Promise(requestAnimationFrame).then(check),
      wait: (time) => new Promise((resolve) => setTimeout(resolve, time)).then(check),
    });
  } catch (error) {
    if (error === GIVEN_UP || wish !== newest) return;
    setRunning(false);
    fail(error.trapped ? "The core has stopped. Load the page anew." : error.message);
  }
}
function setRunning(isRunning) {
  const button = document.querySelector("[data-go=run]");
  state.running = isRunning;
  button.textContent = isRunning ? "Pause" : "Run";
  button.setAttribute("aria-pressed", String(isRunning));
}

// Points as text.
const signed = (v) => (v > 0 ? "+" : "−") + number(Math.abs(v));
const sign = (point) => state.classes.length === 2 ? (point.class === state.classes[1] ? "+" : "−") : CLASSES[point.class];

// The link: what the form says, and the place.
const fields = [...form.querySelectorAll("[name]")];
const defaults = Object.fromEntries(fields.map((field) => [field.name, field.value]));
function applies(field) {
  const label = field.closest("label");
  return ["data", "learner", "kernel"].every((name) =>
    !label.dataset[name] || label.dataset[name].split(" ").includes(form.elements[name].value));
}
function request() {
  for (const field of fields) field.closest("label").hidden = !applies(field);
  const said = fields.filter((field) => field.name !== "data" && applies(field)
    && field.value !== "" && field.value !== defaults[field.name]);
  const parts = [["data", form.elements.data.value], ...said.map((field) => [field.name, field.value.replace(/\s/g, "")])];
  if (form.elements.data.value === "own") {
    parts.push(["points", state.points.map(({ x, y, class: k }) => [x, y, k].join()).join(";")]);
  }
  return parts.map((part) => part.join("=")).join("&");
}
function decoded(hash) {
  try { return decodeURIComponent(hash); } catch { throw new Error("The link has a wrong %: part of it is missing."); }
}
async function readLink(job, hash) {
  const given = hash ? decoded(hash) : "data=six&intercept=no&tie=positive";
  const said = new Map(given.split("&").map((part) => part.split(/=(.*)/s)));
  for (const field of fields) field.value = said.get(field.name) ?? defaults[field.name];
  const wrong = fields.find((field) => said.has(field.name) && field.value !== said.get(field.name));
  const known = ["points", "t", "class", "turn", "embed", ...fields.map((field) => field.name)];
  const unknown = [...said.keys()].find((name) => !known.includes(name));
  const [t, k, turn] = ["t", "class", "turn"].map((name) => Number(said.get(name) ?? 0));
  const isWhole = (v) => Number.isSafeInteger(v) && v >= 0;
  Object.assign(state, { t: 0, k: isWhole(k) ? k : 0 });
  const embedded = said.get("embed");
  if (isWhole(turn)) $("turn").value = turn;
  if (embedded === undefined || pictures.has(embedded)) embed(embedded);
  const link = [...said].filter(([name]) => !["t", "class", "turn", "embed"].includes(name)).map((part) => part.join("=")).join("&");
  setPoints(await job.ask("points", link));
  fit();
  const fault = wrong?.name ?? unknown ?? (!isWhole(t) ? "t" : !isWhole(k) ? "class" : Number($("turn").value) !== turn ? "turn"
    : embedded !== undefined && !pictures.has(embedded) ? "embed" : undefined);
  if (fault !== undefined) return fail(`The link has a wrong ${fault}.`);
  return restart(job, t);
}
function writeLink() {
  const turn = $("turn").value === "0" ? "" : "&turn=" + $("turn").value, shown = $("picture").value;
  const place = "#" + request() + (state.t ? "&t=" + state.t : "") + (state.k ? "&class=" + state.k : "") + turn;
  const { embed: embedded } = root.dataset;
  history.replaceState(null, "", place + (embedded ? "&embed=" + embedded : ""));
  $("link").href = $("link").textContent = location.href;
  const address = `${location.href.split("#")[0]}${place}&embed=${shown}`.replaceAll("&", "&amp;").replaceAll('"', "&quot;");
  $("iframe").textContent = `<iframe src="${address}" title="The lab: ${pictures.get(shown)}" width="720" height="${shown === "plane" ? 1000 : 620}"></iframe>`;
}

// A run is made as far as somebody looks.
async function restart(job, t, tellOf = tell) {
  const link = request();
  state.ready = false;
  margin = walk = undefined;
  curve = [];
  const { points, classes } = await job.ask("open", link);
  setPoints(points);
  Object.assign(state, { classes, known: 0, epochs: 0, ended: false, ready: true });
  form.elements.n.placeholder = n();
  const planes = classes.length === 2 ? 0 : classes.length;
  $("plane-of").hidden = planes === 0;
  state.k = Math.min(state.k, Math.max(0, planes - 1));
  $("k").replaceChildren(...classes.slice(0, planes).map((k, i) => new Option(CLASSES[k], i, false, i === state.k)));
  say("");
  return go(job, t, tellOf);
}
// Of a link or points from which nothing can be learnt, the points alone are shown.
function fail(text) {
  if (text) say(text, true);
  state.ready = false;
  view = margin = walk = undefined;
  curve = [];
  state.classes = [...new Set(state.points.map((point) => point.class))].sort();
  $("regions").width = $("regions").height = 1;
  for (const name of ["code", "digest", "python-note", "bound", "margin"]) $(name).textContent = "";
  draw();
}
const advance = (job, t) => job.ask("advance", t, SLICE);
async function show(job, t) {
  view = await job.ask("view", t, state.k);
  Object.assign(state, { t, isTooDear: false });
  if (curve.length !== state.epochs) curve = await job.ask("curve");
  await compare(job);
  draw();
  root.dataset.first ??= Math.round(performance.now() - LAB_BEGUN);
}
// What the proof compares: only the mistakes that are not known yet are asked for.
async function compare(job) {
  const u = margin?.u ?? [];
  walk ??= { t: 0, w: [], squares: [], progress: [] };
  if (!isLinear() || walk.t >= state.t) return;
  const more = await job.ask("lengths", state.t, state.k, walk.w.length, u.length, u[0] ?? 0, u[1] ?? 0, u[2] ?? 0);
  for (const name of ["w", "squares", "progress"]) walk[name].push(...more[name]);
  walk.t = state.t;
}
async function turn(job) {
  const count = Number($("turn").value);
  if (turned?.count !== count) turned = { count, ...await job.ask("turned", count) };
  drawTurned();
}
// Goes to a place. On a long way there are pictures: two a second, or more where they take less than a fourth of
// the time.
async function go(job, t, tellOf = tell) {
  let next = performance.now() + 100;
  while (state.known < t && !state.ended) {
    await advance(job, t);
    if (state.known >= t || state.ended) break;
    state.t = state.known;
    setRunning(true);
    say(`Epoch ${state.epochs} …`);
    const begun = performance.now();
    if (begun < next) continue;
    await show(job, state.t);
    await regions(job, QUICK);
    await job.frame();
    next = performance.now() + Math.min(500, 3 * (performance.now() - begun));
  }
  setRunning(false);
  await show(job, Math.min(t, state.known));
  tellOf();
  return rest(job);
}
// What is dear is shown when nothing has changed for a moment.
async function rest(job) {
  await job.wait(60);
  if (!margin) {
    margin = await job.ask("margin", state.k);
    walk = undefined;
    await compare(job);
    draw();
  }
  await turn(job);
  await regions(job, 300);
  const { code, t, digest } = await job.ask("report", state.t);
  $("code").textContent = code;
  $("code").classList.toggle("lab-long", code.length > 8000);
  $("digest").textContent = digest ?? "– (nothing is learnt yet)";
  $("python-note").textContent = t === state.t ? ""
    : `No call of Python ends at this example: code and digest are those after ${t} examples, at the end of an epoch.`;
  writeLink();
  root.dataset.at = state.t;
  return regions(job, PATIENT);
}
const n = () => state.points.length;
async function next(job, unit) {
  if (unit === "epoch") return (Math.floor(state.t / n()) + 1) * n();
  if (unit === "example") return state.t + 1;
  let found = await job.ask("update", state.t, 1);
  while (found === null && !state.ended) {
    await advance(job, state.known + 1);
    found = await job.ask("update", state.t, 1);
  }
  return found ?? state.known;
}
async function before(job, unit) {
  if (unit === "epoch") return Math.max(0, (Math.ceil(state.t / n()) - 1) * n());
  return unit === "example" ? Math.max(0, state.t - 1) : await job.ask("update", state.t, 0) ?? 0;
}
async function run(job) {
  setRunning(true);
  let last = -Infinity;
  while (!atEnd()) {
    const speed = Number($("speed").value), now = await job.frame();
    if (speed && now - last < 1000 / speed) continue;
    last = now;
    const until = performance.now() + SLICE;
    do {
      const t = await next(job, $("unit").value);
      while (state.known < t && !state.ended) await advance(job, t);
      state.t = Math.min(t, state.known);
    } while (!speed && performance.now() < until && !atEnd());
    await show(job, state.t);
    await regions(job, QUICK);
  }
  return go(job, state.t);
}
const atEnd = () => state.ended && state.t >= state.known;
const steps = {
  start: (job) => go(job, 0),
  back: async (job) => go(job, await before(job, $("unit").value)),
  step: async (job) => go(job, await next(job, $("unit").value)),
  end: (job) => go(job, Infinity),
  run,
  pause: (job) => go(job, state.t),
};

// What is said of a step.
function tell() {
  if (!view) return;
  const row = view.table.find((other) => other.t === view.t);
  let text = "At the start.";
  if (row) {
    text = `Example ${view.t}, point ${row.point + 1} at ${pair(row.x)} with y = ${signed(row.y)}: a = ${number(row.a)}, `
      + (row.mistake ? "a mistake." : "no mistake.");
  }
  if (atEnd()) {
    const made = curve.length ? curve[curve.length - 1].reduce((a, b) => a + b, 0) : 0;
    text += made === 0 && form.elements.learner.value !== "multilayer" ? ` The run has ended: epoch ${state.epochs} made no mistake.`
      : ` The run has ended after ${state.epochs} epochs; the last one made ${made} ${made === 1 ? "mistake" : "mistakes"}.`;
  }
  say(text);
}

// The plane.
function fit() {
  const xs = state.points.map((p) => p.x), ys = state.points.map((p) => p.y);
  const [left, right, low, high] = [Math.min(0, ...xs), Math.max(0, ...xs), Math.min(0, ...ys), Math.max(0, ...ys)];
  const span = Math.max(right - left, high - low, 1) * 1.4;
  box = { left: (left + right - span) / 2, top: (low + high + span) / 2, span };
}
const atX = (x) => (x - box.left) / box.span * SIZE;
const atY = (y) => (box.top - y) / box.span * SIZE;
const isIn = (x, y) => x >= -PAD && y >= -PAD && x <= SIZE + PAD && y <= SIZE + PAD;
// The part of w . x + b = 0 that is in the picture.
function lineOf([w1, w2, b], attributes) {
  const size = Math.hypot(w1, w2);
  if (!size) return [];
  const cx = box.left + box.span / 2, cy = box.top - box.span / 2, far = box.span;
  const off = (w1 * cx + w2 * cy + b) / size, ux = w1 / size, uy = w2 / size;
  if (Math.abs(off) > far) return [];
  const [px, py] = [cx - off * ux, cy - off * uy];
  return [element("line", { x1: atX(px - far * uy), y1: atY(py + far * ux), x2: atX(px + far * uy), y2: atY(py - far * ux), ...attributes })];
}
function normalOf([w1, w2, b], k) {
  const size = Math.hypot(w1, w2);
  if (!size) return [];
  const cx = box.left + box.span / 2, cy = box.top - box.span / 2;
  const off = (w1 * cx + w2 * cy + b) / size, [ux, uy] = [w1 / size, w2 / size];
  const [x, y] = [atX(cx - off * ux), atY(cy - off * uy)];
  if (!isIn(x, y)) return [];
  const [tx, ty] = [x + 46 * ux, y - 46 * uy], [hx, hy] = [tx - 9 * ux, ty + 9 * uy];
  return [element("path", { class: "k" + k, fill: "none", "stroke-width": 2.5,
    d: `M${x} ${y}L${tx} ${ty}M${hx + 5 * uy} ${hy + 5 * ux}L${tx} ${ty}L${hx - 5 * uy} ${hy - 5 * ux}` }),
    element("text", { x: tx + 8 * ux - 4, y: ty - 8 * uy + 4 }, "w")];
}
function shape(point, i) {
  const [x, y, r] = [atX(point.x), atY(point.y), n() > 300 ? 3 : 7], k = point.class;
  const attributes = { class: "point k" + k, "data-i": i };
  if (k === 0) return element("circle", { cx: x, cy: y, r, ...attributes });
  if (k === 1) return element("rect", { x: x - r, y: y - r, width: 2 * r, height: 2 * r, ...attributes });
  return element("path", { d: `M${x} ${y - r - 1}L${x + r + 1} ${y + r}H${x - r - 1}Z`, ...attributes });
}
const drawn = {};  // the points, which are many and seldom change
function draw() {
  if (!box) return;
  const parts = [element("path", { class: "axis", d: `M0 ${atY(0)}H${SIZE}M${atX(0)} 0V${SIZE}` })];
  const step = 10 ** Math.floor(Math.log10(box.span / 3)), every = box.span / step > 8 ? 2 * step : step;
  for (let v = Math.ceil(box.left / every) * every; v < box.left + box.span; v += every) {
    if (Math.abs(v) > every / 2) parts.push(element("text", { x: atX(v) + 2, y: SIZE - 4 }, number(v)));
  }
  for (let v = Math.ceil((box.top - box.span) / every) * every; v < box.top; v += every) {
    if (Math.abs(v) > every / 2 && atY(v) < SIZE - 20) parts.push(element("text", { x: 2, y: atY(v) - 2 }, number(v)));
  }
  const learner = form.elements.learner.value, two = state.classes.length === 2;
  (view?.planes ?? []).forEach(({ w, b, predicts, margin: gap }, i) => {
    const k = two ? 1 : state.classes[i];
    if (learner !== "perceptron" && learner !== "voted") parts.push(...lineOf([...w, b], { class: "learns k" + k }));
    if (learner !== "voted") parts.push(...lineOf(predicts, { class: "plane-line k" + k }), ...normalOf(predicts, k));
    else parts.push(...lineOf([...w, b], { class: "learns k" + k }));
    if (gap !== null && i === state.k) {
      const size = Math.hypot(predicts[0], predicts[1]) * gap;
      for (const side of [size, -size]) {
        parts.push(...lineOf([predicts[0], predicts[1], predicts[2] + side], { class: "band k" + k }));
      }
    }
  });
  if ($("largest").checked && margin?.plane) parts.push(...lineOf(margin.plane, { class: "largest" }));
  const alpha = view && n() <= 300 ? view.alpha : [];
  if (drawn.points !== state.points || drawn.box !== box) {
    plane.replaceChildren(...state.points.map(shape));
    Object.assign(drawn, { points: state.points, box });
  }
  const most = Math.max(1, ...alpha);
  alpha.forEach((count, i) => {
    if (count) parts.push(element("circle", { class: "ring", cx: atX(state.points[i].x), cy: atY(state.points[i].y),
      r: 9, "stroke-opacity": .25 + .75 * count / most, "pointer-events": "none" }));
  });
  const ring = (i, kind, r) => {
    const point = state.points[i];
    if (point) parts.push(element("circle", { class: kind, cx: atX(point.x), cy: atY(point.y), r, "pointer-events": "none" }));
  };
  if (view) { ring(view.visited, "ring visited", 13); ring(view.next, "ring next", 13); }
  ring(state.chosen, "chosen", 17);
  $("lines").replaceChildren(...parts);
  $("legend").textContent = (two ? "Circles are −, squares +." : "Circles, squares and triangles are the classes.")
    + " Thick ring: the last example; dashed ring: the next one; thin rings: examples with mistakes."
    + (learner === "averaged" ? " Dashed line: the last weights; solid line: their average."
      : learner === "pocket" ? " Dashed line: the last weights; solid line: those in the pocket."
      : learner === "voted" ? " Dashed line: the last vector; colours: what all of them vote for." : "");
  drawTable();
  drawQuestion();
  drawCurve();
  drawTexts();
  drawRun();
}
// The proof and the space of weights, as far as the run has come.
function drawRun() {
  const made = view ? Math.min(view.alpha.reduce((a, b) => a + b, 0), walk?.w.length ?? 0) : 0, isShown = isLinear() && !!view;
  const until = (values) => isShown ? (values ?? []).slice(0, made) : [];
  const lengths = { ...margin, squares: until(walk?.squares), progress: until(walk?.progress) };
  drawProof($("proof"), lengths);
  $("inequalities").textContent = !isLinear() ? "The proof compares weights; this learner shows none."
    : tellProof(lengths) || (view && margin ? "There is no bound here: the points must be separable, and the run must start from 0." : "");
  const positive = state.classes[state.classes.length === 2 ? 1 : state.k];
  const examples = isShown ? state.points.map((point) => ({ x: [point.x, point.y], k: point.class, sign: point.class === positive ? 1 : -1 })) : [];
  const hasCone = drawWeights($("weights"), { examples, walk: until(walk?.w), next: view?.next,
    isPlus: form.elements.tie.value === "positive" });
  if (!isShown) for (const name of ["proof", "weights"]) $(name).replaceChildren();
  const b = walk?.w[made - 1]?.[2] ?? 0;
  $("cone").textContent = !isShown ? "" : (hasIntercept() ? `The cut at b = ${number(b)}: with an intercept, a place has three numbers. ` : "")
    + (hasCone ? "In the shaded cone all examples are correct." : "In this picture no place is right for all examples.");
}
function drawTurned() {
  const lengths = { ...turned.margin, ...turned.lengths };
  drawProof($("turned"), lengths);
  $("turned-text").textContent = `${turned.count} of 20 examples are orthogonal. ${tellProof(lengths)}`;
}
// Colours of what is predicted, and how many points are wrong: with as many cells as the core can do in this time.
async function regions(job, budget) {
  const learner = form.elements.learner.value;
  const vectors = learner === "voted" || learner === "kernel" ? view.mistakes + 1 : 1;
  const most = () => Math.min(110, Math.floor(Math.sqrt(budget / (cost * vectors))));
  if (state.coloured !== view) Object.assign(state, { coloured: view, side: 0 });
  // The classes of some places, in slices.
  const classes = async (side, from, to) => {
    const step = box.span / side, parts = [];
    for (let i = from; i < to;) {
      const count = Math.min(to - i, Math.max(1, Math.floor(SLICE / (cost * vectors))));
      const place = [box.left + step / 2, box.top - step / 2, step];
      const { ok, took } = await job.send(["classes", state.t, side, ...place, i, count]);
      const each = took / (count * vectors);
      cost = each > cost ? each : (3 * cost + each) / 4;
      parts.push(ok);
      i += count;
    }
    return parts.join("");
  };
  const side = most();
  if (side >= 12 && side >= 1.5 * state.side) {
    paint(side, await classes(side, 0, side * side));
    state.side = side;
  }
  if (!state.side) $("regions").width = $("regions").height = 1;
  if (state.counted !== view && n() <= most() ** 2) {
    const said = await classes(1, 1, 1 + n());
    const wrong = state.points.filter((point, i) => point.class !== Number(said[i])).length;
    Object.assign(state, { wrong, counted: view });
  }
  state.isTooDear = budget === PATIENT && !state.side;
  drawPlace();
}
function paint(side, classes) {
  const canvas = $("regions"), picture = new ImageData(side, side), style = getComputedStyle(root);
  canvas.width = canvas.height = side;
  const colours = ["--neg", "--pos", "--third"].map((name) => parseInt(style.getPropertyValue(name).trim().slice(1), 16));
  for (let i = 0; i < side * side; i++) {
    const colour = colours[classes[i]];
    picture.data.set([colour >> 16, colour >> 8 & 255, colour & 255, 255], 4 * i);
  }
  canvas.getContext("2d").putImageData(picture, 0, 0);
}

// Predict, then reveal: the next example is a question, and the core says what it does.
const score = { right: 0, asked: 0 };
// Digits of numbers that somebody calculates with: what is typed must be as exact.
const EXACT = 12, exact = (v) => number(v, EXACT);
const isAsked = () => $("asks").checked && isLinear();
function drawQuestion() {
  const row = view?.table.find((other) => other.next), open = isAsked() && !!row;
  $("ask").hidden = !isLinear();
  $("question").hidden = !open;
  $("new").hidden = $("said").value === "no";
  $("with-b").hidden = !hasIntercept();
  // A blank is no answer; what is hidden may stay blank.
  for (const name of ["w1", "w2", "b"]) $(name).required = open && !$("new").hidden && (name !== "b" || hasIntercept());
  if (!open) return;
  $("next").textContent = `Example ${row.t}: w = ${pair(row.w.slice(0, 2), EXACT)}, b = ${exact(row.w[2])}, x = ${pair(row.x, EXACT)}, y = ${signed(row.y)}. `;
}
function explain({ row, after, right }) {
  const [w1, w2, b] = row.w, sum = `${exact(w1)} · ${exact(row.x[0])} + ${exact(w2)} · ${exact(row.x[1])}${hasIntercept() ? ` + ${exact(b)}` : ""}`;
  const rule = row.mistake ? "so it is a mistake" : "so it is no mistake";
  const tie = row.a === 0 ? ` (a = 0 is ${form.elements.tie.value === "positive" ? "predicted +" : "always a mistake"})` : "";
  const rate = Number(form.elements.rate.value), step = rate === 1 ? "" : `${number(rate)} · `;
  const moved = row.mistake ? `: w = ${pair([w1, w2], EXACT)} ${row.y > 0 ? "+" : "−"} ${step}${pair(row.x, EXACT)} = ${pair(after.slice(0, 2), EXACT)}${hasIntercept() ? `, b = ${exact(after[2])}` : ""}` : "";
  return `${right ? "Right" : "Not so"}: a = ${sum} = ${exact(row.a)}, y a = ${exact(row.ya)}${tie}, ${rule}${moved}. ${score.right} of ${score.asked} right.`;
}
$("asks").addEventListener("change", () => { drawTable(); drawQuestion(); });
$("said").addEventListener("change", drawQuestion);
$("ask").addEventListener("submit", (event) => {
  event.preventDefault();
  if (!state.ready || !isAsked()) return;
  const said = $("said").value === "yes", typed = ["w1", "w2", "b"].map((name) => name === "b" && !hasIntercept() ? 0 : Number($(name).value));
  attempt(async (job) => {
    while (state.known <= state.t && !state.ended) await advance(job, state.t + 1);
    if (atEnd()) return go(job, state.t);
    const found = await job.ask("check", state.t, state.k, said ? 1 : 0, ...typed);
    score.asked++;
    score.right += found.right ? 1 : 0;
    await go(job, state.t + 1);
    $("verdict").textContent = explain(found);
  });
});

// Beside the plane.
function drawTable() {
  const body = $("table").tBodies[0];
  $("table").classList.toggle("lab-no-weights", !isLinear());
  body.replaceChildren(...(view?.table ?? []).map((row) => {
    const tr = document.createElement("tr");
    tr.className = row.next ? "lab-next" : row.mistake ? "lab-mistake" : "";
    const w = row.w ? [pair(row.w.slice(0, 2)), number(row.w[2])] : ["", ""];
    const mistake = row.next ? "next" : row.mistake ? "yes" : "no";
    const found = row.next && isAsked() ? ["?", "?"] : [number(row.a), number(row.ya)];
    for (const text of [row.t, pair(row.x), signed(row.y), ...w, ...found, mistake]) {
      tr.insertCell().textContent = text;
    }
    return tr;
  }));
}
function drawCurve() {
  const svg = $("curve"), [W, H, left, base] = [440, 150, 34, 130];
  const made = curve.map((planes) => planes.length > 1 ? planes[state.k] : planes[0]);
  const shown = Math.max(10, made.length), wide = (W - left - 6) / shown;
  const totals = made.reduce((all, m) => { all.push((all[all.length - 1] ?? 0) + m); return all; }, []);
  const total = totals[totals.length - 1] ?? 0, bound = margin?.bound ?? null;
  const top = Math.max(1, total, bound !== null && bound < 4 * Math.max(total, 1) ? bound : 0);
  const high = (m) => base - m / top * (base - 12), most = Math.max(1, ...made);
  const bar = (m) => base - m / most * (base - 12);
  const parts = [element("path", { class: "axis", d: `M${left} 12V${base}H${W}` }),
    element("text", { x: 2, y: 20 }, number(most)), element("text", { x: 2, y: base }, "0"),
    element("text", { x: left, y: H - 4 }, "epoch 1"), element("text", { x: W - 4, y: H - 4, "text-anchor": "end" }, String(shown))];
  const epochNow = view ? Math.ceil(view.t / n()) : 0;
  const bars = (from, to, kind) => {
    const d = made.slice(from, to).map((m, i) => `M${left + (from + i) * wide} ${base}V${bar(m)}h${Math.max(.5, wide * .85)}V${base}Z`);
    parts.push(element("path", { class: "bar " + kind, d: d.join("") }));
  };
  bars(0, epochNow, "");
  bars(epochNow, made.length, "later");
  if (made.length) {
    parts.push(element("path", { class: "total", d: totals.map((m, i) => `${i ? "L" : "M"}${left + (i + .5) * wide} ${high(m)}`).join("") }));
    parts.push(element("text", { x: Math.min(W - 50, left + made.length * wide + 2), y: Math.max(22, high(total) + 12) }, `${total} in all`));
    if (bound !== null && bound <= top) {
      parts.push(element("line", { class: "limit", x1: left, x2: W, y1: high(bound), y2: high(bound) }),
        element("text", { x: W - 4, y: high(bound) - 3, "text-anchor": "end" }, "(R/γ)²"));
    }
  }
  svg.replaceChildren(...parts);
  const sum = (values) => values.reduce((a, b) => a + b, 0);
  let text = made.length ? `${sum(made)} ${sum(made) === 1 ? "mistake" : "mistakes"} in ${made.length} ${made.length === 1 ? "epoch" : "epochs"}: bars for each epoch, the curve in all. ` : "";
  if (bound !== null) text += `${hasIntercept() ? "Of the longer vectors (x, 1) and (w, b): with" : "With"} R² = ${number(margin.squared)} and γ = ${number(Math.sqrt(margin.squared / bound))}${hasIntercept() ? ', which is max_margin(X, y, bias="augmented") and no distance in the plane' : ""}, the theorem allows (R/γ)² = ${number(bound)}: at most ${Math.floor(bound).toLocaleString("en")} mistakes.`;
  else if (!isLinear()) text += "The theorem's bound is for lines.";
  else if (margin && margin.status === "non_separable") text += `No line${lines()} separates the points, so there is no bound on the mistakes: without a limit of epochs, the run never ends.`;
  else if (margin) text += "The theorem bounds the mistakes of a perceptron that starts from 0.";
  $("bound").textContent = (made.length && state.classes.length > 2 && curve[0].length > 1 ? `Class ${CLASSES[state.classes[state.k]]}: ` : "") + text;
}
const hasIntercept = () => form.elements.intercept.value === "yes";
// Which lines there are without an intercept.
const lines = () => form.elements.intercept.value === "no" && applies(form.elements.intercept) ? " through the origin" : "";
const isLinear = () => !["kernel", "multilayer"].includes(form.elements.learner.value);
function drawPlace() {
  if (!view) { $("place").textContent = ""; return; }
  const of = state.ended ? ` of ${state.known.toLocaleString("en")}` : "";
  const wrong = state.isTooDear ? " Too many vectors predict for the plane to be coloured quickly."
    : state.counted !== view && !state.running || state.wrong === null ? "" : ` What predicts gets ${state.wrong} of ${n()} points wrong.`;
  const line = view.planes[state.k], w = line ? ` w = ${pair(line.w)}, b = ${number(line.b)}.` : "";
  const mean = line && ["averaged", "pocket"].includes(form.elements.learner.value)
    ? ` Predicting: w = ${pair(line.predicts.slice(0, 2))}, b = ${number(line.predicts[2])}.` : "";
  $("place").textContent = `After ${view.t.toLocaleString("en")}${of} examples, in epoch ${Math.ceil(view.t / n()) || 1}: `
    + `${view.mistakes.toLocaleString("en")} ${view.mistakes === 1 ? "mistake" : "mistakes"} so far, ${view.mistakes_of_epoch} in this epoch.` + w + mean + wrong;
}
function drawTexts() {
  drawPlace();
  const gap = view?.planes[state.k]?.margin;
  let text = gap !== null && gap !== undefined ? `This line separates the points, with a margin of ${number(gap)}. ` : "";
  const labels = state.classes.length === 2 ? "y" : `[k == ${state.classes[state.k]} for k in y]`;
  const asked = labels + (lines() && ', bias="none"');
  if (margin?.status === "separable") {
    text += `The largest margin of any line${lines()}, a distance in the plane, is certain: ${margin.lower} ≤ margin ≤ ${margin.upper}, as max_margin(X, ${asked}) has it in Python.`;
  } else if (margin?.status === "non_separable") {
    const weight = (i) => { const point = state.points[margin.support[i]]; return `${number(margin.weights[i])} · ${pair([point.x, point.y])}`; };
    const of = (positive) => margin.support.map((_, i) => i).filter((i) => (state.points[margin.support[i]].class === state.classes[state.classes.length === 2 ? 1 : state.k]) === positive);
    text += lines()
      ? "No line through the origin separates the points: that is proven."
      : `No line separates the points: both classes have one point in common, ${of(true).map(weight).join(" + ")} = ${of(false).map(weight).join(" + ")}.`;
  } else if (margin) text += `The largest margin is not decided${margin.upper === null ? "" : `: it is at most ${number(margin.upper)}`}.`;
  $("margin").textContent = text;
  drawSum();
}
function drawSum() {
  const alpha = view?.alpha ?? [], some = alpha.map((count, i) => [count, i]).filter(([count]) => count).sort((a, b) => b[0] - a[0] || a[1] - b[1]);
  const learner = form.elements.learner.value;
  if (learner === "multilayer") { $("sum").textContent = "The weights of layers are no sum of their examples."; return; }
  const positive = state.classes[state.classes.length === 2 ? 1 : state.k];
  const rate = form.elements.rate.value === "1" ? "" : `${form.elements.rate.value} · `;
  const term = ([count, i]) => {
    const point = state.points[i], y = point.class === positive ? "+" : "−", times = count === 1 ? "" : `${count} · `;
    return learner === "kernel" ? ` ${y} ${rate}${times}K(${pair([point.x, point.y])}, x)` : ` ${y} ${rate}${times}${pair([point.x, point.y])}`;
  };
  const start = learner !== "kernel" && form.elements.start.value !== "0,0,0" ? " start" : "";
  const more = some.length > 12 ? ` … and ${some.length - 12} points more` : "";
  const sum = (start + some.slice(0, 12).map(term).join("")).replace(/^ \+/, "") || " 0";
  $("sum").textContent = (learner === "kernel" ? "f(x) =" : "w =") + sum + more + ". Each point counts as often as it was a mistake, with the sign of its class.";
}

// Points that somebody moves. Until the core has answered, they are shown with the line of before.
function setPoints(points) {
  if (points.length !== n()) view = undefined;
  state.points = points;
}
function change(points, chosen = state.chosen) {
  setPoints(points);
  state.chosen = chosen;
  draw();
  form.elements.data.value = "own";
  form.elements.n.value = "";
  attempt((job) => restart(job, state.t, () => { tell(); tellPoint(); }));
}
const rounded = (v) => Math.round(v * 100) / 100 + 0;
function move(i, x, y) {
  change(state.points.map((point, j) => j === i ? { ...point, x: rounded(x), y: rounded(y) } : point), i);
}
function add(x, y) {
  change([...state.points, { x: rounded(x), y: rounded(y), class: Number($("class").value) }], state.points.length);
}
function remove() {
  if (state.chosen === null) return say("Choose a point first: click it, or press Page Down in the plane.");
  change(state.points.filter((_, i) => i !== state.chosen), null);
}
function tellPoint() {
  const point = state.points[state.chosen];
  if (point) say(`Point ${state.chosen + 1} of ${n()} at ${pair([point.x, point.y])}, class ${sign(point)}.`);
}
function place(event) {
  const frame = plane.getBoundingClientRect();
  return [box.left + (event.clientX - frame.left) / frame.width * box.span, box.top - (event.clientY - frame.top) / frame.height * box.span];
}
let dragged = null, last = null;
plane.addEventListener("pointerdown", (event) => {
  const hit = event.target.dataset.i;
  if (hit === undefined) { add(...place(event)); } else { state.chosen = Number(hit); draw(); }
  tellPoint();
  [dragged, last] = [state.chosen, event];
  plane.setPointerCapture(event.pointerId);
});
plane.addEventListener("pointermove", (event) => {
  const isMoved = last && (event.clientX !== last.clientX || event.clientY !== last.clientY);
  if (dragged !== null && event.buttons && isMoved) move(dragged, ...place(event));
  last = event;
});
for (const end of ["pointerup", "pointercancel"]) plane.addEventListener(end, () => { dragged = null; });
plane.addEventListener("keydown", (event) => {
  const point = state.points[state.chosen], far = box.span / (event.shiftKey ? 10 : 100);
  const ways = { ArrowLeft: [-far, 0], ArrowRight: [far, 0], ArrowUp: [0, far], ArrowDown: [0, -far] };
  if (event.key === "PageDown" || event.key === "PageUp") {
    const by = event.key === "PageDown" ? 1 : n() - 1;
    if (n()) state.chosen = state.chosen === null ? (by === 1 ? 0 : n() - 1) : (state.chosen + by) % n();
    draw();
  } else if (point && event.key in ways) move(state.chosen, point.x + ways[event.key][0], point.y + ways[event.key][1]);
  else if (point && "012".includes(event.key)) {
    change(state.points.map((other, i) => i === state.chosen ? { ...other, class: Number(event.key) } : other));
  } else if (event.key === "Delete" || event.key === "Backspace") remove();
  else if (event.key === "Enter") add(box.left + box.span / 2, box.top - box.span / 2);
  else if (event.key === "Escape") { state.chosen = null; draw(); } else return;
  event.preventDefault();
  tellPoint();
});
$("add").addEventListener("click", () => { add(Number($("x").value), Number($("y").value)); fit(); draw(); });
$("delete").addEventListener("click", remove);
$("clear").addEventListener("click", () => { change([], null); });

// All else that somebody does.
document.querySelectorAll("[data-go]").forEach((button) => button.addEventListener("click", () => {
  if (state.ready) attempt(steps[state.running && button.dataset.go === "run" ? "pause" : button.dataset.go]);
}));
form.addEventListener("submit", (event) => event.preventDefault());
form.addEventListener("change", (event) => {
  if (!event.target.name) return;
  if (event.target.value === "") event.target.value = defaults[event.target.name];
  const isData = event.target.name === "data", isDrawn = event.target.value !== "own";
  if (isData) {
    state.chosen = null;
    form.elements.n.value = "";
  }
  attempt(async (job) => {
    if ((isData && isDrawn) || event.target.name === "n") {
      setPoints(await job.ask("points", request()));
      fit();
    }
    return restart(job, isData || event.target.name === "n" ? 0 : state.t);
  });
});
$("k").addEventListener("change", (event) => {
  state.k = Number(event.target.value);
  margin = walk = undefined;
  if (state.ready) attempt((job) => go(job, state.t));
});
$("largest").addEventListener("change", draw);
$("turn").addEventListener("input", () => attempt(async (job) => {
  await turn(job);
  if (state.ready) return go(job, state.t);
}));

// For a lecture: one picture as a file, or as a page within another.
const pictures = new Map([...$("picture").options].map((option) => [option.value, option.text]));
function embed(name) {
  if (name) root.dataset.embed = name; else delete root.dataset.embed;
  document.documentElement.classList.toggle("lab-embedded", !!name);
  const kept = !name ? [] : [...root.querySelectorAll(`[data-picture=${name}], #lab-status` + (name === "turned" ? "" : ", .lab-steps"))];
  for (const e of document.body.querySelectorAll("*")) {
    e.classList.toggle("lab-left-out", !!name && !kept.some((other) => other.contains(e) || e.contains(other)));
  }
}
$("picture").addEventListener("change", () => { if (state.ready) writeLink(); });
$("save").addEventListener("click", () => {
  const name = $("picture").value, isPlane = name === "plane";
  save(toSvg(isPlane ? [$("lines"), plane] : [$(name)], isPlane && $("regions"), pictures.get(name)), `perceptron-${name}.svg`);
  say("Saved.");
});
document.querySelectorAll("[data-copy]").forEach((button) => button.addEventListener("click", async () => {
  const from = document.getElementById(button.dataset.copy), text = from.textContent;
  try { await navigator.clipboard.writeText(text); say("Copied."); } catch { getSelection().selectAllChildren(from); }
}));
window.addEventListener("hashchange", () => {
  state.chosen = null;
  attempt((job) => readLink(job, location.hash.slice(1)));
});

if (typeof LAB_CORE === "undefined") return say("The core is not here: `make lab` builds it.", true);
worker = new Worker(URL.createObjectURL(new Blob([`(${serve})()`], { type: "text/javascript" })));
attempt(async (job) => {
  await job.ask("load", LAB_CORE);
  return readLink(job, location.hash.slice(1));
});
})();
