"use strict";
// In the head, before anything is drawn: no flash of the other theme.
(() => {
  const THEMES = ["system", "light", "dark"];
  const read = () => { try { return localStorage.getItem("theme") ?? "system"; } catch { return "system"; } };
  const apply = (theme) => {
    if (theme === "system") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
    const button = document.getElementById("theme");
    if (!button) return;
    button.setAttribute("aria-label", `Theme: ${theme === "system" ? "as the system has it" : theme}`);
    button.title = button.getAttribute("aria-label");
    button.firstElementChild.textContent = { system: "◐", light: "☀", dark: "☾" }[theme];
  };
  apply(read());
  document.addEventListener("DOMContentLoaded", () => {
    apply(read());
    document.getElementById("theme")?.addEventListener("click", () => {
      const next = THEMES[(THEMES.indexOf(read()) + 1) % THEMES.length];
      try { localStorage.setItem("theme", next); } catch { /* private windows may not keep it */ }
      apply(next);
    });
  });
})();
