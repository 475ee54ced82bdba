// The description of the API as a page: what each endpoint takes, with examples that can be sent from here.

import { button, byId, h } from "./dom.js";

let schemas = {};

function resolved(schema) {
  return schema?.$ref ? schemas[schema.$ref.split("/").at(-1)] : schema ?? {};
}

function kindOf(schema) {
  if (schema.$ref) return schema.$ref.split("/").at(-1);
  if (schema.anyOf) return schema.anyOf.map(kindOf).join(" or ");
  if (schema.enum) return schema.enum.join(", ");
  if (schema.type === "array") return `list of ${kindOf(schema.items ?? {})}`;
  const limits = [["minimum", "≥"], ["maximum", "≤"], ["exclusiveMinimum", ">"], ["maxLength", "at most"]].filter(([key]) => key in schema);
  return `${schema.type ?? "any"} ${limits.map(([key, sign]) => `${sign} ${schema[key]}`).join(" ")}`.trim();
}

function fields(schema) {
  const { properties = {}, required = [] } = schema;
  return Object.entries(properties).map(([name, field]) => h("tr", {},
    h("td", {}, h("code", { text: name }), required.includes(name) ? " *" : ""), h("td", { text: kindOf(field) }),
    h("td", { text: field.default === undefined || field.default === null ? "" : JSON.stringify(field.default) }), h("td", { text: field.description ?? "" })));
}

function table(head, rows) {
  return rows.length ? h("table", {}, h("thead", {}, h("tr", {}, ...head.map((text) => h("th", { text })))), h("tbody", {}, ...rows)) : null;
}

// A paragraph; what stands between backticks is code.
const prose = (text) => h("p", {}, ...text.split("`").map((part, i) => (i % 2 ? h("code", { text: part }) : part)));

// What an endpoint takes, and a form that sends it.
function form(path, verb, operation) {
  const parameters = operation.parameters ?? [];
  const inputs = parameters.map((parameter) => {
    const value = parameter.example ?? parameter.schema?.default ?? "";
    return [parameter, h("input", { value, "aria-label": parameter.name })];
  });
  const rows = inputs.map(([parameter, input]) => h("tr", {}, h("td", {}, h("code", { text: parameter.name }), parameter.required ? " *" : ""), h("td", {}, input), h("td", { text: parameter.description ?? "" })));
  const body = resolved(operation.requestBody?.content?.["application/json"]?.schema);
  const examples = body.examples ?? [];
  const area = operation.requestBody ? h("textarea", { rows: 6, "aria-label": "body", spellcheck: "false" }) : null;
  if (area) area.value = JSON.stringify(examples[0] ?? {}, null, 2);
  const answer = h("pre", { hidden: true, tabindex: 0 });
  const send = button("Send", async () => {
    const query = new URLSearchParams();
    let url = path;
    for (const [{ name, in: place }, input] of inputs) {
      if (place === "path") url = url.replace(`{${name}}`, encodeURIComponent(input.value));
      else if (input.value !== "") query.set(name, input.value);
    }
    answer.hidden = false;
    answer.textContent = "…";
    const options = area ? { method: verb.toUpperCase(), headers: { "content-type": "application/json" }, body: area.value } : { method: verb.toUpperCase() };
    const response = await fetch(query.size ? `${url}?${query}` : url, options);
    const text = await response.text();
    try {
      answer.textContent = `${response.status}\n${compact(JSON.parse(text))}`;
    } catch {
      answer.textContent = `${response.status}\n${text}`;
    }
  }, { class: "main" });
  const pick = examples.map((example, i) => button(`Example ${i + 1}`, () => { area.value = JSON.stringify(example, null, 2); }));
  return h("div", {}, prose(operation.description ?? ""), table(["parameter", "value", ""], rows), table(["field", "kind", "default", ""], fields(body)), area, h("div", { class: "try" }, send, ...pick), answer);
}

// Lists of numbers stay on one line.
const compact = (value) => JSON.stringify(value, null, 1).replace(/\[[\s\d,.-]*\]/g, (list) => list.replace(/\s+/g, ""));

async function begin() {
  const description = await (await fetch("/openapi.json")).json();
  schemas = description.components?.schemas ?? {};
  byId("about").append(...description.info.description.split("\n\n").map(prose));
  const groups = new Map();
  for (const [path, verbs] of Object.entries(description.paths)) {
    for (const [verb, operation] of Object.entries(verbs)) {
      const tag = operation.tags?.[0] ?? "other";
      groups.set(tag, [...(groups.get(tag) ?? []), [path, verb, operation]]);
    }
  }
  byId("operations").replaceChildren(...[...groups].flatMap(([tag, operations]) => [h("h2", { text: tag }), ...operations.map(([path, verb, operation]) => {
    const details = h("details", { class: "operation" }, h("summary", {}, h("span", { class: "verb", text: verb.toUpperCase() }), h("code", { text: path }), ` — ${operation.summary}`));
    details.addEventListener("toggle", () => details.open && details.children.length === 1 && details.append(form(path, verb, operation)));
    return details;
  })]));
}

begin();
