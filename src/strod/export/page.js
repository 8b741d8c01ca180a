"use strict";
(() => {
  const topics = [...document.querySelectorAll(".topic")];
  const branch = (topic) => topic.firstElementChild;
  const fold = (text) => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
  const entries = topics.map((topic) => {
    const name = branch(topic).querySelector(":scope > summary .name");
    const phrases = [...branch(topic).querySelectorAll(":scope > .about > .phrases > li")];
    const texts = [name, ...phrases].map((part) => [part, fold(part.textContent)]);
    return { topic, texts };
  });
  const box = document.getElementById("filter");
  const found = document.getElementById("found");
  let before = null;

  const restore = () => {
    if (before) topics.forEach((topic, index) => { branch(topic).open = before[index]; });
    before = null;
    found.textContent = "";
  };

  const filter = () => {
    const wanted = fold(box.value.trim());
    const shown = new Set();
    let count = 0;
    for (const { topic, texts } of entries) {
      let hit = false;
      for (const [part, text] of texts) {
        const here = wanted !== "" && text.includes(wanted);
        part.classList.toggle("hit", here);
        hit = hit || here;
      }
      if (!hit) continue;
      count += 1;
      for (let up = topic; up; up = up.parentElement.closest(".topic")) shown.add(up);
    }
    if (wanted && !before) before = topics.map((topic) => branch(topic).open);
    for (const topic of topics) {
      topic.hidden = wanted !== "" && !shown.has(topic);
      if (wanted) branch(topic).open = shown.has(topic);
    }
    if (!wanted) { restore(); return; }
    found.textContent = count === 1 ? "1 topic" : `${count} topics`;
  };

  const all = (open) => {
    for (const topic of topics) branch(topic).open = open || topic === topics[0];
  };
  box.addEventListener("input", filter);
  box.addEventListener("keydown", (event) => {
    if (event.key === "Escape") { box.value = ""; filter(); }
  });
  document.getElementById("open").addEventListener("click", () => all(true));
  document.getElementById("close").addEventListener("click", () => all(false));

  let printed = null;
  addEventListener("beforeprint", () => {
    printed = topics.map((topic) => branch(topic).open);
    all(true);
  });
  addEventListener("afterprint", () => {
    if (printed) topics.forEach((topic, index) => { branch(topic).open = printed[index]; });
    printed = null;
  });
  document.querySelector(".tools").hidden = false;
})();
