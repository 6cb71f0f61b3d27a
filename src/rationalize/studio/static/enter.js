"use strict";
studio.find("enter").addEventListener("submit", (event) => {
  event.preventDefault();
  studio.attempt(async () => {
    const { then } = await studio.ask("/enter", { key: studio.find("key").value });
    location.assign(then);
  });
});
