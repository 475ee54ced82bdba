// Puts the page together: board, game, panels, dialogs, keys.

import { get } from "./api.js";
import { Actions } from "./actions.js";
import { Board, ways } from "./board.js";
import { NewGame, preset, showGames, showHelp, showResign, showSettings } from "./dialogs.js";
import { byId, sleep } from "./dom.js";
import { Editor } from "./editor.js";
import { Game } from "./game.js";
import { lang, LANGS, onLang, setLang, t } from "./i18n.js";
import { Hints, playText, Turns } from "./panels.js";
import { Play } from "./play.js";
import { knock } from "./sound.js";
import { keepGame, lastGame, onSettings, set, settings } from "./settings.js";

let presets = {};
let refusalTimer = 0;
let slowTimer = 0;
const SLOW_MS = 1500; // an answer that takes longer is explained

const board = new Board(byId("board"), {
  onPlace: (place, event) => (editor?.isOpen ? editor.on(place, event) : looking() ? turns.look(null) : play.on(place)),
  onDrop: (from, to) => !editor?.isOpen && play.drop(from, to),
  canDrag: (place) => (editor?.isOpen || looking() ? null : play.draggable(place)),
  onDice: () => game.view?.legal_steps.length === 0 && game.view.is_correct && game.can("commit") && game.act("commit"),
});

// What the game tells the page.
const ui = {
  opened() {
    play.hasFreeHand = false;
    byId("rules-name").textContent = preset(game.view.rules);
    document.body.classList.toggle("long", presets[presetOf(game.view.rules)].game === "long");
    byId("refusal").hidden = true;
    arrange();
    board.show(game.rows(), false);
    this.refreshed();
  },
  waiting() {
    byId("refusal").hidden = true;
    board.drawArrows([]);
    play.closeChooser();
    byId("board-frame").classList.add("busy");
    clearTimeout(slowTimer);
    slowTimer = setTimeout(tellSlow, SLOW_MS);
  },
  // The game after an action; another's play is shown step by step.
  async changed(before, action, stepMs) {
    const { view } = game;
    arrange();
    const made = view.n_turns > before.n_turns ? view.last_turn : null;
    const isShown = made && action === "bot" && made.steps?.length && stepMs > 0;
    if (isShown) await board.play(made.by, made.steps, stepMs);
    board.show(game.rows());
    if (["step", "move", "place", "bot", "commit"].includes(action)) knock();
    drawDice(action === "roll" || (action === "bot" && view.state === "moving") ? "thrown" : "");
    if (made) say(t("said_turn", { name: game.name(made.by), dice: made.dice.join("-"), play: playText(made) }));
    else if (action === "roll" && view.dice[0]) say(t("said_dice", { dice: view.dice.join("-") }));
    turns.update();
  },
  ready() {
    clearTimeout(slowTimer);
    byId("board-frame").classList.remove("busy");
    show();
  },
  refreshed() {
    arrange();
    board.show(game.rows(), false);
    drawDice();
    show();
    turns.update();
  },
  refused(error) {
    const line = byId("refusal");
    line.textContent = t("refused", { why: error.code === "offline" ? t("offline") : error.text });
    line.hidden = false;
    clearTimeout(refusalTimer);
    refusalTimer = setTimeout(() => { line.hidden = true; }, 9000);
  },
  announceNext(next) {
    if (next.isPass) show();
  },
};

const game = new Game(ui);
const play = new Play(board, game);
const newGame = new NewGame(presets, (view) => {
  if (editor.isOpen) editor.close();
  return game.open(view);
});
const actions = new Actions(game, play, {
  again: () => newGame.repeat(game.view).catch((error) => ui.refused(error)),
  resign: () => showResign(game),
  toggleHints,
});
const placed = (steps, kind, player) => ways(steps).map(({ from, to }) => ({ from: board.placeOf(player, from), to: board.placeOf(player, to), kind }));
const arrows = (steps, kind, player) => {
  const isHeld = play.selected !== null || byId("panel-hints").hidden;
  const open = steps.length && (editor.isOpen || (player === game.view?.mover && !game.view.steps?.length && !isHeld));
  board.drawArrows(open ? placed(steps.map((step) => [step.from, step.to, step.die, step.is_hit]), kind, player) : []);
};
const hints = new Hints(game, { showArrows: arrows, playSteps });
const turns = new Turns(game, lookAt);
let editor = null;

const looking = () => turns.at !== null;
const presetOf = (rules) => rules.split("(")[0];

function bottomPlayer() {
  const { bottom } = settings();
  const { view } = game;
  if (editor?.isOpen) return bottom === "mover" ? editor.mover : 0;
  if (bottom === "white" || bottom === "black") return bottom === "white" ? 0 : 1;
  if (bottom === "mover" && view) return view.mover;
  const people = view ? [0, 1].filter((player) => game.isPerson(player)) : [];
  return people.length === 1 ? people[0] : 0;
}

function arrange() {
  const name = editor?.isOpen ? editor.preset : presetOf(game.view.rules);
  const bottom = bottomPlayer();
  board.arrange(presets[name], bottom, settings().home);
  const isFixed = settings().numbers !== "mover" || (!editor?.isOpen && game.view.state === "over");
  board.numbersOf = isFixed ? bottom : editor?.isOpen ? editor.mover : game.view.mover;
  board.drawNumbers(board.numbersOf);
}

function show() {
  if (!game.view || editor?.isOpen) return;
  actions.show();
  actions.players(bottomPlayer());
  byId("board-frame").classList.toggle("looking", looking());
  if (looking()) return;
  play.light();
  hints.update();
  hints.showChosen();
}

function drawDice(state = "") {
  const { view } = game;
  const last = view.last_turn;
  if (view.dice[0]) board.drawDice(view.dice, view.state === "review" ? [] : view.dice_left, view.mover, state);
  else if (last) board.drawDice(last.dice, [], last.by, "old");
  else board.drawDice(null);
}

// Look back at a turn of the game, or with null at the game itself.
function lookAt(turn) {
  if (!turn) {
    ui.refreshed();
    return;
  }
  const rows = turn.by === 0 ? turn.board : [turn.board[1], turn.board[0]];
  if (settings().numbers === "mover") board.numbersOf = turn.by;
  board.drawNumbers(board.numbersOf);
  board.show(rows);
  board.light();
  board.drawDice(turn.dice, [], turn.by, "old");
  board.drawArrows(placed(turn.steps ?? [], turns.judged[turn.number - 1]?.verdict ?? "good", turn.by));
  show();
  actions.players(bottomPlayer(), rows);
  byId("status").textContent = t("looking_at", { n: turn.number, name: game.name(turn.by), dice: turn.dice.join("-"), play: playText(turn) });
}

async function playSteps(suggestion) {
  if (game.view.steps?.length && !(await game.act("reset"))) return;
  for (const step of suggestion.steps) {
    while (game.isBusy) await sleep(20);
    if (!(await game.act("step", { start: step.from, die: step.die }))) return;
  }
}

// A server that has just started compiles its kernels; otherwise a bot thinks, which the status says already.
async function tellSlow() {
  const health = await fetch("/health").then((answer) => answer.json()).catch(() => null);
  if (game.isBusy && health?.is_warm === false) byId("status").textContent = t("warming");
}

function toggleHints() {
  openTab("hints");
  set({ showHints: !settings().showHints });
}

function openTab(name) {
  for (const each of ["hints", "moves", "graph"]) {
    byId(`panel-${each}`).hidden = each !== name;
    byId(`tab-${each}`).setAttribute("aria-selected", String(each === name));
    byId(`tab-${each}`).tabIndex = each === name ? 0 : -1;
  }
  if (!game.view) return;
  if (!looking()) hints.showChosen();
  if (name === "hints") hints.update();
  else turns.update().then(() => turns.judge());
}

function say(text) {
  byId("announcer").textContent = text;
}

function applySettings() {
  const { theme, colours, speed } = settings();
  document.documentElement.dataset.theme = theme;
  document.documentElement.dataset.colours = colours;
  document.documentElement.dataset.speed = speed;
  if (editor?.isOpen) {
    arrange();
    editor.show();
  } else if (game.view) {
    arrange();
    show();
    hints.draw("");
    hints.update();
    if (!game.isBusy) game.goOn();
  }
}

function onKey(event) {
  const isTyping = event.target.closest("input, select, textarea, dialog");
  if (isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
  const key = event.key.toLowerCase();
  const ways = {
    r: () => (game.can("roll") && !game.isTyped ? game.act("roll") : actions.enter()), к: "r",
    d: () => actions.enter(), в: "d",
    u: () => game.can("undo") && game.act("undo"), г: "u", backspace: "u",
    x: () => game.can("undo") && game.act("reset"), ч: "x",
    h: toggleHints, р: "h",
    n: () => newGame.show(), т: "n",
    e: () => openEditor(), у: "e",
    l: nextLang, д: "l",
    m: () => play.focusFirst(), ь: "m",
    "[": () => turns.look(turns.at === null ? turns.turns.length : turns.at - 1), х: "[",
    "]": () => turns.at !== null && turns.look(turns.at + 1), ъ: "]",
    "?": showHelp,
    escape: () => (looking() ? turns.look(null) : play.clear()),
  };
  let way = ways[key];
  if (typeof way === "string") way = ways[way];
  if (/^[1-6]$/.test(key) && byId("chooser").hidden && actions.digit(Number(key))) way = () => {};
  const isButton = event.target.closest("button, a, [role=button]");
  if ((key === "enter" || key === " ") && !isButton) way = () => (byId("centre").querySelector("button.main") ? actions.enter() : play.focusFirst());
  if (!way) return;
  event.preventDefault();
  way();
}

function nextLang() {
  const next = LANGS[(LANGS.indexOf(lang()) + 1) % LANGS.length];
  set({ lang: next });
  setLang(next);
}

function openEditor() {
  if (editor.isOpen) return;
  const { view } = game;
  editor.open(view ? presetOf(view.rules) : "short", view ? game.rows() : null, view?.mover);
}

// The game that the address names, once: what is shown later may be another, so the address then names none.
function linkedGame() {
  const id = /^#([0-9a-f]{12})$/.exec(location.hash)?.[1];
  if (id) history.replaceState(null, "", "/");
  return id;
}

function openLinked() {
  const id = linkedGame();
  if (!id) return;
  if (editor.isOpen) editor.close();
  if (byId("dialog").open) byId("dialog").close();
  game.load(id).catch((error) => ui.refused(error));
}

function wire() {
  byId("open-new").onclick = () => newGame.show();
  byId("open-games").onclick = () => showGames((id) => game.load(id), (view) => game.open(view)).catch((error) => ui.refused(error));
  byId("open-editor").onclick = () => openEditor();
  byId("open-settings").onclick = () => showSettings();
  byId("open-help").onclick = () => showHelp();
  byId("lang").onclick = nextLang;
  for (const name of ["hints", "moves", "graph"]) byId(`tab-${name}`).onclick = () => openTab(name);
  byId("tabs").addEventListener("keydown", (event) => {
    const names = ["hints", "moves", "graph"];
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    const name = names[(names.findIndex((each) => event.target.id === `tab-${each}`) + step + 3) % 3];
    openTab(name);
    byId(`tab-${name}`).focus();
  });
  document.addEventListener("keydown", onKey);
  document.addEventListener("visibilitychange", () => !document.hidden && !editor.isOpen && game.refresh());
  addEventListener("hashchange", openLinked);
  onSettings(applySettings);
  onLang(() => {
    byId("lang").textContent = { en: "RU", ru: "EN" }[lang()];
    if (!game.view) return;
    byId("rules-name").textContent = preset(game.view.rules);
    if (editor.isOpen) editor.draw();
    else game.refresh();
    openTab(["hints", "moves", "graph"].find((name) => !byId(`panel-${name}`).hidden));
  });
}

async function begin() {
  setLang(settings().lang);
  byId("lang").textContent = { en: "RU", ru: "EN" }[lang()];
  applySettings();
  Object.assign(presets, (await get("rules")).presets);
  editor = new Editor(board, presets, {
    onPlay: (position, name) => newGame.show(position, name),
    onClose: () => game.view && ui.refreshed(),
    onArrows: (steps, kind, player) => arrows(steps, kind, player),
  });
  editor.arrange = arrange;
  wire();
  openTab("hints");
  get("nets").then((nets) => {
    byId("net-name").textContent = Object.values(nets).length ? t("nets", { names: Object.values(nets).join(", ") }) : t("no_net");
  });
  const wanted = linkedGame() ?? lastGame();
  try {
    if (wanted) {
      await game.load(wanted);
      return;
    }
  } catch (error) {
    if (error.code !== "unknown_game") throw error; // the game is still there, so it stays the one to go on with
    keepGame("");
  }
  const { net } = await get("nets").then((nets) => ({ net: nets.long ? "net" : "heuristic" }));
  await newGame.begin({ ...newGame.last, level: net });
}

begin().catch((error) => {
  byId("refusal").textContent = error.text ?? error.message;
  byId("refusal").hidden = false;
  throw error;
});

