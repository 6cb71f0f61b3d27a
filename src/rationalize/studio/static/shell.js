"use strict";
// What the scripts of all rooms share. Text from anywhere is set by textContent only.
const studio = (() => {
  const find = (id) => document.getElementById(id);
  const say = (text) => { const node = find("saved"); if (node) node.textContent = text; };
  const trouble = (text) => { const node = find("trouble"); node.textContent = text; node.hidden = !text; };

  /** Ask the server; a refusal becomes an Error with its words. */
  const ask = async (path, body, method = "POST") => {
    const reply = await fetch(path, {
      method,
      headers: { "Content-Type": "application/json", "X-Studio-Token": document.body.dataset.token },
      body: method === "GET" ? undefined : JSON.stringify(body ?? {}),
    });
    const answer = await reply.json().catch(() => ({}));
    if (reply.ok) return answer;
    const { what, where, expected } = answer.error ?? { what: reply.statusText, where: path, expected: "an answer" };
    const known = where === "request" || expected === "another choice";
    const error = new Error(known ? what : `${what} (${where}; expected: ${expected})`);
    error.status = reply.status;
    throw error;
  };
  const explain = (error) => (error instanceof TypeError
    ? "The program that serves this page does not answer; start it again, and reload." : error.message);

  /** Do something that may fail, and show why it did. */
  const attempt = async (action) => {
    try {
      const found = await action();
      trouble("");
      return found;
    } catch (error) {
      say("");
      trouble(explain(error));
      return undefined;
    }
  };

  /** Make an element with attributes and children; strings become text. */
  const make = (tag, attributes = {}, ...children) => {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) if (value !== null) node.setAttribute(name, value);
    node.append(...children);
    return node;
  };

  /** Offsets count code points; JavaScript's own count UTF-16 units, so texts are cut from a list of characters. */
  const cut = (text) => {
    const characters = Array.from(text);
    return (start, end) => characters.slice(start, end).join("");
  };
  return { find, say, trouble, ask, attempt, explain, make, cut };
})();
