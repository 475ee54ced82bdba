// Requests to the server that this page came from. A fault carries the server's message and code.

import { lang } from "./i18n.js";

export class Fault extends Error {
  constructor(message, body, status) {
    super(message);
    this.code = body.code ?? "";
    this.reason = body.reason ?? null;
    this.said = body.text ?? null;
    this.status = status;
  }

  // The sentence for a person, in his language where there is one.
  get text() {
    return this.reason?.text ?? this.said ?? this.message;
  }
}

async function request(path, options = {}) {
  let response;
  try {
    response = await fetch(path, options);
  } catch {
    throw new Fault("offline", { code: "offline" }, 0);
  }
  const body = await response.json().catch(() => ({ message: response.statusText }));
  if (!response.ok) throw new Fault(body.message, body, response.status);
  return body;
}

export const get = (path) => request(`/api/v1/${path}${path.includes("?") ? "&" : "?"}lang=${lang()}`);

export const post = (path, body, signal) =>
  request(`/api/v1/${path}?lang=${lang()}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
    signal,
  });

export const remove = (path) => request(`/api/v1/${path}`, { method: "DELETE" });
