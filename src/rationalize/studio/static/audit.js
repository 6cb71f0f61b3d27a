"use strict";
(() => {
  const { find, say, ask, attempt } = studio;
  const look = () => setTimeout(() => attempt(async () => {
    const { state } = await ask("/audit/state", null, "GET");
    if (state === "running") look(); else location.reload();
  }), 1000);
  find("start").addEventListener("click", () => attempt(async () => {
    await ask("/audit/start");
    find("start").disabled = true;
    say("Looking …");
    look();
  }));
  if (find("audit").dataset.state === "running") look();
  document.querySelectorAll(".suspect").forEach((suspect) => suspect.addEventListener("change", (event) => {
    const verdict = event.target.value;
    attempt(async () => {
      await ask("/audit/verdict", { phrase: JSON.parse(suspect.dataset.phrase), verdict });
      suspect.className = `suspect ${verdict}`;
      suspect.querySelector(".by").textContent = "Saved";
    }).then(() => { if (!find("trouble").hidden) scrollTo({ top: 0 }); });
  }));
})();
