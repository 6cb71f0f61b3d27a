"use strict";
(() => {
  const { find, say, ask, attempt, make, cut } = studio;
  const answers = find("answers");
  let before = {}; // the last answer of each model, to compare with
  const percent = (value) => `${(100 * value).toFixed(1)} %`;
  const top = (chances) => Object.entries(chances).sort((one, other) => other[1] - one[1]);

  const wait = (ms) => new Promise((done) => { setTimeout(done, ms); });
  const explain = async (model, text, query) => {
    for (let state = "loading"; state === "loading"; await wait(state === "loading" ? 700 : 0)) {
      ({ state } = await ask(`/models/${encodeURIComponent(model)}/load`));
      if (state === "loading") say(`${model} is being loaded …`);
    }
    const body = query ? { model, text, query } : { model, text };
    return (await ask("/v1/explain", body)).explanations[0];
  };

  const listChances = (title, chances, old) => {
    if (!chances) return "";
    const rows = top(chances).slice(0, 6).map(([label, value]) => {
      const moved = old && label in old ? value - old[label] : null;
      const change = moved === null || Math.abs(moved) < 0.0005 ? "" : ` ${moved > 0 ? "▲" : "▼"} ${percent(Math.abs(moved))}`;
      return make("li", {}, make("bdi", {}, label), make("progress", { max: 1, value, "aria-hidden": "true" }),
        make("span", { class: "numbers" }, percent(value), make("b", { class: "moved" }, change)));
    });
    return make("section", {}, make("h3", {}, title), make("ul", { class: "chances" }, ...rows));
  };

  /** The text with its words as buttons: score on hover, another word on click. */
  const listWords = (found) => {
    const slice = cut(found.text);
    const box = make("div", { class: "paper answer", dir: "auto" });
    let end = 0;
    found.words.forEach(([start, stop], index) => {
      box.append(slice(end, start));
      const score = `score ${found.scores[index].toFixed(2)}`;
      const word = make("span", {
        class: "w", role: "button", tabindex: 0, title: score, "data-start": start, "data-end": stop,
        "aria-selected": String(found.selected[index]),
        "aria-label": `${slice(start, stop)}, ${found.selected[index] ? "selected, " : ""}${score}`,
      }, slice(start, stop));
      word.style.setProperty("--score", found.scores[index]);
      word.addEventListener("click", () => edit(word));
      word.addEventListener("keydown", (event) => { if (event.key === "Enter") { event.preventDefault(); edit(word); } });
      box.append(word);
      end = stop;
    });
    box.append(slice(end, Array.from(found.text).length));
    if (!found.words.length) box.append(make("em", {}, "This text has no words."));
    return box;
  };
  const edit = (word) => {
    const input = make("input", { class: "edit", value: word.textContent, "aria-label": "Another word in its place" });
    input.size = Math.max(4, word.textContent.length + 1);
    let over = false;
    const finish = (keep) => {
      if (over) return;
      over = true;
      const slice = cut(find("text").value);
      const total = Array.from(find("text").value).length;
      const changed = input.value !== word.textContent;
      input.replaceWith(word);
      if (!keep || !changed) { word.focus(); return; }
      find("text").value = slice(0, Number(word.dataset.start)) + input.value + slice(Number(word.dataset.end), total);
      run();
    };
    input.addEventListener("keydown", (event) => {
      event.stopPropagation();
      if (event.key === "Enter") { event.preventDefault(); finish(true); }
      if (event.key === "Escape") finish(false);
    });
    input.addEventListener("blur", () => finish(false));
    word.replaceWith(input);
    input.select();
  };

  const show = (model, found) => {
    const old = before[model];
    const readings = [found.from_rationale, found.from_full_text].filter(Boolean).map((each) => top(each)[0][0]);
    const card = make("article", { class: "card" },
      make("h2", {}, make("bdi", { class: "label" }, found.label), ` ${percent(found.probabilities[found.label])} `,
        make("small", {}, `${model}, ${found.method}`)));
    if (old && old.label !== found.label) card.append(make("p", { class: "changed" }, `The label was ${old.label}.`));
    if (new Set(readings).size > 1) {
      card.append(make("p", { class: "changed" }, "Look closely: the full text gives another label than the chosen words."));
    }
    card.append(listWords(found));
    if (found.cut_off) card.append(make("p", { class: "soft" }, "The end of the text was not read."));
    const first = found.from_rationale ?? (found.from_full_text ? null : found.probabilities);
    card.append(make("div", { class: "readings" },
      listChances(found.from_rationale ? "From the chosen words" : "Probabilities", first, old && (old.from_rationale ?? old.probabilities)),
      listChances("From the full text", found.from_full_text, old?.from_full_text)));
    const share = found.selected.filter(Boolean).length;
    card.append(make("p", { class: "soft" }, `${share} of ${found.selected.length} words chosen; ${found.faithful
      ? "the label depends on them alone" : "the label depends on other words, too"}.`));
    return card;
  };
  const run = () => attempt(async () => {
    const [text, query] = [find("text").value, find("query").value];
    const models = [...new Set([find("model").value, find("other").value].filter(Boolean))];
    say("Reading …");
    const found = await Promise.all(models.map((model) => explain(model, text, query)));
    answers.replaceChildren(...found.map((each, index) => show(models[index], each)));
    before = Object.fromEntries(found.map((each, index) => [models[index], each]));
    find("hint").hidden = false;
    say("");
  });
  find("try").addEventListener("submit", (event) => { event.preventDefault(); run(); });
  find("text").addEventListener("keydown", (event) => { if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); run(); } });
  document.querySelectorAll(".example").forEach((button) => button.addEventListener("click", () => {
    find("text").value = JSON.parse(button.dataset.text);
    find("query").value = JSON.parse(button.dataset.query);
    before = {};
    run();
  }));
})();
