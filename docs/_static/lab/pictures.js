// What the lab draws from numbers alone: the proof, the space of weights; and pictures as files.
"use strict";
const LAB_PICTURES = (() => {
const W = 440, H = 260, LEFT = 34, BASE = 232, SIDE = 440;
const number = (v, digits = 5) => v === null ? "" : String(Number(v.toPrecision(digits))).replace("-", "−");
const pair = (v, digits) => "(" + v.map((x) => number(x, digits)).join(", ") + ")";
function element(name, attributes, text) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  return made;
}
const path = (points) => points.map(([x, y], i) => `${i ? "L" : "M"}${x.toFixed(2)} ${y.toFixed(2)}`).join("");

// After k mistakes, k from 0: the two lengths of the run, and the two that enclose them as far as these meet.
function drawProof(svg, { bound, gamma, squared, squares, progress }) {
  const hasBound = typeof bound === "number", most = Math.max(1, squares.length, hasBound ? bound : 0);
  const high = Math.max(1e-300, hasBound ? Math.sqrt(most * squared) : 0, ...squares.map(Math.sqrt));
  const x = (k) => LEFT + k / most * (W - LEFT - 8), y = (v) => BASE - v / high * (BASE - 14);
  const run = (values) => path([0, ...values].map((v, k) => [x(k), y(v)]));
  const parts = [element("path", { class: "axis", d: `M${LEFT} 8V${BASE}H${W}` }),
    element("text", { x: 2, y: 18 }, number(high)), element("text", { x: LEFT - 10, y: BASE }, "0"),
    element("text", { x: LEFT, y: H - 8 }, "k = 0"),
    element("text", { x: W - 4, y: H - 8, "text-anchor": "end" }, hasBound ? `(R/γ)² = ${number(bound)}` : String(most))];
  if (hasBound) {
    const root = Array.from({ length: 61 }, (_, i) => most * (i / 60) ** 2);
    parts.push(element("path", { class: "limit most", fill: "none", d: path(root.map((k) => [x(k), y(Math.sqrt(k * squared))])) }),
      element("path", { class: "limit least", d: path([[x(0), y(0)], [x(most), y(most * gamma)]]) }),
      element("text", { x: x(most * .3), y: y(Math.sqrt(most * .3 * squared)) - 8, "text-anchor": "end" }, "√k R"),
      element("text", { x: x(most * .7), y: y(most * .7 * gamma) + 18 }, "k γ"));
  }
  parts.push(element("path", { class: "norm", d: run(squares.map(Math.sqrt)) }));
  if (progress.length) parts.push(element("path", { class: "progress", d: run(progress) }));
  if (squares.length <= 200) {
    squares.forEach((v, i) => parts.push(element("circle", { class: "norm-point", cx: x(i + 1), cy: y(Math.sqrt(v)), r: 3.5 })));
    progress.forEach((v, i) => parts.push(element("rect", { class: "progress-point", x: x(i + 1) - 3, y: y(v) - 3, width: 6, height: 6 })));
  }
  svg.replaceChildren(...parts);
}
function tellProof({ bound, gamma, squared, squares, progress }) {
  const k = squares.length, most = Math.floor(bound);
  if (typeof bound !== "number") return "";
  if (!k || !progress.length) return `No mistake yet, of at most ${most.toLocaleString("en")}.`;
  const values = [k * gamma, progress[k - 1], Math.sqrt(squares[k - 1]), Math.sqrt(k * squared)];
  const [least, along, norm, root] = values.map((v) => number(v));
  const isAttained = k === most && values[3] - values[0] < 1e-6 * values[3];
  return `After ${k} of at most ${most.toLocaleString("en")} mistakes: k γ = ${least} ≤ w · u = ${along} ≤ |w| = ${norm} ≤ √k R = ${root}.`
    + (isAttained ? " All four are equal: the run reaches the bound." : "");
}

// The part of a polygon where v . x + b >= 0.
function cut(polygon, [x1, x2], b) {
  const at = ([v1, v2]) => v1 * x1 + v2 * x2 + b;
  return polygon.flatMap((v, i) => {
    const before = polygon[(i + polygon.length - 1) % polygon.length], [from, to] = [at(before), at(v)];
    const crossing = (from < 0) !== (to < 0) ? [v.map((c, j) => before[j] + (c - before[j]) * from / (from - to))] : [];
    return to >= 0 ? [...crossing, v] : crossing;
  });
}
// A place is a pair of weights. Each example (x, y) is the half-plane y (w . x + b) >= 0; all of them have the cone
// in common. With an intercept this is the cut through it at the b of now.
function drawWeights(svg, { examples, walk, next, isPlus }) {
  const last = walk[walk.length - 1] ?? [0, 0], b = last[2] ?? 0;
  const far = 1.35 * Math.max(1, ...walk.flatMap(([w1, w2]) => [Math.abs(w1), Math.abs(w2)]));
  const x = (v) => SIDE / 2 * (1 + v / far), y = (v) => SIDE / 2 * (1 - v / far);
  let cone = [[-far, -far], [far, -far], [far, far], [-far, far]];
  for (const { x: [x1, x2], sign } of examples) {
    // At x = 0 the weights do not count.
    if (x1 || x2) cone = cut(cone, [sign * x1, sign * x2], sign * b); else if (!(sign * b > 0 || (isPlus && sign > 0 && b === 0))) cone = [];
  }
  const area = cone.reduce((sum, [v1, v2], i) => { const [u1, u2] = cone[(i + 1) % cone.length]; return sum + v1 * u2 - v2 * u1; }, 0);
  if (Math.abs(area) < 1e-9 * far * far) cone = [];
  const parts = [element("path", { class: "axis", d: `M0 ${y(0)}H${SIDE}M${x(0)} 0V${SIDE}` })];
  if (cone.length) parts.push(element("path", { class: "cone", d: path(cone.map(([v1, v2]) => [x(v1), y(v2)])) + "Z" }));
  (examples.length <= 100 ? examples : []).forEach(({ x: [x1, x2], sign, k }, i) => {
    const size = Math.hypot(x1, x2), off = -b / size;
    if (!size || Math.abs(off) > 2 * far) return;
    const [u1, u2] = [x1 / size, x2 / size], [c1, c2] = [off * u1, off * u2];
    parts.push(element("line", { class: `edge k${k}` + (i === next ? " edge-next" : ""), x1: x(c1 - 3 * far * u2), y1: y(c2 + 3 * far * u1),
      x2: x(c1 + 3 * far * u2), y2: y(c2 - 3 * far * u1) }));
    if (examples.length > 30) return;
    for (const side of [.55, -.55]) {  // on the right side of the line
      const [p1, p2] = [c1 - side * far * u2, c2 + side * far * u1], long = sign * far / 22;
      parts.push(element("line", { class: `edge k${k}`, x1: x(p1), y1: y(p2), x2: x(p1 + long * u1), y2: y(p2 + long * u2) }));
    }
  });
  parts.push(element("path", { class: "walk", d: path([[0, 0], ...walk].map(([v1, v2]) => [x(v1), y(v2)])) }),
    element("circle", { class: "walk-end", cx: x(last[0]), cy: y(last[1]), r: 6 }),
    element("text", { x: SIDE - 4, y: y(0) - 5, "text-anchor": "end" }, "w₁"), element("text", { x: x(0) + 5, y: 14 }, "w₂"));
  svg.replaceChildren(...parts);
  return cone.length > 0;
}

// One file of pictures that lie on each other; it needs no style sheet.
const STYLES = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray", "stroke-opacity", "font-size", "font-family"];
function toSvg(svgs, canvas, title) {
  const box = svgs[0].viewBox.baseVal, size = { width: box.width, height: box.height };
  const file = element("svg", { xmlns: "http://www.w3.org/2000/svg", viewBox: `0 0 ${box.width} ${box.height}`, ...size });
  file.append(element("title", {}, title), element("rect", { ...size, fill: "white" }));
  if (canvas?.width > 1) file.append(element("image", { ...size, href: canvas.toDataURL(), opacity: getComputedStyle(canvas).opacity }));
  for (const svg of svgs) {
    for (const shown of svg.children) {
      const copy = shown.cloneNode(true), style = getComputedStyle(shown);
      for (const name of STYLES) copy.setAttribute(name, style.getPropertyValue(name));
      copy.removeAttribute("class");
      file.append(copy);
    }
  }
  return new XMLSerializer().serializeToString(file);
}
function save(text, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}
return { number, pair, element, drawProof, tellProof, drawWeights, toSvg, save };
})();
