// Where things lie on the table. A place is what the player at the bottom counts: points 1 to 24, 25 his bar, 0 his
// tray; the other side's tray and bar are "off-top" and "bar-top". Which index of a player is which place comes from
// the server (opponent_point).

export const SIZE = { width: 904, height: 660 };
export const RADIUS = 26;
const EDGE = 30; // frame, with the numbers
const STEP = 60; // width of a point
const BAR = 58;
const TRAY = 76;
const POINT_HEIGHT = 250;
const STACK = 5; // checkers that stand free on a point

export class Geometry {
  // home: side of the bottom player's home, "right" or "left".
  constructor(home) {
    this.isMirrored = home === "left";
  }

  flip(x) {
    return this.isMirrored ? SIZE.width - x : x;
  }

  // Middle of a place's column, and whether it is in the upper half.
  column(place) {
    const isTop = place >= 13;
    const index = isTop ? place - 13 : 12 - place; // 0 to 11 from the left
    const x = EDGE + index * STEP + STEP / 2 + (index >= 6 ? BAR : 0);
    return { x: this.flip(x), isTop };
  }

  barX() {
    return this.flip(EDGE + 6 * STEP + BAR / 2);
  }

  trayX() {
    return this.flip(EDGE + 12 * STEP + BAR + TRAY / 2 + 6);
  }

  triangle(place) {
    const { x, isTop } = this.column(place);
    const base = isTop ? EDGE : SIZE.height - EDGE;
    const tip = isTop ? EDGE + POINT_HEIGHT : SIZE.height - EDGE - POINT_HEIGHT;
    return `${x - STEP / 2},${base} ${x + STEP / 2},${base} ${x},${tip}`;
  }

  // The clickable area of a place.
  area(place) {
    const half = SIZE.height / 2;
    if (place === 0 || place === "off-top") {
      const isTop = place === "off-top";
      return { x: this.trayX() - TRAY / 2 + 6, y: isTop ? EDGE : half + 6, width: TRAY - 12, height: half - EDGE - 6 };
    }
    if (place === 25 || place === "bar-top") {
      const isTop = place === 25;
      return { x: this.barX() - BAR / 2, y: isTop ? EDGE : half, width: BAR, height: half - EDGE };
    }
    const { x, isTop } = this.column(place);
    return { x: x - STEP / 2, y: isTop ? EDGE : half + 8, width: STEP, height: half - EDGE - 8 };
  }

  // Middle of the checker at `level` (0 the first) of `count` on a place.
  checker(place, level, count) {
    if (place === 0 || place === "off-top") {
      const step = 17;
      const y = place === 0 ? SIZE.height - EDGE - 14 - level * step : EDGE + 14 + level * step;
      return { x: this.trayX(), y, isFlat: true };
    }
    const room = (STACK - 1) * 2 * RADIUS;
    const step = count > STACK ? room / (count - 1) : 2 * RADIUS;
    if (place === 25 || place === "bar-top") {
      const y = SIZE.height / 2 + (place === 25 ? -1 : 1) * (RADIUS + 14 + level * Math.min(step, 2 * RADIUS));
      return { x: this.barX(), y };
    }
    const { x, isTop } = this.column(place);
    const offset = RADIUS + 2 + level * step;
    return { x, y: isTop ? EDGE + offset : SIZE.height - EDGE - offset };
  }

  number(place) {
    const { x, isTop } = this.column(place);
    return { x, y: isTop ? EDGE - 8 : SIZE.height - EDGE + 22 };
  }

  // Fields of the two halves, the bar and the tray, as rectangles.
  fields() {
    const height = SIZE.height - 2 * EDGE;
    const left = { x: EDGE, y: EDGE, width: 6 * STEP, height };
    const right = { x: EDGE + 6 * STEP + BAR, y: EDGE, width: 6 * STEP, height };
    const mirrored = (r) => ({ ...r, x: this.isMirrored ? SIZE.width - r.x - r.width : r.x });
    return { halves: [mirrored(left), mirrored(right)] };
  }

  // Middle of the place where a side's dice lie.
  dice(isBottom) {
    const { halves } = this.fields();
    const half = isBottom === !this.isMirrored ? halves[1] : halves[0];
    return { x: half.x + half.width / 2, y: SIZE.height / 2 };
  }

  // The place at a point of the drawing, or null.
  placeAt(x, y) {
    for (const place of [0, "off-top", 25, "bar-top"]) {
      const area = this.area(place);
      if (x >= area.x && x <= area.x + area.width && y >= area.y && y <= area.y + area.height) return place;
    }
    for (let place = 1; place <= 24; place += 1) {
      const area = this.area(place);
      if (x >= area.x && x <= area.x + area.width && y >= area.y - 30 && y <= area.y + area.height + 30) return place;
    }
    return null;
  }
}
