"use strict";
studio.find("hello").addEventListener("submit", (event) => {
  event.preventDefault();
  studio.attempt(async () => {
    await studio.ask("/hello", { name: studio.find("name").value });
    location.assign(event.target.dataset.then);
  });
});
