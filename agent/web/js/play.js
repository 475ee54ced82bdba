// Clicks, drags and keys on the board become steps of the game: choosing a checker, where it goes, by which die.

import { asPlace, chooser } from "./board.js";
import { byId } from "./dom.js";
import { settings } from "./settings.js";

export class Play {
  constructor(board, game) {
    this.board = board;
    this.game = game;
    this.selected = null; // place of the checker chosen
    this.hasFreeHand = false; // checkers are put anywhere (claims)
  }

  get mover() {
    return this.game.view.mover;
  }

  get canMove() {
    const { game } = this;
    return game.can("step") && !game.view.must_pass;
  }

  get isFree() {
    return this.hasFreeHand && this.game.can("place");
  }

  place(index) {
    return this.board.placeOf(this.mover, index);
  }

  index(place) {
    return this.board.indexOf(this.mover, place);
  }

  // Ends that a checker of `start` can reach: index -> dice that lead there ([] where it takes several dice).
  ends(start) {
    const found = new Map();
    for (const step of this.game.view.legal_steps) {
      if (step.start === start) found.set(step.end, [...(found.get(step.end) ?? []), step.die]);
    }
    for (const target of this.game.view.targets) {
      if (target.start === start && !found.has(target.end)) found.set(target.end, []);
    }
    return found;
  }

  sources() {
    return [...new Set(this.game.view.legal_steps.map((step) => step.start))];
  }

  light() {
    const { showTargets } = settings();
    if (!this.canMove) {
      this.selected = null;
      this.board.light();
      return;
    }
    if (this.selected !== null && !this.game.view.board[0][this.selected]) this.selected = null;
    const sources = this.isFree ? [] : this.sources().map((index) => this.place(index));
    const targets = this.selected === null || this.isFree ? [] : [...this.ends(this.selected).keys()].map((end) => this.place(end));
    if (this.selected !== null) this.board.drawArrows([]);
    this.board.light({
      sources: showTargets ? sources : [],
      targets: showTargets ? targets : [],
      selected: this.selected === null ? null : this.place(this.selected),
      player: this.mover,
    });
  }

  clear() {
    this.closeChooser();
    this.selected = null;
    this.light();
  }

  // A place was clicked, or chosen by key.
  async on(place) {
    this.closeChooser();
    if (!this.canMove) return;
    const index = this.index(place);
    if (this.selected === null) {
      await this.select(index);
    } else if (index === this.selected) {
      this.clear();
    } else if (index !== null && !this.isFree && !this.ends(this.selected).has(index) && this.sources().includes(index)) {
      await this.select(index);
    } else {
      await this.go(this.selected, index);
    }
  }

  async select(index) {
    if (index === null || index === 0 || !this.game.view.board[0][index]) return;
    const ends = this.ends(index);
    if (!ends.size && !this.isFree) {
      await this.explain(index);
      return;
    }
    const [only] = ends;
    if (settings().oneClick && !this.isFree && ends.size === 1) {
      await this.go(index, only[0]);
      return;
    }
    this.selected = index;
    this.light();
  }

  // A checker that cannot move: the server says why.
  async explain(index) {
    const [die] = this.game.view.dice_left;
    if (die) await this.game.act("step", { start: index, die });
  }

  async go(start, end) {
    if (end === null) {
      this.clear();
      return;
    }
    if (this.isFree) {
      this.selected = null;
      await this.game.act("place", { start, end });
      return;
    }
    const dice = this.ends(start).get(end);
    if (dice && dice.length > 1) {
      this.choose(start, end, dice);
      return;
    }
    this.selected = null;
    if (dice?.length === 1) await this.game.act("step", { start, die: dice[0] });
    else await this.game.act("move", { start, end });
  }

  choose(start, end, dice) {
    const { board } = this;
    this.selected = start;
    this.light();
    chooser(byId("chooser"), board.svg, board.geometry, this.place(end), dice, (die) => {
      this.closeChooser();
      this.selected = null;
      this.game.act("step", { start, die });
    }, () => {
      this.closeChooser();
      this.board.focus(this.place(start));
    });
  }

  closeChooser() {
    byId("chooser").hidden = true;
  }

  // The checker that a drag from a place would take along.
  draggable(place) {
    if (!this.canMove) return null;
    const index = this.index(place);
    if (index === null || index === 0 || !this.game.view.board[0][index]) return null;
    return this.board.pieces.top(this.mover, index);
  }

  async drop(from, to) {
    const start = this.index(from);
    const end = this.index(to);
    this.closeChooser();
    if (start !== null && end !== null && this.canMove) await this.go(start, end);
  }

  // Where the keyboard goes first: the place in focus, or the first checker that can move.
  focusFirst() {
    const inFocus = asPlace(document.activeElement?.dataset?.place);
    if (inFocus !== null) return;
    const [first] = this.sources();
    if (this.canMove && first !== undefined) this.board.focus(this.place(first));
  }
}
