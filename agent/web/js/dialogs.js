// Dialogs: a new game, kept games, settings, help, resignation.

import { get, post, remove } from "./api.js";
import { button, byId, h } from "./dom.js";
import { LANGS, setLang, t } from "./i18n.js";
import { set, settings } from "./settings.js";

const BOTS = ["random", "pips", "heuristic", "net", "net@1ply", "net@2ply"];
const botName = (text) => t(`bot_${text.replace(/\W/g, "_")}`);

function open(title, ...content) {
  const dialog = byId("dialog");
  const close = button("✕", () => dialog.close(), { class: "close", "aria-label": t("close") });
  dialog.replaceChildren(h("div", { class: "dialog-head" }, h("h2", { text: title, id: "dialog-title" }), close), ...content);
  dialog.setAttribute("aria-labelledby", "dialog-title");
  if (!dialog.open) dialog.showModal();
}

const close = () => byId("dialog").close();

export function choice(label, name, options, value, onChange) {
  const select = h("select", { name, on: onChange ? { change: (event) => onChange(event.target.value) } : {} },
    ...options.map(([key, text]) => h("option", { value: key, text, selected: String(key) === String(value) })));
  return h("label", { class: "row" }, h("span", { text: label }), select);
}

const check = (label, name, isOn, onChange) =>
  h("label", { class: "row check" }, h("input", { type: "checkbox", name, checked: isOn, on: { change: (event) => onChange(event.target.checked) } }), h("span", { text: label }));

const fault = () => h("p", { class: "refusal", role: "alert", hidden: true });

function tell(element, error) {
  element.textContent = error.text ?? error.message;
  element.hidden = false;
}

// A new game. position: rows and who is on roll, where it does not begin at the start.
export class NewGame {
  constructor(presets, onGame) {
    this.presets = presets;
    this.onGame = onGame;
    this.last = { preset: "long_classic", who: "bot", level: "net", second: "net", seat: "0", enforce: "strict", dice: "seed", first: "toss" };
  }

  show(position = null, preset = null) {
    this.position = position;
    this.draw({ ...this.last, ...(preset ? { preset } : {}), ...(position ? { first: String(position.mover) } : {}) });
  }

  draw(values) {
    const form = h("form", { method: "dialog", class: "form", id: "new-form" });
    const redraw = () => this.draw(this.read(form));
    const fill = (...rows) => form.append(...rows.filter(Boolean));
    const bots = BOTS.map((text) => [text, botName(text)]);
    fill(
      choice(t("rules"), "preset", Object.keys(this.presets).filter((name) => !this.position || name === values.preset).map((name) => [name, t(`preset_${name}`)]), values.preset, redraw),
      choice(t("who_plays"), "who", ["bot", "people", "watch"].map((who) => [who, t(`who_${who}`)]), values.who, redraw),
      values.who === "people" ? null : choice(t(values.who === "watch" ? "level_white" : "level_of_bot"), "level", bots, values.level),
      values.who === "watch" ? choice(t("level_black"), "second", bots, values.second) : null,
      values.who === "bot" ? choice(t("you_play"), "seat", [["0", t("colour_0")], ["1", t("colour_1")]], values.seat) : null,
      values.who === "people" ? h("div", { class: "pair" }, ...[0, 1].map((n) => h("input", { name: `name${n}`, maxlength: 40, placeholder: t(`colour_${n}`), "aria-label": t("name_of", { colour: t(`colour_gen_${n}`) }), value: values[`name${n}`] ?? "" }))) : null,
      choice(t("who_begins"), "first", [["toss", t("by_toss")], ["0", t("colour_0")], ["1", t("colour_1")]], values.first),
      choice(t("wrong_turns"), "enforce", ["strict", "claims"].map((key) => [key, t(`enforce_${key}`)]), values.enforce),
      choice(t("dice"), "dice", ["seed", "typed", "verifiable"].map((key) => [key, t(`dice_${key}`)]), values.dice),
      this.options(values));
    const problem = fault();
    form.append(problem, h("div", { class: "form-end" }, button(t("cancel"), close), h("button", { class: "main", text: t("begin"), id: "begin" })));
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      this.last = this.read(form);
      try {
        await this.begin(this.last);
        close();
      } catch (error) {
        tell(problem, error);
      }
    });
    open(t(this.position ? "game_from_position" : "new_game"), form);
  }

  options(values) {
    const { options } = this.presets[values.preset];
    const rows = Object.entries(options).map(([name, { value, allowed }]) =>
      choice(t(`option_${name}`), `option:${name}`, allowed.map((word) => [word, t(`word_${name}_${word}`)]), values[`option:${name}`] ?? value));
    return h("details", { open: Object.keys(values).some((key) => key.startsWith("option:") && values[key] !== options[key.slice(7)]?.value) }, h("summary", { text: t("rule_options") }), ...rows);
  }

  read(form) {
    return { ...this.last, ...Object.fromEntries(new FormData(form)) };
  }

  async begin(values) {
    const { options } = this.presets[values.preset];
    const changed = Object.entries(options)
      .map(([name, { value }]) => [name, values[`option:${name}`] ?? value, value])
      .filter(([, wanted, value]) => wanted !== value)
      .map(([name, wanted]) => `${name}=${wanted}`);
    const rules = changed.length ? `${values.preset}(${changed.join(",")})` : values.preset;
    const person = (n) => (values[`name${n}`]?.trim() ? `you:${values[`name${n}`].trim()}` : "you");
    const players = {
      bot: values.seat === "0" ? ["you", values.level] : [values.level, "you"],
      people: [person(0), person(1)],
      watch: [values.level, values.second],
    }[values.who];
    const ask = { rules, players, enforce: values.enforce, dice: values.dice };
    if (values.first !== "toss") ask.first = Number(values.first);
    if (this.position) {
      ask.first ??= this.position.mover;
      ask.position = ask.first === this.position.mover ? this.position.board : [this.position.board[1], this.position.board[0]];
    }
    this.again = ask;
    await this.onGame(await post("games", ask));
  }

  // The same players and rules once more, sides exchanged.
  async repeat(view) {
    const players = view.players.map((player) => player.text).reverse();
    await this.onGame(await post("games", { rules: view.rules, players, enforce: view.enforce, dice: view.dice_kind }));
  }
}

// Games kept by the server, and records from files.
export async function showGames(onOpen, onGame) {
  const problem = fault();
  const list = h("ul", { class: "game-list" });
  const file = h("input", { type: "file", class: "unseen", tabindex: "-1", accept: ".jsonl,.ndjson,.txt", id: "record-file", "aria-label": t("load_record"), on: { change: async (event) => {
    try {
      await onGame(await post("games/load", { record: await event.target.files[0].text() }));
      close();
    } catch (error) {
      tell(problem, error);
    }
  } } });
  open(t("games"), h("div", {}, button(`${t("load_record")}…`, () => file.click(), { id: "load-record" }), file), problem, list);
  const { games } = await get("games?limit=30");
  list.replaceChildren(...games.map((game) => h("li", {},
    button(`${preset(game.rules)} · ${game.players.map(shown).join(" — ")}`, async () => {
      try {
        await onOpen(game.id);
        close();
      } catch (error) {
        tell(problem, error);
      }
    }, { class: "game" }),
    h("small", { text: new Date(game.time).toLocaleString(document.documentElement.lang) }),
    button("✕", async (event) => {
      await remove(`games/${game.id}`);
      event.target.closest("li").remove();
    }, { class: "small", "aria-label": t("delete_game") }))));
  if (!games.length) list.append(h("li", { class: "note", text: t("no_games") }));
}

const shown = (text) => (text === "you" ? t("person") : text.startsWith("you:") ? text.slice(4) : botName(text));

export function preset(rules) {
  const name = rules.split("(")[0];
  return t(`preset_${name}`) + rules.slice(name.length);
}

const CHOICES = {
  theme: ["auto", "light", "dark"],
  colours: ["wood", "green", "blue", "contrast"],
  home: ["right", "left"],
  bottom: ["me", "white", "black", "mover"],
  numbers: ["mover", "bottom"],
  speed: ["1", "2", "0"],
};
const CHECKS = ["autoRoll", "autoPass", "oneClick", "showTargets", "sound"];

export function showSettings() {
  const values = settings();
  const langs = choice(t("language"), "lang", LANGS.map((name) => [name, { en: "English", ru: "Русский" }[name]]), values.lang, (value) => {
    set({ lang: value });
    setLang(value);
    showSettings();
  });
  const rows = Object.entries(CHOICES).map(([name, options]) =>
    choice(t(`set_${name}`), name, options.map((key) => [key, t(`${name}_${key}`)]), values[name], (value) => set({ [name]: name === "speed" ? Number(value) : value })));
  const checks = CHECKS.map((name) => check(t(`set_${name}`), name, values[name], (value) => set({ [name]: value })));
  open(t("settings"), h("div", { class: "form" }, langs, ...rows, ...checks));
}

export function showHelp() {
  const keys = ["key_arrows", "key_enter", "key_roll", "key_done", "key_undo", "key_hint", "key_bar", "key_dice", "key_steps", "key_new"];
  const rows = keys.map((key) => {
    const [name, about] = t(key).split(" | ");
    return h("tr", {}, h("td", {}, h("kbd", { text: name })), h("td", { text: about }));
  });
  open(t("help"), h("p", { text: t("help_mouse") }), h("p", { text: t("help_turn") }), h("h3", { text: t("keys") }), h("table", { class: "keys" }, h("tbody", {}, ...rows)));
}

export function showResign(game) {
  const buttons = game.view.levels.map(({ level, points }) =>
    button(t("resign_level", { level: t(`level_${level}`), n: points }), () => {
      close();
      game.act("resign", { level });
    }));
  open(t("resign"), h("p", { text: t("resign_about") }), h("div", { class: "column" }, ...buttons));
}
