// Words in English and Russian, and their plural forms. `{n}` is filled in, `{n:one|few|many}` picks a form.

import en from "./en.js";
import ru from "./ru.js";

const TABLES = { en, ru };
const rules = { en: new Intl.PluralRules("en"), ru: new Intl.PluralRules("ru") };
let current = "ru";
const listeners = new Set();

export const lang = () => current;
export const LANGS = Object.keys(TABLES);

export function setLang(name) {
  current = TABLES[name] ? name : "en";
  document.documentElement.lang = current;
  translatePage();
  for (const listener of listeners) listener();
}

export const onLang = (listener) => listeners.add(listener);

// The form of a word that goes with a number: en one|many, ru one|few|many.
export function plural(count, forms) {
  const kind = rules[current].select(Math.abs(count));
  if (current === "en") return forms[kind === "one" ? 0 : 1];
  return forms[{ one: 0, few: 1 }[kind] ?? 2];
}

export function t(key, data = {}) {
  const template = TABLES[current][key] ?? TABLES.en[key] ?? key;
  return template.replace(/\{(\w+)(?::([^}]*))?\}/g, (_, name, forms) =>
    forms ? plural(data[name], forms.split("|")) : String(data[name] ?? ""));
}

export const has = (key) => key in TABLES[current];

// A figure with the language's decimal mark: +0.123 or +0,123.
export function figure(value, digits = 3, isSigned = true) {
  const text = Math.abs(value).toFixed(digits);
  const sign = Number(text) === 0 ? (isSigned ? "+" : "") : value < 0 ? "−" : isSigned ? "+" : "";
  return sign + (current === "ru" ? text.replace(".", ",") : text);
}

// Points lost by a play; nothing where they round to none.
export const lossText = (loss) => (loss < 0.0005 ? "" : figure(-loss));

export const percent = (value) => `${figure(100 * value, 1, false)} %`;

function translatePage() {
  for (const element of document.querySelectorAll("[data-i18n]")) element.textContent = t(element.dataset.i18n);
  for (const element of document.querySelectorAll("[data-i18n-label]")) {
    element.setAttribute("aria-label", t(element.dataset.i18nLabel));
    if (element.tagName === "BUTTON") element.title = t(element.dataset.i18nLabel);
  }
}
