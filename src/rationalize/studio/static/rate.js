"use strict";
(() => {
  const { find, say, ask, trouble } = studio;
  const page = find("rate").dataset;
  const place = Number(page.place);
  const fields = [...document.querySelectorAll("fieldset[data-question]")];
  let current = 0;
  let saving = Promise.resolve(true); // grades are sent one after the other, in the order they were given

  const graded = (field) => field.querySelector("input:checked") !== null;
  const choose = (index, scroll = true) => {
    current = Math.max(0, Math.min(fields.length - 1, index));
    fields.forEach((field, at) => field.classList.toggle("current", at === current));
    if (scroll) fields[current].scrollIntoView({ block: "nearest" });
  };
  const send = async (question, grade) => {
    try {
      const { done } = await ask("/rate", { item: page.item, question, grade });
      find("done").textContent = done;
      find("bar").value = done;
      trouble("");
      say("Saved");
      return true;
    } catch (error) {
      const input = document.querySelector(`input[name="${question}"][value="${grade}"]`);
      if (input) input.checked = false; // what is shown as graded is saved
      say("");
      trouble(`Not saved. ${studio.explain(error)}`);
      return false;
    }
  };
  const grade = (index, value) => {
    const field = fields[index];
    field.querySelector(`input[value="${value}"]`).checked = true;
    say("Saving …");
    saving = saving.then(() => send(field.dataset.question, value));
    const open = fields.findIndex((each, at) => at > index && !graded(each));
    choose(open >= 0 ? open : index + 1);
  };
  const go = async (to) => {
    if (!(await saving)) { saving = Promise.resolve(true); return; }
    if (to >= 1) location.assign(to > Number(page.total) ? "/rate/end" : `/rate/${to}`);
  };
  const next = async () => {
    const open = fields.findIndex((field) => !graded(field));
    if (open < 0) { go(place + 1); return; }
    choose(open);
    await saving; // or "Saved" would take the place of what is said now
    say("Not all is graded; → skips this item.");
  };

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const on = event.target;
    if (!fields.length) { if (event.key === "ArrowLeft") go(Number(page.total)); return; }
    if (/^[1-5]$/.test(event.key)) grade(current, Number(event.key));
    else if (event.key === "ArrowRight") go(place + 1);
    else if (event.key === "ArrowLeft") go(place - 1);
    else if (event.key === "ArrowDown" && !on.closest(".text")) choose(current + 1);
    else if (event.key === "ArrowUp" && !on.closest(".text")) choose(current - 1);
    else if (event.key === "Enter" && !on.closest("button, summary, a")) next();
    else return;
    event.preventDefault();
  });
  fields.forEach((field, index) => {
    field.addEventListener("change", (event) => grade(index, Number(event.target.value)));
    field.addEventListener("focusin", () => choose(index));
  });
  find("next")?.addEventListener("click", () => go(place + 1));
  find("back")?.addEventListener("click", () => go(place - 1));
  // A new item begins with its text, however small the window.
  if (fields.length) choose(Math.max(0, fields.findIndex((field) => !graded(field))), false);
})();
