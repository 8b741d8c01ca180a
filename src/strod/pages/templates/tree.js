"use strict";
(() => {
  const at = (id) => document.getElementById(id);
  const topics = [...document.querySelectorAll(".topic")];  // each before those below it
  const branch = (topic) => topic.firstElementChild;
  const above = (topic) => topic.parentElement.closest(".topic");
  const fold = (text) => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
  const own = [".path", ".name"].map((part) => `:scope > summary > ${part}`)
    .concat([".phrases > li", ".words > bdi"].map((part) => `:scope > .about > ${part}`)).join();
  const parts = new Map(topics.map((topic) => [topic, [...branch(topic).querySelectorAll(own)]
    .map((part) => [part, fold(part.textContent), part.className === "path"])]));

  const opened = () => topics.map((topic) => branch(topic).open);
  const restore = (kept) => topics.forEach((topic, index) => { branch(topic).open = kept[index]; });
  let before = null;

  const marked = (wanted) => {
    const address = wanted.replace(/\/+$/, "");  // o/2 is not a part of o/21
    return new Set(topics.filter((topic) => parts.get(topic).filter(([part, text, path]) => {
      const here = wanted !== "" && (path ? text === address : text.includes(wanted));
      part.classList.toggle("hit", here);
      return here;
    }).length));
  };

  // Shown are the topics found, those above them, and all below one with nothing found below it.
  const show = (found) => {
    const ways = new Set();
    for (const topic of found) for (let up = above(topic); up; up = above(up)) ways.add(up);
    const whole = new Set();
    for (const topic of topics) {
      const hit = found.has(topic);
      if (whole.has(above(topic)) || (hit && !ways.has(topic))) whole.add(topic);
      topic.hidden = !hit && !ways.has(topic) && !whole.has(topic);
      topic.classList.toggle("way", !hit && ways.has(topic));
      branch(topic).open = hit || ways.has(topic);
    }
  };

  const filter = () => {
    const typed = at("filter").value.trim();
    const found = marked(fold(typed));
    at("found").textContent = typed && (found.size === 1 ? "1 topic" : `${found.size || "no"} topics`);
    at("nothing").hidden = !typed || found.size > 0;
    at("nothing").querySelector("b").textContent = typed;
    if (typed) {
      before ??= opened();
      show(found);
      return;
    }
    for (const topic of topics) { topic.hidden = false; topic.classList.remove("way"); }
    if (before) restore(before);
    before = null;
  };
  const clear = () => { at("filter").value = ""; filter(); at("filter").focus(); };

  const all = (open) => {
    for (const topic of topics) branch(topic).open = open || topic === topics[0];
  };
  at("filter").addEventListener("input", filter);
  at("filter").addEventListener("keydown", (event) => { if (event.key === "Escape") clear(); });
  at("clear").addEventListener("click", clear);
  at("open").addEventListener("click", () => all(true));
  at("close").addEventListener("click", () => all(false));

  let printed = null;
  addEventListener("beforeprint", () => { printed = opened(); all(true); });
  addEventListener("afterprint", () => { if (printed) restore(printed); printed = null; });
  document.querySelector(".tools").hidden = false;
})();
