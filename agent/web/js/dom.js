// Making elements: h for HTML, s for SVG. Properties: class, text, on (listeners), data; the rest are attributes.

const SVG = "http://www.w3.org/2000/svg";

function build(element, properties, children) {
  for (const [name, value] of Object.entries(properties)) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "text") element.textContent = value;
    else if (name === "on") for (const [event, listener] of Object.entries(value)) element.addEventListener(event, listener);
    else if (name === "data") Object.assign(element.dataset, value);
    else if (name === "value") element.value = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

export const h = (name, properties = {}, ...children) => build(document.createElement(name), properties, children);
export const s = (name, properties = {}, ...children) => build(document.createElementNS(SVG, name), properties, children);
export const byId = (id) => document.getElementById(id);
export const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

export function button(text, onClick, properties = {}) {
  return h("button", { type: "button", text, on: { click: onClick }, ...properties });
}
