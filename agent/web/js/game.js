// The game that is shown: what the server says of it, what the person may do, and what goes on by itself.

import { Fault, get, post } from "./api.js";
import { sleep } from "./dom.js";
import { t } from "./i18n.js";
import { keepGame, settings } from "./settings.js";

const PAUSE = { 0: 0, 1: 650, 2: 220 }; // ms by speed: before something happens by itself
const RETRY_MS = 3000; // how often a server that does not answer is asked again
const STEP = { 0: 0, 1: 330, 2: 160 }; // ms of one step of the other side

export class Game {
  // ui: what shows the game (see app.js).
  constructor(ui) {
    this.ui = ui;
    this.view = null;
    this.isBusy = false;
    this.isPaused = false;
    this.epoch = 0; // a new one for every game: answers to requests of an older one are dropped
  }

  get id() {
    return this.view?.id ?? null;
  }

  // Player 0's and player 1's counts, each from his own side.
  rows(view = this.view) {
    return view.mover === 0 ? [view.board[0], view.board[1]] : [view.board[1], view.board[0]];
  }

  isPerson(player) {
    return player !== null && this.view.players[player].is_person;
  }

  // Whether a person may act now.
  get isMine() {
    const { view } = this;
    if (!view || this.isBusy || view.state === "over") return false;
    return view.state === "toss" ? true : this.isPerson(view.to_act);
  }

  can(event) {
    return this.isMine && this.view.events.includes(event);
  }

  get isTyped() {
    return this.view.dice_kind === "typed";
  }

  get hasBots() {
    return this.view.players.some((player) => !player.is_person);
  }

  async open(view) {
    this.epoch += 1;
    this.view = view;
    this.isBusy = false;
    this.isPaused = false;
    keepGame(view.id);
    this.ui.opened();
    await this.addNonces();
    await this.goOn();
  }

  async load(id) {
    await this.open(await get(`games/${id}`));
  }

  // People's parts of verifiable dice are drawn by their browser.
  async addNonces() {
    const missing = [0, 1].filter((player) => this.view.proof && !(player in this.view.proof.nonces));
    for (const by of this.view.state === "over" ? [] : missing) {
      const bytes = crypto.getRandomValues(new Uint8Array(12));
      const nonce = [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
      this.view = await post(`games/${this.id}/nonce`, { by, nonce });
    }
  }

  // One action; true when the game took it. Refusals are shown, a game that has moved on is fetched again.
  async act(action, fields = {}) {
    if (this.isBusy) return false;
    this.isBusy = true;
    const { epoch, view: before } = this;
    let isDone = false;
    this.ui.waiting(action);
    try {
      const view = await post(`games/${before.id}/${action}`, { revision: before.revision, ...fields });
      if (epoch !== this.epoch) return false;
      this.view = view;
      isDone = true;
      await this.ui.changed(before, action, STEP[settings().speed]);
    } catch (error) {
      if (epoch !== this.epoch) return false;
      await this.failed(error);
    } finally {
      if (epoch === this.epoch) {
        this.isBusy = false;
        this.ui.ready();
      }
    }
    if (isDone && epoch === this.epoch) this.goOn();
    return isDone;
  }

  async failed(error) {
    if (!(error instanceof Fault)) throw error;
    const now = error.code === "stale" ? await get(`games/${this.id}`).catch(() => null) : null;
    if (now) this.view = now;
    else this.ui.refused(error);
    this.ui.refreshed();
    if (error.code === "offline") setTimeout(() => this.refresh(), RETRY_MS);
  }

  // The same game in another language, or as another window has left it.
  async refresh() {
    if (!this.view || this.isBusy) return;
    const { epoch } = this;
    const view = await get(`games/${this.id}`).catch((error) => {
      if (error.code === "offline" && epoch === this.epoch) setTimeout(() => this.refresh(), RETRY_MS);
      return null;
    });
    if (!view || epoch !== this.epoch || this.isBusy) return;
    this.view = view;
    this.ui.refreshed();
    this.goOn();
  }

  // What happens without a click: the toss, bots, passes, and what the settings leave to the program.
  async goOn() {
    const { epoch } = this;
    const next = this.nextByItself();
    if (!next || this.isPaused) return;
    const revision = this.view.revision;
    this.ui.announceNext(next);
    await sleep(next.pause);
    if (epoch !== this.epoch || this.isPaused || this.isBusy || this.view.revision !== revision) return;
    await this.act(next.action);
  }

  nextByItself() {
    const { view } = this;
    const pause = PAUSE[settings().speed];
    if (view.state === "over") return null;
    if (view.state === "toss") return this.isTyped ? null : { action: "roll", pause };
    if (!this.isPerson(view.to_act)) {
      if (view.is_chance && this.isTyped) return null; // the person throws real dice for the bot
      return { action: "bot", pause: view.is_chance ? pause / 2 : pause };
    }
    if (view.offer !== null || view.state === "review") return null;
    if (view.must_pass && view.state === "moving") return { action: "commit", pause: pause + 1900, isPass: true };
    const { autoRoll, autoPass } = settings();
    if (view.state === "to_roll" && autoRoll && !this.isTyped) return { action: "roll", pause };
    if (view.state === "moving" && autoPass && view.is_correct && view.steps?.length && !view.legal_steps.length) {
      return { action: "commit", pause };
    }
    return null;
  }

  pause(isPaused) {
    this.isPaused = isPaused;
    if (!isPaused) this.goOn();
    this.ui.ready();
  }

  // What the players are called.
  name(player) {
    const { text, name, is_person: isPerson } = this.view.players[player];
    if (!isPerson) return t(`bot_${text.replace(/\W/g, "_")}`);
    if (name) return name;
    return this.view.players[1 - player].is_person ? t(`colour_${player}`) : t("you");
  }
}
