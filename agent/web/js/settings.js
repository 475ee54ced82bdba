// What a person has chosen, kept in this browser.

const KEY = "nardy-settings";
const DEFAULTS = {
  lang: (navigator.language ?? "en").toLowerCase().startsWith("ru") ? "ru" : "en",
  theme: "auto", // auto, light, dark
  colours: "wood", // wood, green, blue, contrast
  home: "right", // side of the bottom player's home
  bottom: "me", // me, white, black, mover
  numbers: "mover", // mover, bottom
  speed: 1, // 0 none, 1 usual, 2 fast
  autoPass: false, // pass the dice once all are played
  autoRoll: false,
  oneClick: true, // a click plays the only choice
  showTargets: true,
  showHints: false,
  hintPlies: 0,
  sound: false,
};

let values = { ...DEFAULTS, ...read() };
const listeners = new Set();

function read() {
  try {
    return JSON.parse(localStorage.getItem(KEY) ?? "{}");
  } catch {
    return {};
  }
}

function store(key, value) {
  try {
    localStorage.setItem(key, value);
  } catch {
    // a browser that keeps nothing still plays
  }
}

export const settings = () => values;

export function set(changes) {
  values = { ...values, ...changes };
  store(KEY, JSON.stringify(values));
  for (const listener of listeners) listener(values);
}

export const onSettings = (listener) => listeners.add(listener);

export const lastGame = () => {
  try {
    return localStorage.getItem("nardy-game");
  } catch {
    return null;
  }
};
export const keepGame = (id) => store("nardy-game", id);
