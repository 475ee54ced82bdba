// The row of buttons under the board, the big one on it, and the sentence that says what is going on.

import { button, byId, h } from "./dom.js";
import { dicePicker } from "./dice.js";
import { t } from "./i18n.js";
import { settings } from "./settings.js";

export class Actions {
  constructor(game, play, dialogs) {
    this.game = game;
    this.play = play;
    this.dialogs = dialogs;
    this.picker = null;
  }

  show() {
    const { game } = this;
    const { view } = game;
    const bar = byId("actions");
    const centre = byId("centre");
    const inFocus = document.activeElement?.dataset?.act;
    this.picker = null;
    bar.replaceChildren();
    centre.replaceChildren();
    if (!view) return;
    const main = this.main();
    if (main) centre.append(main);
    bar.append(...this.buttons());
    if (inFocus) (bar.querySelector(`[data-act="${inFocus}"]:not(:disabled)`) ?? centre.querySelector("button"))?.focus();
    byId("status").textContent = this.status();
  }

  // What stands on the board: throw, pass the dice, answer, begin anew.
  main() {
    const { game } = this;
    const { view } = game;
    if (view.state === "over") {
      return h("div", { class: "result" }, h("strong", { text: this.resultText() }),
        button(t("play_again"), () => this.dialogs.again(), { class: "main", data: { act: "again" } }));
    }
    if (game.isBusy) return null;
    if (view.is_chance && game.isTyped) return this.typedDice();
    if (!game.isMine) return null;
    if (view.offer !== null) return this.pair("accept_resignation", "decline");
    if (view.state === "review") return this.pair("accept", "demand");
    if (game.can("roll") && view.state === "to_roll") return this.mainButton("roll", t("roll"));
    const isDone = view.state === "moving" && view.is_correct && !view.must_pass && view.steps?.length !== 0;
    if (isDone && view.legal_steps.length === 0) return this.mainButton("commit", t("commit"));
    return null;
  }

  mainButton(action, text) {
    return button(text, () => this.game.act(action), { class: "main", data: { act: action } });
  }

  pair(yes, no) {
    return h("div", { class: "pair" }, this.mainButton(yes, t(yes)), this.mainButton(no, t(no)));
  }

  typedDice() {
    const isBot = this.game.view.state !== "toss" && !this.game.isPerson(this.game.view.to_act);
    const act = (fields) => this.game.act(isBot ? "bot" : "roll", fields);
    this.picker = dicePicker((dice) => act({ dice }), () => act({}));
    return this.picker;
  }

  buttons() {
    const { game } = this;
    const { view } = game;
    const found = [];
    const add = (action, isEnabled, onClick = () => game.act(action)) =>
      found.push(button(t(action), onClick, { disabled: !isEnabled, data: { act: action }, title: t(`${action}_key`) }));
    if (view.state === "over") return found;
    add("undo", game.can("undo"));
    add("reset", game.can("undo"));
    add("commit", game.can("commit") && (view.is_correct || !view.is_strict) && !view.must_pass);
    add("hint", true, () => this.dialogs.toggleHints());
    if (view.enforce === "claims") {
      const isOn = this.play.hasFreeHand;
      found.push(button(t("free_hand"), () => {
        this.play.hasFreeHand = !isOn;
        this.play.clear();
        this.show();
      }, { disabled: !game.can("place"), "aria-pressed": String(isOn), data: { act: "free_hand" }, title: t("free_hand_about") }));
    }
    add("resign", game.can("resign"), () => this.dialogs.resign());
    if (game.hasBots) {
      found.push(button(t(game.isPaused ? "go_on" : "pause"), () => game.pause(!game.isPaused), { data: { act: "pause" } }));
    }
    return found;
  }

  status() {
    const { game } = this;
    const { view } = game;
    if (view.state === "over") return this.resultText();
    if (view.state === "toss") return t("status_toss");
    const name = game.name(view.to_act);
    const dice = view.dice.join("-");
    const isYou = name === t("you");
    if (view.offer !== null) return t("status_offer", { name: game.name(view.mover), level: t(`level_${view.offer}`), answerer: name });
    if (view.state === "review") return t("status_review", { name: game.name(view.mover), play: view.play, why: view.why_wrong?.text ?? "", answerer: name });
    if (view.must_pass && view.state === "moving") return t("status_pass", { name, dice, why: this.passReason() });
    if (view.state === "to_roll" && !game.isPerson(view.to_act)) return this.lastToss() + t("status_bot_rolls", { name });
    if (view.state === "to_roll") return this.lastToss() + t(isYou ? "status_you_roll" : "status_roll", { name });
    if (!game.isPerson(view.to_act)) return t("status_thinks", { name, dice });
    const left = view.dice_left.join(" ");
    if (!left || (view.is_correct && !view.legal_steps.length)) return t("status_done", { name, dice });
    return t(isYou ? "status_you_move" : "status_move", { name, dice, left });
  }

  lastToss() {
    const { view, isTyped } = this.game;
    if (!view.toss || view.n_turns > 0 || isTyped) return "";
    return `${t("toss_result", { white: view.toss[0], black: view.toss[1] })} `;
  }

  passReason() {
    const texts = [...new Set(this.game.view.pass_reasons.map((reason) => reason.text))];
    return texts.slice(0, 2).join("; ");
  }

  resultText() {
    const { view } = this.game;
    const { winner, level, points, how } = view.result;
    if (winner === null) return t("result_draw");
    const text = t(this.game.name(winner) === t("you") ? "result_you" : "result", { name: this.game.name(winner), level: t(`level_${level}`), n: points });
    return how === "resigned" ? `${text.replace(/[.!]$/, "")} ${t("by_resignation")}.` : text;
  }

  // rows: the board they are counted on, when it is not the game's own.
  players(bottom, rows = null) {
    const { game } = this;
    const { view } = game;
    const counts = rows ?? game.rows();
    const pips = (player) => (rows ? rows[player].reduce((sum, count, index) => sum + count * index, 0) : view.pips[player]);
    for (const [id, player] of [["player-bottom", bottom], ["player-top", 1 - bottom]]) {
      const isActive = view.state !== "over" && view.to_act === player;
      byId(id).className = `player${isActive ? " active" : ""}`;
      const isNamed = game.name(player) !== t(`colour_${player}`);
      byId(id).replaceChildren(
        h("span", { class: `disc side-${player}`, "aria-hidden": "true" }),
        h("span", { class: "name", text: game.name(player) }),
        h("span", { class: "colour", text: isNamed ? t(`colour_${player}`).toLowerCase() : "" }),
        h("span", { class: "pips", text: t("pips", { n: pips(player) }) }),
        h("span", { class: "off", text: t("off_count", { n: counts[player][0] }) }));
    }
  }

  digit(die) {
    this.picker?.typed(die);
    return this.picker !== null;
  }

  // The key that does the obvious thing.
  enter() {
    byId("centre").querySelector("button.main")?.click();
  }

  get isQuick() {
    return settings().speed !== 1;
  }
}
