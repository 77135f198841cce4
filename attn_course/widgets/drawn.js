// A part of a page as an SVG file that drawing programs open: its boxes, its words and its drawings as they
// stand, in the colours of the page. A `foreignObject` would be shorter, but only browsers show it.
import { sum } from "./shared.js";

const NS = "http://www.w3.org/2000/svg";
const PAINTED = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-opacity", "stroke-dasharray", "stroke-linecap", "stroke-linejoin", "stop-color", "stop-opacity", "opacity", "paint-order", "vector-effect"];
const WRITTEN = ["font-family", "font-size", "font-weight", "font-style"];
const ASIDE = ".attn-model, details:not([open])";
const SIDES = ["Top", "Right", "Bottom", "Left"];

/** What is visible of an element: a promise of `{ text, width, height }`, the text of the file and its size in pixels. */
export async function drawingOf(element) {
  for (const node of element.querySelectorAll("*")) await maskOf(getComputedStyle(node)); // So that all the rest is of one moment.
  const frame = element.getBoundingClientRect();
  const margin = parseFloat(getComputedStyle(element).paddingLeft) ? 0 : 8; // Lines may reach a little beyond what has no room of its own.
  const [width, height] = [frame.width + 2 * margin, frame.height + 2 * margin];
  const whole = shape("svg", { xmlns: NS, width, height, viewBox: [-margin, -margin, width, height].join(" ") });
  for (const [name, text] of [["title", document.title], ["desc", location.href]]) whole.append(Object.assign(shape(name, {}), { textContent: text }));
  const hatch = shape("pattern", { id: "hatch", width: 6, height: 6, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" });
  hatch.append(shape("rect", { width: 1, height: 6, fill: "#808080" }));
  whole.append(hatch, shape("rect", { x: -margin, y: -margin, width, height, fill: groundOf(element) }));
  const takeAway = standIns(element);
  try {
    draw(element, whole, frame);
  } finally {
    takeAway();
  }
  return { text: new XMLSerializer().serializeToString(whole), width, height };
}

/** Put elements in the place of pseudo-elements, which cannot be measured; return what takes them away. */
function standIns(element) {
  const found = [...element.querySelectorAll("*")].flatMap((node) => ["::before", "::after"].flatMap((kind) => {
    const style = getComputedStyle(node, kind);
    if (style.content === "none" || style.content === "normal" || style.display === "none") return [];
    const instead = document.createElement("i");
    for (const name of style) instead.style.setProperty(name, style.getPropertyValue(name));
    instead.textContent = style.content.replace(/^"|"$/g, "");
    return [{ node, kind, instead }];
  }));
  const off = Object.assign(document.createElement("style"), { textContent: "*::before, *::after { content: none !important; }" });
  document.head.append(off);
  for (const { node, kind, instead } of found) node[kind === "::before" ? "prepend" : "append"](instead);
  return () => [off, ...found.map(({ instead }) => instead)].forEach((one) => one.remove());
}

function shape(name, attributes) {
  const node = document.createElementNS(NS, name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, typeof value === "number" ? Math.round(value * 100) / 100 : value);
  return node;
}

const isClear = (colour) => /^rgba\(.*, 0\)$|\/ 0\)$/.test(colour);

function groundOf(element) {
  for (let node = element; node; node = node.parentElement) {
    const { backgroundColor } = getComputedStyle(node);
    if (!isClear(backgroundColor)) return backgroundColor;
  }
  return "#fff";
}

function draw(node, parent, frame) {
  if (node.nodeType === Node.TEXT_NODE) {
    write(node, parent, frame);
    return;
  }
  if (node.nodeType !== Node.ELEMENT_NODE || !node.checkVisibility({ opacityProperty: true, visibilityProperty: true })) return;
  const style = getComputedStyle(node);
  if (style.clipPath === "inset(50%)" || node.matches(ASIDE)) return; // Words for screen readers, and what is no part of a figure.
  const box = node.getBoundingClientRect();
  const [x, y] = [box.x - frame.x, box.y - frame.y];
  if (style.opacity < 1) parent = parent.appendChild(shape("g", { opacity: style.opacity }));
  const place = { x, y, width: box.width, height: box.height };
  const image = (href) => shape("image", { ...place, href, preserveAspectRatio: "none", style: "image-rendering: pixelated" });
  const mask = masks.get(style.maskImage);
  if (mask) {
    parent.append(image(tile(mask, style, box)));
    return;
  }
  paint(style, place, parent);
  if (node.namespaceURI === NS) {
    parent.append(copyOf(node, place));
    return;
  }
  if (node.localName === "canvas") parent.append(image(node.toDataURL()));
  if (node.matches("input, select, textarea")) {
    control(node, style, place, parent);
    return;
  }
  if (style.overflowX !== "visible") {
    const view = [x, y, box.width, box.height];
    parent = parent.appendChild(shape("svg", { x, y, width: box.width, height: box.height, viewBox: view.join(" ") }));
  }
  for (const child of [...node.childNodes].sort((a, b) => layerOf(a) - layerOf(b))) draw(child, parent, frame);
}

/** What has a position of its own is drawn above what has none. */
function layerOf(node) {
  if (node.nodeType !== Node.ELEMENT_NODE) return 0;
  const { position, zIndex } = getComputedStyle(node);
  return Number(zIndex) || (position === "static" ? 0 : 0.5);
}

/** The knob of a control, or the text that it holds. */
function control(node, style, { x, y, width, height }, parent) {
  const [middle, accent] = [y + height / 2, style.getPropertyValue("--attn-accent") || style.color];
  if (node.type === "range") {
    const share = (node.value - node.min) / (node.max - node.min);
    parent.append(shape("line", { x1: x, y1: middle, x2: x + width, y2: middle, stroke: style.color, "stroke-width": 1 }));
    parent.append(shape("circle", { cx: x + 8 + share * (width - 16), cy: middle, r: 7, fill: accent }));
  } else if (node.type === "radio" || node.type === "checkbox") {
    const isSwitch = node.getAttribute("role") === "switch";
    const cx = isSwitch ? x + (node.checked ? width - height / 2 : height / 2) : x + width / 2;
    if (!isSwitch) parent.append(shape("circle", { cx, cy: middle, r: width / 2 - 0.5, fill: "none", stroke: node.checked ? accent : style.color }));
    if (isSwitch || node.checked) parent.append(shape("circle", { cx, cy: middle, r: height / 4, fill: !isSwitch ? accent : node.checked ? groundOf(node.parentElement) : style.color }));
  } else {
    const text = node.localName === "select" ? node.selectedOptions[0]?.text ?? "" : node.value;
    const line = node.localName === "textarea" ? parseFloat(style.paddingTop) + parseFloat(style.fontSize) * 1.1 : height / 2 + parseFloat(style.fontSize) * 0.35;
    parent.append(lineOf(text, { x: x + parseFloat(style.paddingLeft) + 1, y: y + line }, style));
  }
}

const masks = new Map(); // By what the style sheet says: the image, decoded.

async function maskOf({ maskImage }) {
  const url = /^url\("(.+)"\)$/.exec(maskImage)?.[1];
  if (!url || masks.has(maskImage)) return;
  const image = Object.assign(new Image(), { src: url });
  await image.decode();
  masks.set(maskImage, image);
}

/** The part of a mask that an element shows, in the element's colour. */
function tile(mask, style, box) {
  const [w, h] = pairOf(style.maskSize, box);
  const [left, top] = pairOf(style.maskPosition, { width: box.width - w, height: box.height - h });
  const [across, down] = [mask.naturalWidth / w, mask.naturalHeight / h];
  const [width, height] = [Math.round(box.width * across), Math.round(box.height * down)];
  const canvas = Object.assign(document.createElement("canvas"), { width, height });
  const own = canvas.getContext("2d");
  own.drawImage(mask, Math.round(-left * across), Math.round(-top * down), width, height, 0, 0, width, height);
  own.globalCompositeOperation = "source-in";
  own.fillStyle = style.backgroundColor;
  own.fillRect(0, 0, width, height);
  return canvas.toDataURL();
}

/** A drawing of the page with the rules of the style sheets written into it. */
function copyOf(drawing, place) {
  const copy = drawing.cloneNode(true);
  const [all, copies] = [drawing, copy].map((one) => [one, ...one.querySelectorAll("*")]);
  all.forEach((node, n) => {
    const style = getComputedStyle(node);
    if ((style.display === "none" || style.visibility === "hidden") && !node.closest("defs")) copies[n].remove();
    const isText = node.localName === "text" || node.localName === "tspan";
    for (const name of isText ? [...PAINTED, ...WRITTEN, "text-anchor", "dominant-baseline"] : PAINTED) copies[n].setAttribute(name, style.getPropertyValue(name));
    if (!n) copy.removeAttribute("opacity"); // It is that of the group around it.
    if (n && style.transform !== "none") copies[n].setAttribute("transform", style.transform);
    for (const name of ["class", "style", "tabindex"]) copies[n].removeAttribute(name);
  });
  for (const [name, value] of Object.entries(place)) copy.setAttribute(name, value);
  return copy;
}

/** The ground, the bars on it and the border of an element. */
function paint(style, box, parent) {
  const { x, y, width, height } = box;
  const rounding = Math.min(parseFloat(style.borderTopLeftRadius) || 0, width / 2, height / 2);
  const widths = SIDES.map((side) => (isClear(style[`border${side}Color`]) || style[`border${side}Style`] === "none" ? 0 : parseFloat(style[`border${side}Width`])));
  const isWhole = widths[0] > 0 && SIDES.every((side, i) => widths[i] === widths[0] && style[`border${side}Color`] === style.borderTopColor);
  const inset = isWhole ? widths[0] / 2 : 0;
  const stroke = (name) => ({
    stroke: style[`${name}Color`], "stroke-width": parseFloat(style[`${name}Width`]),
    "stroke-dasharray": { dashed: "4 3", dotted: "2 2" }[style[`${name}Style`]] ?? "none",
  });
  const border = isWhole ? stroke("borderTop") : {};
  const fill = style.backgroundImage.startsWith("repeating") ? "url(#hatch)" : isClear(style.backgroundColor) ? "none" : style.backgroundColor;
  if (isWhole || fill !== "none") parent.append(shape("rect", { x: x + inset, y: y + inset, width: Math.max(0, width - 2 * inset), height: Math.max(0, height - 2 * inset), rx: rounding, fill, ...border }));
  if (!["none", "auto"].includes(style.outlineStyle)) {
    const out = parseFloat(style.outlineOffset) + parseFloat(style.outlineWidth) / 2;
    parent.append(shape("rect", { x: x - out, y: y - out, width: width + 2 * out, height: height + 2 * out, rx: rounding, fill: "none", ...stroke("outline") }));
  }
  if (!isWhole && sum(widths)) {
    const [x2, y2] = [x + width, y + height];
    const lines = [[x, y, x2, y, 0, 0.5], [x2, y, x2, y2, -0.5, 0], [x, y2, x2, y2, 0, -0.5], [x, y, x, y2, 0.5, 0]];
    lines.forEach(([ax, ay, bx, by, dx, dy], side) => {
      const [right, down] = [dx * widths[side], dy * widths[side]];
      if (widths[side]) parent.append(shape("line", { x1: ax + right, y1: ay + down, x2: bx + right, y2: by + down, ...stroke(`border${SIDES[side]}`) }));
    });
  }
  for (const shadow of style.boxShadow.split(/,(?![^(]*\))/)) cast(shadow, box, rounding, parent);
  const bar = /^linear-gradient\((rgba?\([^)]+\)|color\([^)]+\)) 0%, \1 100%\)$|^linear-gradient\((rgba?\([^)]+\)|color\([^)]+\)), \2\)$/.exec(style.backgroundImage);
  if (!bar) return;
  const [w, h] = pairOf(style.backgroundSize, box);
  const [left, top] = pairOf(style.backgroundPosition, { width: width - w, height: height - h });
  parent.append(shape("rect", { x: x + left, y: y + top, width: w, height: h, fill: bar[1] ?? bar[2] }));
}

/** A shadow without blur: a ring around or within the box, or a line along one of its sides. */
function cast(shadow, { x, y, width, height }, rx, parent) {
  const [colour] = /^\s*(\w+\([^)]*\))/.exec(shadow) ?? [];
  const [right, down, blur, spread] = [...shadow.matchAll(/(-?[\d.]+)px/g)].map(([, size]) => Number(size));
  if (!colour || blur || isClear(colour.trim())) return;
  const isInset = shadow.includes("inset");
  if (spread) {
    const out = isInset ? -spread / 2 : spread / 2;
    parent.append(shape("rect", { x: x - out, y: y - out, width: width + 2 * out, height: height + 2 * out, rx, fill: "none", stroke: colour, "stroke-width": spread }));
  } else if (down) {
    const top = isInset ? (down < 0 ? y + height + down : y) : (down < 0 ? y + down : y + height);
    parent.append(shape("rect", { x, y: top, width, height: Math.abs(down), fill: colour }));
  } else if (right) {
    const left = isInset ? (right < 0 ? x + width + right : x) : (right < 0 ? x + right : x + width);
    parent.append(shape("rect", { x: left, y, width: Math.abs(right), height, fill: colour }));
  }
}

/** Two computed lengths, such as "40% calc(100% - 3px)" or "auto", in pixels. */
function pairOf(values, { width, height }) {
  const [first, second = "auto"] = values.split(/ (?![^(]*\))/);
  return [first, second].map((value, n) => {
    if (value === "auto") return n ? height : width;
    const terms = value.replace(/- /g, "-").matchAll(/(-?[\d.]+)(%|px)/g);
    return sum([...terms].map(([, size, unit]) => (unit === "%" ? (size / 100) * (n ? height : width) : Number(size))));
  });
}

/** The words of a text, one line after the other, each as wide as in the page whatever the font. */
function write(node, parent, frame) {
  const style = getComputedStyle(node.parentElement);
  const lines = [];
  for (const { 0: word, index } of node.data.matchAll(/\S+/g)) {
    const range = document.createRange();
    range.setStart(node, index);
    range.setEnd(node, index + word.length);
    const box = range.getClientRects()[0];
    if (!box?.width) continue;
    const last = lines.at(-1);
    if (last && Math.abs(last.top - box.top) < 2) Object.assign(last, { text: `${last.text} ${word}`, right: box.right });
    else lines.push({ text: word, left: box.left, right: box.right, top: box.top, bottom: box.bottom });
  }
  const pen = document.createElement("canvas").getContext("2d");
  pen.font = `${style.fontStyle} ${style.fontWeight} ${style.fontSize} ${style.fontFamily}`;
  const { fontBoundingBoxAscent: above, fontBoundingBoxDescent: below } = pen.measureText("x");
  for (const { text, left, right, top, bottom } of lines) {
    const base = above / (above + below);
    if (style.writingMode.startsWith("vertical")) {
      const x = left - frame.x + (right - left) * base;
      const line = lineOf(text, { x, y: bottom - frame.y, transform: `rotate(-90 ${x} ${bottom - frame.y})` }, style, bottom - top);
      parent.append(line);
    } else parent.append(lineOf(text, { x: left - frame.x, y: top - frame.y + (bottom - top) * base }, style, right - left));
  }
}

function lineOf(text, place, style, length) {
  const line = shape("text", { ...place, fill: style.color, ...(length && { textLength: length, lengthAdjust: "spacingAndGlyphs" }) });
  for (const name of WRITTEN) line.setAttribute(name, style.getPropertyValue(name));
  line.textContent = text;
  return line;
}
