// Setting dice by hand: two rows of faces, or the digits 1 to 6.

import { button, h } from "./dom.js";
import { t } from "./i18n.js";

const FACES = "⚀⚁⚂⚃⚄⚅";

// An element that asks for two dice. onDice(dice): both were chosen; onRandom: the program shall throw.
export function dicePicker(onDice, onRandom) {
  const chosen = [null, null];
  const box = h("div", { class: "dice-picker", role: "group", "aria-label": t("set_dice") });
  const rows = [0, 1].map((row) => {
    const faces = [1, 2, 3, 4, 5, 6].map((die) => button(FACES[die - 1], () => pick(row, die), { class: "face-button", "aria-label": t("die_of", { n: row + 1, die }), "aria-pressed": "false" }));
    return h("div", { class: "face-row" }, ...faces);
  });
  const pick = (row, die) => {
    chosen[row] = die;
    [...rows[row].children].forEach((each, i) => each.setAttribute("aria-pressed", String(i + 1 === die)));
    if (chosen[0] && chosen[1]) onDice([...chosen]);
  };
  box.append(...rows);
  if (onRandom) box.append(button(t("throw_random"), onRandom));
  box.typed = (die) => pick(chosen[0] === null ? 0 : 1, die);
  return box;
}
