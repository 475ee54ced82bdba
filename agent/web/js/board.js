// The board as a drawing. It shows rows, dice, arrows and what can be clicked; it knows no rules.

import { h, s } from "./dom.js";
import { Geometry, RADIUS, SIZE } from "./geometry.js";
import { t } from "./i18n.js";
import { Pieces } from "./pieces.js";

const PIPS = { 1: [[0, 0]], 2: [[-1, -1], [1, 1]], 3: [[-1, -1], [0, 0], [1, 1]], 4: [[-1, -1], [1, -1], [-1, 1], [1, 1]] };
PIPS[5] = [...PIPS[4], [0, 0]];
PIPS[6] = [...PIPS[4], [-1, 0], [1, 0]];
const PLACES = [...Array(24).keys()].map((i) => i + 1).concat([25, 0, "bar-top", "off-top"]);

export class Board {
  // svg: the element. onPlace(place): a place was clicked or chosen by key. onDrop(from, to): a checker was dragged.
  constructor(svg, { onPlace, onDrop, canDrag, onDice }) {
    this.svg = svg;
    this.svg.setAttribute("viewBox", `0 0 ${SIZE.width} ${SIZE.height}`);
    this.calls = { onPlace, onDrop, canDrag, onDice };
    this.geometry = new Geometry("right");
    this.layers = {};
    this.bottom = 0;
    this.rules = null;
    this.areas = new Map();
    for (const name of ["table", "areas", "numbers", "lights", "checkers", "dice", "arrows"]) {
      this.layers[name] = s("g", { class: `layer-${name}` });
    }
    // Clickable areas lie under the checkers, which let clicks through.
    this.svg.append(...Object.values(this.layers));
    this.pieces = new Pieces(this.layers.checkers);
    this.svg.addEventListener("keydown", (event) => this.onKey(event));
    this.watchPointer();
  }

  // rules: the preset's geometry; bottom: the player shown below; home: side of his home.
  arrange(rules, bottom, home) {
    const isSame = this.rules === rules && this.bottom === bottom && this.home === home;
    this.rules = rules;
    this.bottom = bottom;
    this.home = home;
    if (isSame) return;
    this.geometry = new Geometry(home);
    this.drawTable();
    if (this.pieces.rows) this.pieces.set(this.pieces.rows, this.geometry, this.placeOf);
  }

  placeOf = (player, index) => {
    if (player === this.bottom) return index;
    if (index === 0) return "off-top";
    return index === 25 ? "bar-top" : this.rules.opponent_point[index];
  };

  // What a player calls a place; null for the other side's bar and tray.
  indexOf(player, place) {
    if (player === this.bottom) return typeof place === "number" ? place : null;
    if (place === "off-top") return 0;
    if (place === "bar-top") return 25;
    return place >= 1 && place <= 24 ? this.rules.opponent_point[place] : null;
  }

  drawTable() {
    const { table, areas } = this.layers;
    const { halves } = this.geometry.fields();
    table.replaceChildren(s("rect", { class: "frame", width: SIZE.width, height: SIZE.height, rx: 14 }));
    for (const half of halves) table.append(s("rect", { class: "field", ...half, rx: 3 }));
    for (let place = 1; place <= 24; place += 1) {
      table.append(s("polygon", { class: `triangle ${place % 2 ? "dark" : "light"}`, points: this.geometry.triangle(place) }));
    }
    for (const place of [0, "off-top"]) table.append(s("rect", { class: "tray", ...this.geometry.area(place), rx: 6 }));
    const focused = document.activeElement?.dataset?.place;
    areas.replaceChildren();
    this.areas.clear();
    for (const place of PLACES) {
      if (!this.rules.has_bar && (place === 25 || place === "bar-top")) continue;
      const area = s("rect", { class: "area", ...this.geometry.area(place), rx: 6, role: "button", tabindex: "-1", data: { place } });
      this.areas.set(place, area);
      areas.append(area);
    }
    this.areas.get(24).setAttribute("tabindex", "0");
    if (focused !== undefined) this.areas.get(asPlace(focused))?.focus();
  }

  // numbersOf: the player from whose side points are numbered.
  drawNumbers(numbersOf) {
    const texts = [];
    for (let place = 1; place <= 24; place += 1) {
      const { x, y } = this.geometry.number(place);
      texts.push(s("text", { class: "number", x, y, text: this.indexOf(numbersOf, place) }));
    }
    this.layers.numbers.replaceChildren(...texts);
  }

  // rows: both players' counts, each from his own side.
  show(rows, isGliding = true) {
    if (isGliding) this.pieces.glide(rows, this.geometry, this.placeOf);
    else this.pieces.set(rows, this.geometry, this.placeOf);
    this.label();
  }

  async play(player, steps, ms) {
    await this.pieces.play(player, steps, this.rules.opponent_point, this.geometry, this.placeOf, ms);
    this.label();
  }

  // What a screen reader says of each place.
  label() {
    for (const [place, area] of this.areas) {
      const parts = [this.placeName(place)];
      for (const player of [0, 1]) {
        const index = this.indexOf(player, place);
        const count = index === null ? 0 : this.pieces.rows?.[player][index] ?? 0;
        if (count) parts.push(t("a11y_checkers", { n: count, colour: t(`colour_gen_${player}`) }));
      }
      if (parts.length === 1) parts.push(t("a11y_empty"));
      for (const [name, key] of [["source", "a11y_source"], ["target", "a11y_target"], ["selected", "a11y_selected"]]) {
        if (area.classList.contains(name)) parts.push(t(key));
      }
      area.setAttribute("aria-label", parts.join(", "));
    }
  }

  placeName(place) {
    if (place === 0 || place === "off-top") return t("a11y_off");
    if (place === 25 || place === "bar-top") return t("a11y_bar");
    const index = this.indexOf(this.numbersOf ?? this.bottom, place);
    const isHead = this.rules.has_head && this.indexOf(this.numbersOf ?? this.bottom, place) === 24;
    return t(isHead ? "a11y_head" : "a11y_point", { point: index });
  }

  // sources, targets: places; selected: a place or null; player: whose checker is held.
  light({ sources = [], targets = [], selected = null, player = null } = {}) {
    for (const [place, area] of this.areas) {
      area.classList.toggle("source", sources.includes(place));
      area.classList.toggle("target", targets.includes(place));
      area.classList.toggle("selected", place === selected);
    }
    this.layers.lights.replaceChildren(...targets.map((place) => this.targetLight(place)));
    this.pieces.mark(sources.map((place) => [player, this.indexOf(player, place)]));
    this.pieces.hold(selected === null ? null : player, selected === null ? null : this.indexOf(player, selected));
    this.label();
  }

  targetLight(place) {
    if (place === 0 || place === "off-top") return s("rect", { class: "glow", ...this.geometry.area(place), rx: 6 });
    const count = [0, 1].reduce((sum, player) => {
      const index = this.indexOf(player, place);
      return sum + (index === null ? 0 : this.pieces.rows[player][index]);
    }, 0);
    const spot = this.geometry.checker(place, Math.min(count, 5), Math.min(count + 1, 6));
    return s("circle", { class: "glow", cx: spot.x, cy: spot.y, r: RADIUS - 3 });
  }

  // dice: numbers thrown; left: numbers still to play; player: who threw; state: "", "thrown" or "old".
  drawDice(dice, left, player, state = "") {
    const layer = this.layers.dice;
    if (!dice) {
      layer.replaceChildren();
      return;
    }
    const shown = dice[0] === dice[1] ? Array(4).fill(dice[0]) : dice;
    const open = [...left];
    const { x, y } = this.geometry.dice(player === this.bottom);
    const size = 48;
    const group = s("g", { class: `dice side-${player} ${state}`, role: "img", "aria-label": t("a11y_dice", { dice: dice.join("-") }) });
    shown.forEach((die, i) => {
      const place = open.indexOf(die);
      const isUsed = state !== "old" && place < 0;
      if (place >= 0) open.splice(place, 1);
      const dx = x + (i - (shown.length - 1) / 2) * (size + 12);
      const dots = PIPS[die].map(([px, py]) => s("circle", { cx: px * 13, cy: py * 13, r: 4.6 }));
      const face = s("g", { class: "face" }, s("rect", { x: -size / 2, y: -size / 2, width: size, height: size, rx: 9 }), ...dots);
      group.append(s("g", { class: `die ${isUsed ? "used" : ""}`, transform: `translate(${dx} ${y})` }, face));
    });
    group.addEventListener("click", () => this.calls.onDice?.());
    layer.replaceChildren(group);
  }

  // ways: [{from, to, kind}] in places; kind is best, good, error or blunder; loss is written at the head.
  drawArrows(ways) {
    const seen = new Map();
    const drawn = ways.map(({ from, to, kind }) => {
      const again = seen.get(`${from}>${to}`) ?? 0;
      seen.set(`${from}>${to}`, again + 1);
      return this.arrow(from, to, kind, again);
    });
    this.layers.arrows.replaceChildren(...drawn);
  }

  arrow(from, to, kind, again) {
    const centre = this.tip(from);
    const b = this.tip(to);
    const away = Math.atan2(b.y - centre.y, b.x - centre.x);
    const a = { x: centre.x + RADIUS * 0.75 * Math.cos(away), y: centre.y + RADIUS * 0.75 * Math.sin(away) }; // its count stays readable
    const shift = again * 12;
    const [dx, dy] = [b.x - a.x, b.y - a.y];
    const length = Math.hypot(dx, dy) || 1;
    const inward = ((a.y + b.y) / 2 > SIZE.height / 2 ? -1 : 1) * (dx < 0 ? -1 : 1); // bent to the middle of the board
    const bend = inward * Math.min(70, length / 4);
    const middle = { x: (a.x + b.x) / 2 - (dy / length) * bend + shift, y: (a.y + b.y) / 2 + (dx / length) * bend + shift };
    const angle = Math.atan2(b.y - middle.y, b.x - middle.x);
    const end = { x: b.x - 20 * Math.cos(angle) + shift, y: b.y - 20 * Math.sin(angle) + shift };
    const wing = (turn) => `${end.x - 2 * Math.cos(angle) + 17 * Math.cos(angle + turn)},${end.y - 2 * Math.sin(angle) + 17 * Math.sin(angle + turn)}`;
    const tip = `${end.x + 18 * Math.cos(angle)},${end.y + 18 * Math.sin(angle)}`;
    return s("g", { class: `arrow ${kind}` },
      s("path", { d: `M ${a.x + shift} ${a.y + shift} Q ${middle.x} ${middle.y} ${end.x} ${end.y}` }),
      s("polygon", { points: `${tip} ${wing(1.9)} ${wing(-1.9)}` }));
  }

  // The outermost checker of a place, where an arrow begins or ends.
  tip(place) {
    const count = [0, 1].reduce((sum, player) => {
      const index = this.indexOf(player, place);
      return sum + (index === null ? 0 : this.pieces.rows[player][index]);
    }, 0);
    return this.geometry.checker(place, Math.max(0, count - 1), Math.max(1, count));
  }

  focus(place) {
    for (const [each, area] of this.areas) area.setAttribute("tabindex", each === place ? "0" : "-1");
    this.areas.get(place)?.focus();
  }

  onKey(event) {
    const place = asPlace(event.target.dataset?.place);
    if (place === null) return;
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      this.calls.onPlace(place, event);
      return;
    }
    const next = this.neighbour(place, event.key);
    if (next !== null && this.areas.has(next)) {
      event.preventDefault();
      this.focus(next);
    }
  }

  // Arrow keys follow the drawing; the bar and the trays are reached with b and o.
  neighbour(place, key) {
    const side = this.geometry.isMirrored ? -1 : 1;
    if (typeof place !== "number" || place === 25 || place === 0) {
      const isTop = place === 25 || place === "off-top";
      if (key === "ArrowUp" || key === "ArrowDown") return { 25: "bar-top", "bar-top": 25, 0: "off-top", "off-top": 0 }[place];
      const inner = { 0: 1, "off-top": 24, 25: side > 0 ? 18 : 19, "bar-top": side > 0 ? 7 : 6 }[place];
      const outer = { 25: side > 0 ? 19 : 18, "bar-top": side > 0 ? 6 : 7 }[place] ?? inner;
      return { ArrowLeft: inner, ArrowRight: outer }[key] ?? (isTop ? null : null);
    }
    if (key === "ArrowUp" || key === "ArrowDown") return 25 - place;
    const step = { ArrowLeft: -side, ArrowRight: side }[key];
    if (!step) return { b: 25, o: 0, Home: 24, End: 1 }[key] ?? null;
    const next = place >= 13 ? place + step : place - step;
    if (place === 1 && next === 0) return 0;
    if (place === 24 && next === 25) return "off-top";
    return next < 1 || next > 24 || (place >= 13) !== (next >= 13) ? null : next;
  }

  point(event) {
    const matrix = this.svg.getScreenCTM().inverse();
    return new DOMPoint(event.clientX, event.clientY).matrixTransform(matrix);
  }

  watchPointer() {
    let drag = null;
    this.svg.addEventListener("pointerdown", (event) => {
      if (event.button !== 0 && event.pointerType === "mouse") return;
      const { x, y } = this.point(event);
      const place = this.geometry.placeAt(x, y);
      if (place === null) return;
      const piece = this.calls.canDrag?.(place) ?? null;
      drag = { place, piece, x, y, hasMoved: false, id: event.pointerId, shift: event.shiftKey };
      if (piece) this.svg.setPointerCapture(event.pointerId);
    });
    this.svg.addEventListener("pointermove", (event) => {
      if (!drag?.piece || event.pointerId !== drag.id) return;
      const { x, y } = this.point(event);
      if (!drag.hasMoved && Math.hypot(x - drag.x, y - drag.y) < 9) return;
      drag.hasMoved = true;
      drag.piece.classList.add("dragged");
      drag.piece.style.transform = `translate(${x}px, ${y}px)`;
    });
    this.svg.addEventListener("pointerup", (event) => {
      if (!drag || event.pointerId !== drag.id) return;
      const { place, hasMoved } = drag;
      const { x, y } = this.point(event);
      const end = this.geometry.placeAt(x, y);
      drag = null;
      if (event.target.closest?.(".dice")) return;
      if (!hasMoved) this.calls.onPlace(place, event);
      else {
        this.pieces.lay(this.geometry, this.placeOf, true);
        if (end !== null && end !== place) this.calls.onDrop(place, end);
      }
    });
    this.svg.addEventListener("pointercancel", () => {
      drag = null;
      if (this.pieces.rows) this.pieces.lay(this.geometry, this.placeOf, true);
    });
    this.svg.addEventListener("contextmenu", (event) => event.preventDefault());
  }
}

// Steps of one checker as one way: [from, to] pairs, cut where it hits.
export function ways(steps) {
  const found = [];
  for (const [from, to, , isHit] of steps) {
    const going = found.find((way) => way.to === from && !way.isHit);
    if (going) Object.assign(going, { to, isHit });
    else found.push({ from, to, isHit });
  }
  return found;
}

export function asPlace(text) {
  if (text === undefined || text === null) return null;
  return /^\d+$/.test(text) ? Number(text) : text;
}

// A small note over the board at a place, with buttons: which die is meant.
export function chooser(element, svg, geometry, place, choices, onChoice, onEnd) {
  const spot = geometry.checker(place, 1, 2);
  element.replaceChildren(h("span", { text: t("which_die") }),
    ...choices.map((die) => h("button", { type: "button", class: "die-button", text: die, "aria-label": t("by_die", { die }), on: { click: () => onChoice(die) } })));
  element.style.left = `${(100 * Math.min(Math.max(spot.x, 110), SIZE.width - 110)) / SIZE.width}%`;
  element.style.top = `${(100 * Math.min(Math.max(spot.y, 80), SIZE.height - 80)) / SIZE.height}%`;
  element.hidden = false;
  element.onkeydown = (event) => {
    if (event.key === "Escape") onEnd();
    if (choices.includes(Number(event.key))) {
      event.preventDefault();
      onChoice(Number(event.key));
    }
  };
  element.querySelector("button").focus();
}
