// The 30 checkers: each is an element of its own that glides from place to place.

import { s, sleep } from "./dom.js";
import { RADIUS } from "./geometry.js";

export class Pieces {
  // layer: where checkers are drawn. placeOf(player, index): the place of a player's index.
  constructor(layer) {
    this.layer = layer;
    this.rows = null;
    this.stacks = new Map(); // "player:index" -> elements, the first at the bottom
    this.isFast = false;
  }

  key(player, index) {
    return `${player}:${index}`;
  }

  stack(player, index) {
    const key = this.key(player, index);
    if (!this.stacks.has(key)) this.stacks.set(key, []);
    return this.stacks.get(key);
  }

  make(player) {
    const piece = s("g", { class: `checker side-${player}` },
      s("circle", { r: RADIUS, class: "rim" }),
      s("circle", { r: RADIUS * 0.72, class: "face" }),
      s("rect", { x: -RADIUS, y: -7, width: 2 * RADIUS, height: 14, rx: 4, class: "flat" }),
      s("text", { class: "count", dy: "0.36em" }));
    this.layer.append(piece);
    return piece;
  }

  // Show rows at once: [player 0's counts, player 1's], each indexed from his own side.
  set(rows, geometry, placeOf) {
    this.layer.replaceChildren();
    this.stacks.clear();
    for (const player of [0, 1]) {
      rows[player].forEach((count, index) => {
        for (let i = 0; i < count; i += 1) this.stack(player, index).push(this.make(player));
      });
    }
    this.rows = rows.map((row) => [...row]);
    this.lay(geometry, placeOf, false);
  }

  // Glide to rows: checkers that left a place go to where one is missing, those furthest back first.
  glide(rows, geometry, placeOf) {
    if (!this.rows || rows.some((row, player) => total(row) !== total(this.rows[player]))) {
      this.set(rows, geometry, placeOf);
      return;
    }
    for (const player of [0, 1]) {
      const from = [];
      const to = [];
      for (let index = 25; index >= 0; index -= 1) {
        const change = rows[player][index] - this.rows[player][index];
        for (let i = 0; i < -change; i += 1) from.push(index);
        for (let i = 0; i < change; i += 1) to.push(index);
      }
      from.forEach((start, i) => this.carry(player, start, to[i]));
    }
    this.rows = rows.map((row) => [...row]);
    this.lay(geometry, placeOf, true);
  }

  carry(player, start, end) {
    const piece = this.stack(player, start).pop();
    this.layer.append(piece); // on top of the others
    piece.getBoundingClientRect(); // so that it glides from where it was
    this.stack(player, end).push(piece);
  }

  lay(geometry, placeOf, isGliding) {
    this.layer.classList.toggle("still", !isGliding);
    for (const [key, pieces] of this.stacks) {
      const [player, index] = key.split(":").map(Number);
      const place = placeOf(player, index);
      pieces.forEach((piece, level) => {
        const spot = geometry.checker(place, level, pieces.length);
        piece.style.transform = `translate(${spot.x}px, ${spot.y}px)`;
        piece.classList.toggle("off", Boolean(spot.isFlat));
        piece.classList.remove("held", "can", "dragged");
        const isTop = level === pieces.length - 1;
        const isPile = pieces.length > 5 || (index === 25 && pieces.length > 3);
        piece.querySelector(".count").textContent = isTop && isPile && !spot.isFlat ? pieces.length : "";
      });
    }
  }

  top(player, index) {
    return this.stack(player, index).at(-1) ?? null;
  }

  hold(player, index) {
    for (const piece of this.layer.querySelectorAll(".held")) piece.classList.remove("held");
    if (player !== null) this.top(player, index)?.classList.add("held");
  }

  // Rings around the checkers that can move: pairs of player and index.
  mark(spots) {
    for (const piece of this.layer.querySelectorAll(".can")) piece.classList.remove("can");
    for (const [player, index] of spots) this.top(player, index)?.classList.add("can");
  }

  // A step at a time, as the other side plays: steps are [start, end, die, isHit], seen by `player`.
  async play(player, steps, opponentPoint, geometry, placeOf, ms) {
    for (const [start, end, , isHit] of steps) {
      const rows = this.rows.map((row) => [...row]);
      rows[player][start] -= 1;
      rows[player][end] += 1;
      if (isHit) {
        rows[1 - player][opponentPoint[end]] -= 1;
        rows[1 - player][25] += 1;
      }
      this.glide(rows, geometry, placeOf);
      await sleep(ms);
    }
  }
}

const total = (row) => row.reduce((sum, count) => sum + count, 0);
