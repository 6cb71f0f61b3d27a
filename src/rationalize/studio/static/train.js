"use strict";
(() => {
  const { find, say, ask, attempt } = studio;
  const form = find("train");
  if (form) {
    const method = find("method");
    const describe = () => { find("about").textContent = method.selectedOptions[0].dataset.about; };
    method.addEventListener("change", describe);
    describe();
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      find("start").disabled = true;
      say("Starting …");
      attempt(async () => {
        await ask("/train/start", {
          method: method.value,
          preset: find("preset").value,
          encoder: find("encoder").value.trim() || null,
          epochs: find("epochs").value ? Number(find("epochs").value) : null,
          gold_share: Number(find("share").value),
          own_gold: find("own_gold")?.checked ?? false,
        });
        location.reload();
      }).then(() => { find("start").disabled = false; });
    });
  }
  const watch = (run) => {
    const events = new EventSource(`/train/${run.dataset.name}/events`);
    events.onmessage = (message) => {
      const row = JSON.parse(message.data);
      const state = run.querySelector(".state");
      state.textContent = row.state;
      state.className = `state ${row.state}`;
      const bar = run.querySelector("progress");
      if (row.epochs) { bar.max = row.epochs; bar.value = row.epoch; }
      run.querySelector(".numbers").textContent = row.epochs ? `epoch ${row.epoch} of ${row.epochs}, step ${row.step}` : "preparing";
      run.querySelector(".dev").textContent = row.dev ? `dev: ${row.dev}` : "";
      const log = run.querySelector(".log");
      log.textContent = row.log;
      log.scrollTop = log.scrollHeight;
      if (row.state !== "running") { events.close(); location.reload(); }
    };
  };
  document.querySelectorAll(".run").forEach((run) => {
    const path = `/train/${run.dataset.name}`;
    if (run.dataset.state === "running") watch(run);
    const on = (name, action) => run.querySelector(name).addEventListener("click", (event) => {
      event.target.disabled = true;
      attempt(async () => { await action(); location.reload(); }).then(() => { event.target.disabled = false; });
    });
    on(".stop", () => ask(`${path}/stop`));
    on(".resume", () => ask(`${path}/resume`));
    on(".use", () => ask(`/models/${run.dataset.name}/use`));
  });
})();
