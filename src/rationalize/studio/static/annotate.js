"use strict";
(() => {
  const { find, say, ask, attempt, trouble } = studio;
  const desk = find("desk").dataset;
  const box = find("words");
  const words = [...box.querySelectorAll(".w")];
  const note = find("note");
  let change = Number(desk.change);
  let current = 0;
  let gesture = null; // words marked with Shift held down
  const kept = desk.state === "done" ? "done" : "open"; // what is done stays so when it is corrected
  let unsaved = 0;
  let typing = null; // a note is saved at the first pause
  let saving = Promise.resolve(true); // changes are sent one after the other, in the order they were made

  const isMarked = (index) => words[index].getAttribute("aria-selected") === "true";
  const setMark = (index, on) => words[index].setAttribute("aria-selected", String(on));
  const listMarked = () => words.map((_, index) => index).filter(isMarked);
  const getLabel = () => JSON.parse(document.querySelector("input[name=label]:checked")?.value ?? "null");

  const send = async (body) => {
    try {
      const answer = await ask(`/annotate/${desk.number}`, { ...body, change });
      change = answer.change;
      unsaved -= 1;
      find("done").textContent = answer.done;
      find("bar").value = answer.done;
      trouble("");
      say(unsaved > 0 ? "Saving …" : "Saved");
      return answer;
    } catch (error) {
      say("");
      trouble(`Not saved. ${studio.explain(error)}`);
      return null;
    }
  };
  /** Save the text as it is now. */
  const save = (state = kept) => {
    const body = { words: listMarked(), label: getLabel(), note: note.value, state };
    find("marked").textContent = body.words.length;
    find("state").textContent = { open: "not done yet", done: "done", skipped: "skipped" }[state];
    find("state").className = `state ${state}`;
    clearTimeout(typing);
    typing = null;
    unsaved += 1;
    say("Saving …");
    saving = saving.then(() => send(body));
    return saving;
  };
  const leave = async (state) => {
    const answer = await save(state);
    if (answer) location.assign(answer.next ? `/annotate/${answer.next}` : "/annotate/end");
  };

  // Words
  const go = (index, extend = false) => {
    if (!words.length) return;
    const next = Math.max(0, Math.min(words.length - 1, index));
    if (extend) gesture ??= { from: current, before: new Set(listMarked()) };
    else gesture = null;
    words[next].focus({ preventScroll: true }); // makes it the current one
    words[next].scrollIntoView({ block: "nearest" });
    if (!gesture) return;
    const [low, high] = [Math.min(gesture.from, next), Math.max(gesture.from, next)];
    words.forEach((_, at) => setMark(at, gesture.before.has(at) || (at >= low && at <= high)));
    save();
  };
  /** The word in the next line, above or below, that is nearest to this one. */
  const findInLine = (step) => {
    const here = words[current].getBoundingClientRect();
    let best = null;
    let line = null;
    for (let at = current + step; at >= 0 && at < words.length; at += step) {
      const there = words[at].getBoundingClientRect();
      if (Math.abs(there.top - here.top) < here.height / 2) continue;
      line ??= there.top;
      if (Math.abs(there.top - line) > here.height / 2) break;
      const far = Math.abs(there.left - here.left);
      if (best === null || far < best.far) best = { at, far };
    }
    return best?.at ?? (step > 0 ? words.length - 1 : 0);
  };
  const toggle = (index) => { setMark(index, !isMarked(index)); save(); };
  const setMarks = (chosen) => {
    const wanted = new Set(chosen);
    words.forEach((_, index) => setMark(index, wanted.has(index)));
    save();
  };

  // Mouse and finger: from the word where it starts to the word where it ends.
  let drawn = null;
  const wordAt = (event) => words.indexOf(document.elementFromPoint(event.clientX, event.clientY)?.closest(".w"));
  const preview = (from, to) => words.forEach((word, index) => word.classList.toggle(
    "drawn", index >= Math.min(from, to) && index <= Math.max(from, to)));
  box.addEventListener("pointerdown", (event) => {
    const index = words.indexOf(event.target.closest(".w"));
    if (index < 0 || event.button !== 0) return;
    drawn = { from: index, to: index, on: !isMarked(index) };
    event.target.releasePointerCapture?.(event.pointerId); // a finger would keep pointing at its first word
  });
  box.addEventListener("pointermove", (event) => {
    if (!drawn) return;
    const index = wordAt(event);
    if (index >= 0 && index !== drawn.to) { drawn.to = index; preview(drawn.from, index); }
  });
  document.addEventListener("pointerup", () => {
    if (!drawn) return;
    const { from, to, on } = drawn;
    drawn = null;
    preview(-1, -2);
    for (let at = Math.min(from, to); at <= Math.max(from, to); at += 1) setMark(at, on);
    getSelection()?.removeAllRanges();
    save();
    go(to);
  });
  document.addEventListener("pointercancel", () => { drawn = null; preview(-1, -2); });
  words.forEach((word, index) => word.addEventListener("focus", () => {
    words[current].tabIndex = -1;
    current = index;
    word.tabIndex = 0;
  }));

  // Suggestion
  let suggested = null;
  const show = (chosen) => {
    suggested = chosen;
    const wanted = new Set(chosen);
    words.forEach((word, index) => word.classList.toggle("s", wanted.has(index)));
    find("accept").disabled = false;
  };
  const fetchSuggestion = async () => {
    const answer = await ask(`/annotate/${desk.number}/suggestion`, null, "GET").catch(() => ({ state: "none" }));
    if (answer.state === "loading") { setTimeout(fetchSuggestion, 1000); return; }
    if (answer.state === "none") { find("suggested").textContent = "The model has none for this text."; return; }
    const sure = answer.probability === null ? "" : ` ${Math.round(100 * answer.probability)} %`;
    const close = answer.review ? " · look closely: the full text gives another label than the chosen words" : "";
    find("suggested").textContent = `${answer.label}${sure}${close}`;
    show(answer.words);
  };
  if (find("suggestion").dataset.words !== undefined) {
    show(find("suggestion").dataset.words.split(" ").filter(Boolean).map(Number));
  } else if (desk.suggesting) fetchSuggestion();

  // Everything else
  const undo = () => attempt(async () => {
    await saving;
    const { number } = await ask("/annotate/undo");
    if (number === null) { say("Nothing to undo"); return; }
    unsaved = 0;
    if (number === Number(desk.number)) location.reload();
    else location.assign(`/annotate/${number}`);
  });
  const accept = () => { if (suggested) setMarks(suggested); };
  const chooseLabel = (index) => {
    const input = document.querySelectorAll("input[name=label]")[index];
    if (input) { input.checked = true; save(); }
  };
  const showGold = () => { const input = find("gold"); if (input) { input.checked = !input.checked; box.classList.toggle("gold", input.checked); } };
  const actions = {
    ArrowLeft: (event) => go(current - 1, event.shiftKey),
    ArrowRight: (event) => go(current + 1, event.shiftKey),
    ArrowUp: (event) => go(findInLine(-1), event.shiftKey),
    ArrowDown: (event) => go(findInLine(1), event.shiftKey),
    Home: (event) => go(0, event.shiftKey),
    End: (event) => go(words.length - 1, event.shiftKey),
    " ": () => { if (words.length) toggle(current); },
    Enter: () => leave("done"),
    a: accept, x: () => setMarks([]), s: () => leave("skipped"), u: undo, g: showGold,
    n: () => note.focus(),
  };
  document.addEventListener("keydown", (event) => {
    const on = event.target;
    if (on === note) { if (event.key === "Escape") words[current]?.focus(); return; }
    if (event.altKey || on.closest("select, summary, a, input[type=checkbox]")) return;
    if (event.ctrlKey || event.metaKey) {
      if (event.key.toLowerCase() !== "z") return;
      event.preventDefault();
      undo();
      return;
    }
    if (on.closest("button") && ["Enter", " "].includes(event.key)) return;
    if (/^[1-9]$/.test(event.key)) chooseLabel(Number(event.key) - 1);
    else {
      const action = actions[event.key.length === 1 ? event.key.toLowerCase() : event.key];
      if (!action) return;
      action(event);
    }
    event.preventDefault();
  });
  find("labels").addEventListener("change", () => save());
  note.addEventListener("input", () => {
    clearTimeout(typing);
    typing = setTimeout(save, 500, undefined);
  });
  note.addEventListener("change", () => { if (typing !== null) save(); });
  find("gold")?.addEventListener("change", (event) => box.classList.toggle("gold", event.target.checked));
  find("accept").addEventListener("click", accept);
  find("clear").addEventListener("click", () => setMarks([]));
  find("skip").addEventListener("click", () => leave("skipped"));
  find("finish").addEventListener("click", () => leave("done"));
  find("undo").addEventListener("click", undo);
  find("ordering").addEventListener("change", (event) => attempt(async () => {
    const { number } = await ask("/annotate/ordering", { ordering: event.target.value });
    location.assign(number ? `/annotate/${number}` : "/annotate/end");
  }));
  addEventListener("beforeunload", (event) => { if (unsaved > 0 || typing !== null) event.preventDefault(); });
  words[0]?.focus({ preventScroll: true });
})();
