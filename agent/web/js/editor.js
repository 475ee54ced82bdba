// Setting up a position by hand or by pasting an ID. What is a position, the server says.

import { post } from "./api.js";
import { button, byId, h } from "./dom.js";
import { figure, percent, t } from "./i18n.js";
import { choice, preset as presetName } from "./dialogs.js";
import { inWords } from "./panels.js";

const TAKE = 2; // in place of a colour: a click takes a checker
const XGID = /^\s*(xgid=|[-a-p]{26}:)/i; // how one begins; what is one, the server says

export class Editor {
  // board: the drawing. presets: rules by name. onPlay(position, preset), onAnalyse(answer), onClose().
  constructor(board, presets, { onPlay, onClose, onArrows }) {
    this.board = board;
    this.presets = presets;
    this.calls = { onPlay, onClose, onArrows };
    this.isOpen = false;
    this.colour = 0; // whose checkers a click sets
    this.mover = 0;
    this.rows = null;
    this.preset = "short";
    this.answer = "";
  }

  // rows: where editing begins, or null for the start of the preset.
  open(preset, rows, mover) {
    this.isOpen = true;
    this.preset = preset in this.presets ? preset : "short";
    this.rows = rows ? rows.map((row) => [...row]) : this.start();
    this.mover = mover ?? 0;
    byId("editor").hidden = false;
    document.body.classList.add("editing");
    this.draw();
  }

  close() {
    this.isOpen = false;
    byId("editor").hidden = true;
    document.body.classList.remove("editing");
    this.calls.onClose();
  }

  get rules() {
    return this.presets[this.preset];
  }

  start() {
    const { start_board: board } = this.rules;
    return [[...board[0]], [...board[1]]];
  }

  // The board as the player on roll sees it.
  seen() {
    return this.mover === 0 ? this.rows : [this.rows[1], this.rows[0]];
  }

  // A place was clicked: one more checker of the chosen colour, or (with Shift, or the other button) one less.
  on(place, event) {
    const isLess = event.shiftKey || event.button === 2 || this.colour === TAKE;
    const player = isLess ? this.owner(place) ?? 0 : this.colour;
    const index = this.board.indexOf(player, place);
    if (index === null || index === 0) return;
    const row = this.rows[player];
    if (isLess && row[index] > 0) {
      row[index] -= 1;
      row[0] += 1;
    } else if (!isLess && row[0] > 0) {
      row[index] += 1;
      row[0] -= 1;
    }
    this.show();
  }

  owner(place) {
    return [0, 1].find((player) => {
      const index = this.board.indexOf(player, place);
      return index !== null && this.rows[player][index] > 0;
    });
  }

  // note: what else is to be said of the position.
  show(note = "") {
    this.board.show(this.rows, false);
    this.board.light();
    this.board.drawDice(null);
    this.calls.onArrows([]);
    this.check(note);
  }

  async check(note) {
    const board = JSON.stringify(this.seen());
    try {
      const found = await post("position", { rules: this.preset, position: this.seen() });
      if (board !== JSON.stringify(this.seen())) return;
      this.say(`${note} ${t("position_ok", { mine: found.pips[0], theirs: found.pips[1] })}`.trim(), false);
      byId("editor-id").value = found.xgid ?? found.gnubg_id;
      byId("editor-gnubg").textContent = found.gnubg_id;
    } catch (error) {
      if (board === JSON.stringify(this.seen())) this.say(error.text ?? error.message, true);
    }
  }

  say(text, isFault) {
    const line = byId("editor-answer");
    line.textContent = text;
    line.classList.toggle("fault", isFault);
  }

  // An XGID is of short nardy only: where long rules are chosen, it brings short ones with it.
  async paste(text) {
    const isOther = XGID.test(text) && this.rules.game !== "short";
    const preset = isOther ? Object.keys(this.presets).find((name) => this.presets[name].game === "short") : this.preset;
    try {
      const found = await post("position", { rules: preset, position: text.trim() });
      const [mine, theirs] = found.board;
      this.rows = this.mover === 0 ? [mine, theirs] : [theirs, mine];
      if (isOther) this.choose(preset);
      if (found.dice) byId("editor-dice").value = found.dice.join("");
      this.show(isOther ? t("xgid_is_short", { rules: presetName(preset) }) : "");
    } catch (error) {
      this.say(t("bad_position", { why: error.text ?? error.message }), true);
    }
  }

  choose(preset) {
    this.preset = preset;
    byId("editor").querySelector("[name='editor-preset']").value = preset;
    this.arrange?.();
  }

  async analyse() {
    const dice = byId("editor-dice").value.trim();
    const result = byId("editor-result");
    try {
      const ask = { rules: this.preset, position: this.seen(), plies: 1 };
      if (!dice) {
        const found = await post("evaluate", { ...ask, plies: 0 });
        result.replaceChildren(h("li", { text: t("worth", { equity: figure(found.equity), win: percent(found.cumulative.win_or_better) }) }));
        return;
      }
      const found = await post("suggest", { ...ask, dice, top: 5 });
      result.replaceChildren(...found.suggestions.map((play, i) => h("li", { class: play.verdict },
        button(`${i + 1}. ${play.is_pass ? t("pass") : inWords(play.play)}  ${figure(play.equity)}`, () => this.calls.onArrows(play.steps, play.verdict, this.mover)))));
      const [best] = found.suggestions;
      this.calls.onArrows(best.steps, best.verdict, this.mover);
    } catch (error) {
      this.say(error.text ?? error.message, true);
    }
  }

  draw() {
    const reset = (rows) => {
      this.rows = rows;
      this.show();
    };
    const empty = () => [0, 1].map(() => [15, ...Array(25).fill(0)]);
    const names = Object.keys(this.presets).map((name) => [name, presetName(name)]);
    byId("editor").replaceChildren(
      h("h2", { text: t("editor") }), h("p", { class: "note", text: t("editor_about") }),
      choice(t("rules"), "editor-preset", names, this.preset, (value) => {
        const isOther = this.presets[value].game !== this.rules.game;
        this.choose(value);
        if (isOther) this.rows = this.start();
        this.show();
      }),
      choice(t("set_checkers"), "editor-colour", [[0, t("colour_0")], [1, t("colour_1")], [TAKE, t("take_off")]], this.colour, (value) => { this.colour = Number(value); }),
      choice(t("on_roll"), "editor-mover", [[0, t("colour_0")], [1, t("colour_1")]], this.mover, (value) => {
        this.mover = Number(value);
        this.arrange?.();
        this.show();
      }),
      h("div", { class: "pair" }, button(t("start_position"), () => reset(this.start())), button(t("empty_board"), () => reset(empty()))),
      h("label", { class: "row" }, h("span", { text: t("paste_id") }), h("input", { id: "editor-id", spellcheck: "false", autocomplete: "off", on: { change: (event) => this.paste(event.target.value) } })),
      h("p", { class: "note" }, "GNUBG ID: ", h("code", { id: "editor-gnubg" })),
      h("p", { id: "editor-answer", class: "note", role: "status" }),
      h("label", { class: "row" }, h("span", { text: t("dice") }), h("input", { id: "editor-dice", maxlength: 5, inputmode: "numeric", placeholder: "64" })),
      h("div", { class: "pair" }, button(t("analyse"), () => this.analyse(), { id: "editor-analyse" }),
        button(t("play_from_here"), () => this.calls.onPlay({ board: this.seen(), mover: this.mover }, this.preset), { class: "main", id: "editor-play" })),
      h("ol", { id: "editor-result", class: "plain" }),
      button(t("close"), () => this.close(), { id: "editor-close" }));
    this.arrange?.();
    this.show();
  }
}
