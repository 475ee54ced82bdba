// Beside the board: hints with their chances, the move list to step through, and the graph of equities.

import { get, post } from "./api.js";
import { button, byId, h, s, sleep } from "./dom.js";
import { figure, lossText, percent, t } from "./i18n.js";
import { set, settings } from "./settings.js";

const DELAY = 150; // ms before figures are asked for: a state that passes quickly needs none

// A bar of outcome chances: wins from the left, losses from the right.
function chancesBar(probs, levels) {
  const won = levels.map((level) => ["win", level, probs[`win_${level}`]]);
  const lost = levels.map((level) => ["lose", level, probs[`lose_${level}`]]);
  const win = won.reduce((sum, part) => sum + part[2], 0);
  const told = [...won, ...lost].filter((part) => part[2] >= 0.0005).map(([side, level, p]) => `${t(`${side}_${level}`)} ${percent(p)}`);
  const parts = [...[...won].reverse(), ...lost];
  let at = 0;
  const rects = parts.map(([side, level, p]) => {
    const rect = s("rect", { class: `${side}-${level}`, x: 100 * at, width: 100 * Math.max(0, p), y: 0, height: 10 });
    at += p;
    return rect;
  });
  return h("div", { class: "chances", title: told.join(", ") },
    h("span", { class: "share", text: percent(win) }),
    s("svg", { viewBox: "0 0 100 10", preserveAspectRatio: "none", role: "img", "aria-label": told.join(", ") }, ...rects,
      s("rect", { class: "middle", x: 49.8, width: 0.4, y: 0, height: 10 })));
}

export class Hints {
  // showArrows(steps, kind, player), playSteps(suggestion).
  constructor(game, { showArrows, playSteps }) {
    this.game = game;
    this.calls = { showArrows, playSteps };
    this.key = "";
    this.request = null;
    this.found = null;
    this.chosen = -1;
  }

  get panel() {
    return byId("panel-hints");
  }

  // Ask for what fits the game now, if hints are wanted and not there yet.
  async update() {
    const { view } = this.game;
    const { showHints, hintPlies } = settings();
    const isTheirs = view && this.game.hasBots && this.game.isPerson(0) !== this.game.isPerson(1) && !this.game.isPerson(view.to_act);
    const isWanted = showHints && view && view.state !== "over" && view.state !== "toss" && !isTheirs && !this.panel.hidden;
    const board = view?.turn_start ?? view?.board;
    const dice = view?.turn_start ? view.dice : null;
    const key = isWanted ? JSON.stringify([view.rules, board, dice, hintPlies]) : "";
    if (key === this.key && document.documentElement.lang === this.language) return;
    this.key = key;
    this.language = document.documentElement.lang;
    this.request?.abort();
    this.found = null;
    this.chosen = -1;
    this.calls.showArrows([], "", 0);
    this.draw(isWanted ? "waiting" : "");
    if (!isWanted) return;
    await sleep(DELAY);
    if (key !== this.key) return;
    this.request = new AbortController();
    const ask = { rules: view.rules, position: board, plies: dice ? hintPlies : Math.min(hintPlies, 1) };
    try {
      const found = dice
        ? await post("suggest", { ...ask, dice, top: 6, words: true, lang: this.language }, this.request.signal)
        : await post("evaluate", ask, this.request.signal);
      if (key !== this.key) return; // the game has moved on: this answer is about an older position
      this.found = found;
      this.mover = view.mover;
      this.draw("");
    } catch (error) {
      if (key === this.key && error.name !== "AbortError") this.draw("", error.text ?? error.message);
    }
  }

  draw(state, fault = "") {
    const { showHints, hintPlies } = settings();
    const toggle = h("label", { class: "switch" },
      h("input", { type: "checkbox", id: "show-hints", checked: showHints, on: { change: (event) => set({ showHints: event.target.checked }) } }), t("show_hints"));
    const depth = h("select", { "aria-label": t("depth"), id: "hint-plies", on: { change: (event) => set({ hintPlies: Number(event.target.value) }) } },
      ...[0, 1, 2].map((plies) => h("option", { value: plies, text: t(plies ? "plies" : "plies_0", { n: plies }), selected: plies === hintPlies })));
    const body = h("div", { class: "hint-list", id: "hint-list" });
    if (fault) body.append(h("p", { class: "note", text: fault }));
    else if (state === "waiting") body.append(h("p", { class: "note busy", text: t("computing") }));
    else if (!showHints) body.append(h("p", { class: "note", text: t("hints_off") }));
    else if (this.found) body.append(...(this.found.suggestions ? this.plays() : this.worth()));
    this.panel.replaceChildren(h("div", { class: "panel-head" }, toggle, depth), body);
  }

  plays() {
    const { levels } = this.game.view;
    const names = levels.map((each) => each.level);
    const rows = this.found.suggestions.map((play, row) => {
      const loss = lossText(play.equity_loss);
      return h("li", { class: `hint ${play.verdict}${row === this.chosen ? " chosen" : ""}` },
        h("button", { type: "button", class: "hint-row", "aria-pressed": String(row === this.chosen), data: { row }, on: { click: () => this.choose(row), mouseenter: () => this.preview(row), focus: () => this.preview(row) } },
          h("span", { class: "rank", text: row + 1 }), h("span", { class: "play", text: play.is_pass ? t("pass") : inWords(play.play) }),
          h("span", { class: "equity", text: figure(play.equity) }), h("span", { class: "loss", text: loss })),
        chancesBar(play.probs, names),
        row === this.chosen ? this.more(play) : null);
    });
    const { level, net, n_legal: legal } = this.found;
    return [h("ol", { class: "hints" }, ...rows), h("p", { class: "note", text: t("hints_note", { n: legal, level, net }) })];
  }

  more(play) {
    const words = h("ul", { class: "words" }, ...(play.words ?? []).map((sentence) => h("li", { text: sentence })));
    const isOwn = this.game.can("step") && !play.is_pass;
    return h("div", {}, words, isOwn ? button(t("play_this"), () => this.calls.playSteps(play), { class: "small" }) : null);
  }

  worth() {
    const names = this.game.view.levels.map((each) => each.level);
    const { equity, probs, rolls } = this.found;
    const best = [...rolls].sort((a, b) => b.luck - a.luck);
    const told = (each) => `${each.dice.join("-")} ${figure(each.luck)}`;
    return [h("p", { class: "worth", text: t("before_roll", { name: this.game.name(this.mover), equity: figure(equity) }) }), chancesBar(probs, names),
      legend(names),
      best.length ? h("p", { class: "note", text: t("lucky_rolls", { best: best.slice(0, 3).map(told).join(", "), worst: best.slice(-3).map(told).join(", ") }) }) : null];
  }

  preview(row) {
    const play = this.found?.suggestions?.[row];
    if (play) this.calls.showArrows(play.steps, play.verdict, this.mover);
  }

  // The arrows of the play that is chosen; none where there is no such play, or it may not be shown now.
  showChosen() {
    const play = this.found?.suggestions?.[this.chosen];
    this.calls.showArrows(play?.steps ?? [], play?.verdict ?? "", this.mover);
  }

  choose(row) {
    this.chosen = this.chosen === row ? -1 : row;
    this.draw("");
    this.preview(row);
    this.panel.querySelector(`[data-row="${row}"]`)?.focus();
  }
}

function legend(levels) {
  const parts = [...levels].reverse().map((level) => ["win", level]).concat(levels.map((level) => ["lose", level]));
  return h("p", { class: "legend" }, ...parts.map(([side, level]) => h("span", {}, s("svg", { viewBox: "0 0 10 10", "aria-hidden": "true" }, s("rect", { class: `${side}-${level}`, width: 10, height: 10 })), t(`${side}_${level}`))));
}

// The turns of the game and what the net says of them; `at` is the turn looked at, null the game itself.
export class Turns {
  constructor(game, onLook) {
    this.game = game;
    this.onLook = onLook;
    this.turns = [];
    this.judged = [];
    this.at = null;
    this.key = "";
    this.isJudging = false;
  }

  async update() {
    const { view } = this.game;
    const key = `${view.id}:${view.n_turns}:${view.last_turn?.play}`;
    if (key === this.key) {
      this.draw();
      return;
    }
    const isSame = this.key.startsWith(`${view.id}:`);
    this.key = key;
    if (!isSame) [this.turns, this.judged, this.at] = [[], [], null];
    if (isSame && view.n_turns === this.turns.length + 1) this.turns.push(view.last_turn);
    else this.turns = (await get(`games/${view.id}/turns`)).turns;
    if (key !== this.key) return;
    this.draw();
    if (!byId("panel-graph").hidden || !byId("panel-moves").hidden) await this.judge();
  }

  // Figures of the net; without a net for these rules there are none.
  async judge() {
    const { key } = this;
    if (this.judged.length === this.turns.length) return;
    this.isJudging = true;
    this.draw();
    const found = await get(`games/${this.game.id}/analysis`).catch(() => null);
    if (key !== this.key) return; // the next turn's question is on its way
    this.isJudging = false;
    if (found) this.judged = found.turns;
    this.draw();
  }

  look(at) {
    const last = this.turns.length;
    this.at = at === null || at > last || last === 0 ? null : Math.max(1, at);
    this.draw();
    this.onLook(this.at === null ? null : this.turns[this.at - 1]);
  }

  draw() {
    if (!byId("panel-moves").hidden) this.drawList();
    if (!byId("panel-graph").hidden) this.drawGraph();
  }

  controls() {
    const last = this.turns.length;
    const at = this.at ?? last + 1;
    const go = (text, key, to, isOn) => button(text, () => this.look(to), { "aria-label": t(key), title: t(key), disabled: !isOn, class: "small" });
    return h("div", { class: "panel-head" },
      go("«", "first_turn", 1, last > 0 && at > 1), go("‹", "previous_turn", at - 1, at > 1 && last > 0),
      go("›", "next_turn", at + 1, this.at !== null), go("»", "back_to_game", null, this.at !== null),
      h("a", { href: `/api/v1/games/${this.game.id}/record`, download: "", text: t("save_record"), class: "link" }));
  }

  drawList() {
    const items = this.turns.map((turn) => {
      const judged = this.judged[turn.number - 1];
      const verdict = judged?.verdict ?? "";
      const told = judged?.loss ? lossText(judged.loss) : "";
      const about = judged?.loss > 0.0005 ? t("better_was", { play: inWords(judged.best), loss: figure(-judged.loss) }) : verdict && t(`verdict_${verdict}`);
      return h("li", { class: `side-${turn.by}${turn.number === this.at ? " chosen" : ""}` },
        h("button", { type: "button", title: about, "aria-current": turn.number === this.at ? "step" : null, on: { click: () => this.look(turn.number) } },
          h("span", { class: "rank", text: turn.number }),
          h("span", { class: `disc side-${turn.by}`, role: "img", "aria-label": t(`colour_${turn.by}`) }),
          h("span", { class: "dice", text: turn.dice.join("-") }),
          h("span", { class: "play", text: playText(turn) }),
          h("span", { class: `verdict ${verdict}`, text: told })));
    });
    const list = h("ol", { class: "turns", id: "turn-list" }, ...items);
    const proof = this.game.view.proof;
    byId("panel-moves").replaceChildren(this.controls(), items.length ? list : h("p", { class: "note", text: t("no_turns") }),
      proof ? h("details", { class: "note" }, h("summary", { text: t("proof") }), h("code", { text: JSON.stringify(proof) })) : "");
    const shown = this.at === null ? list.lastElementChild : list.children[this.at - 1];
    if (shown) list.scrollTop = shown.offsetTop - list.offsetTop - list.clientHeight / 2;
  }

  drawGraph() {
    const box = byId("panel-graph");
    const values = this.judged.map((turn) => turn.equity);
    if (!values.length) {
      box.replaceChildren(this.controls(), h("p", { class: "note", text: t(this.isJudging ? "computing" : this.turns.length ? "no_figures" : "no_turns") }));
      return;
    }
    const top = Math.max(1, ...values.map(Math.abs));
    const [width, height, pad] = [340, 200, 26];
    const x = (i) => pad + (i * (width - pad - 8)) / Math.max(1, values.length - 1);
    const y = (value) => height / 2 - (value / top) * (height / 2 - 12);
    const grid = [-top, -top / 2, 0, top / 2, top].map((value) => s("g", { class: "grid" },
      s("line", { x1: pad, x2: width - 8, y1: y(value), y2: y(value) }), s("text", { x: pad - 4, y: y(value) + 3, text: figure(value, 1, value !== 0) })));
    const line = s("polyline", { class: "line", points: values.map((value, i) => `${x(i)},${y(value)}`).join(" ") });
    const size = ({ verdict }) => (values.length < 50 || verdict === "error" || verdict === "blunder" ? 3.4 : 1.8); // a long game stays a line
    const dots = this.judged.map((turn, i) => {
      const title = `${turn.number}. ${playText(this.turns[i])}: ${figure(turn.equity)}${turn.loss >= 0.0005 ? ` (${lossText(turn.loss)})` : ""}`;
      return s("circle", { class: `dot ${turn.verdict ?? ""}${turn.number === this.at ? " chosen" : ""}`, cx: x(i), cy: y(turn.equity), r: turn.number === this.at ? 6 : size(turn), on: { click: () => this.look(turn.number) } }, s("title", { text: title }));
    });
    const label = t("graph_label", { n: values.length, last: figure(values.at(-1)) });
    box.replaceChildren(this.controls(), h("p", { class: "note", text: t("graph_about") }),
      s("svg", { class: "graph", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label }, ...grid, line, ...dots), this.summary());
  }

  // What each player lost by errors and won by luck.
  summary() {
    const rows = [0, 1].map((player) => {
      const own = this.judged.filter((turn, i) => this.turns[i].by === player && turn.loss !== null);
      const sum = (name) => own.reduce((total, turn) => total + turn[name], 0);
      const blunders = own.filter((turn) => turn.verdict === "blunder").length;
      const errors = own.filter((turn) => turn.verdict === "error").length;
      return h("tr", {}, h("th", { scope: "row", text: this.game.name(player) }), h("td", { text: figure(-sum("loss"), 2, sum("loss") >= 0.005) }), h("td", { text: errors }), h("td", { text: blunders }), h("td", { text: figure(sum("luck"), 2) }));
    });
    const head = ["", "lost_points", "errors", "blunders", "luck"].map((key) => h("th", { scope: "col", text: key ? t(key) : "" }));
    return h("table", { class: "summary" }, h("thead", {}, h("tr", {}, ...head)), h("tbody", {}, ...rows));
  }
}

export function playText(turn) {
  if (turn.play === "pass" || turn.play === "nothing moved") return t("pass");
  return turn.is_correct ? inWords(turn.play) : `${inWords(turn.play)} (!)`;
}

// A play with the language's words for the bar and bearing off.
export const inWords = (play) => play.replace(/\bbar\b/g, t("word_bar")).replace(/\boff\b/g, t("word_off"));
