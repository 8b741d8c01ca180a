"use strict";
(() => {
  const { study, questions } = JSON.parse(document.getElementById("data").textContent);
  const at = (id) => document.getElementById(id);
  const UNABLE = "unable";
  const place = `strod-intrusion-${study}`;
  // A turn is one change of the state: of two that were kept, the later one counts.
  const fresh = (turn) => ({ turn, judge: "", at: -1, answers: questions.map(() => null) });

  const forgets = () => {
    at("trouble").textContent = "This browser does not keep answers: save them before you close the page.";
    at("trouble").hidden = false;
  };

  // What is kept may be of anyone's making: take over only what fits the questions.
  const fits = (answer, question) => answer === UNABLE
    || (Number.isInteger(answer) && answer >= 0 && answer < question.options.length);
  const fitted = (kept) => {
    const found = fresh(Number.isSafeInteger(kept?.turn) && kept.turn > 0 ? kept.turn : 0);
    if (typeof kept?.judge === "string") found.judge = kept.judge;
    if (Number.isInteger(kept?.at)) found.at = Math.max(-1, Math.min(kept.at, questions.length));
    if (Array.isArray(kept?.answers)) {
      questions.forEach((question, index) => {
        if (fits(kept.answers[index], question)) found.answers[index] = kept.answers[index];
      });
    }
    return found;
  };
  const stored = () => {
    try {
      return fitted(JSON.parse(localStorage.getItem(place)));
    } catch (error) {
      if (!(error instanceof SyntaxError)) forgets();
      return fresh(0);
    }
  };
  // The tab's history as well: a page that is loaded again at once may find the storage of
  // before, or none (seen in Chromium with all cores busy); the history is there in time.
  const recall = () => {
    const [tab, shared] = [fitted(history.state?.[place]), stored()];
    return tab.turn > shared.turn ? tab : shared;
  };
  let state = recall();
  const keep = () => {
    state.turn += 1;
    history.replaceState({ [place]: state }, "");
    try {
      localStorage.setItem(place, JSON.stringify(state));
    } catch (error) {
      forgets();
    }
  };

  const made = (name, text, mark) => {
    const element = document.createElement(name);
    if (text !== undefined) element.textContent = text;
    if (mark) element.className = mark;
    return element;
  };
  const list = (texts) => {
    const all = made("span", undefined, "list");
    texts.forEach((text, index) => {
      const one = made("span");
      const phrase = made("bdi", text);
      phrase.dir = "auto";
      one.append(phrase);
      // The dot stays with the phrase before it, the space lets the line break.
      if (index < texts.length - 1) one.append(made("i", "·"));
      all.append(one, " ");
    });
    return all;
  };

  const answered = () => state.answers.filter((answer) => answer !== null).length;
  const header = () => {
    const total = questions.length;
    const number = state.at + 1;
    at("top").hidden = state.at < 0;
    at("count").textContent = state.at < total
      ? `Question ${number} of ${total}, ${answered()} answered` : `${answered()} of ${total} answered`;
    const bar = document.querySelector(".progress");
    bar.setAttribute("aria-valuemax", total);
    bar.setAttribute("aria-valuenow", answered());
    bar.firstElementChild.style.width = `${(100 * answered()) / total}%`;
  };

  const mark = () => {
    const answer = state.answers[state.at];
    [...at("options").children].forEach((option, index) => {
      option.setAttribute("aria-pressed", String(answer === index));
    });
    at("unable").setAttribute("aria-pressed", String(answer === UNABLE));
    at("next").textContent = answer === null ? "Skip →" : "Next →";
    at("next").classList.toggle("main", answer !== null);
    header();
  };
  const choose = (answer) => {
    state.answers[state.at] = answer;
    keep();
    mark();
  };

  const ask = () => {
    const question = questions[state.at];
    const topics = question.kind === "topic";
    at("ask").textContent = topics
      ? "Which of these is not a part of the topic?" : "Which phrase does not belong with the others?";
    at("above").hidden = !topics;
    at("above").replaceChildren(made("b", "The topic"), list(question.above));
    at("options").replaceChildren(...question.options.map((texts, index) => {
      const option = made("button", undefined, "option");
      option.type = "button";
      option.append(made("kbd", String(index + 1)), list(texts));
      option.addEventListener("click", () => choose(index));
      return option;
    }));
    mark();
  };
  const finish = () => {
    const open = questions.length - answered();
    at("done").textContent = open ? "Some questions are open" : "All questions are answered. Thank you!";
    at("left").textContent = open
      ? `${open} of ${questions.length} questions are still open. You can answer them, or save what there is.`
      : "Save the answers as a file now.";
    at("missing").hidden = !open;
    at("saved").textContent = "";
  };

  const show = (focus) => {
    const total = questions.length;
    at("intro").hidden = state.at >= 0;
    at("question").hidden = state.at < 0 || state.at >= total;
    at("end").hidden = state.at < total;
    if (state.at < 0) {
      at("judge").value = state.judge;
      at("begin").textContent = answered() ? "Go on" : "Begin";
      at("last").textContent = String(Math.max(...questions.map((one) => one.options.length)));
    } else if (state.at < total) ask(); else finish();
    header();
    scrollTo(0, 0);
    if (focus) at(state.at < 0 ? "judge" : state.at < total ? "ask" : "done").focus();
  };
  const go = (where) => {
    state.at = Math.max(-1, Math.min(where, questions.length));
    keep();
    show(true);
  };

  const save = () => {
    const content = {
      format: "strod intrusion answers", version: 1, study, judge: state.judge, answers: state.answers,
    };
    const text = `${JSON.stringify(content, null, 1)}\n`;
    const link = made("a");
    link.href = URL.createObjectURL(new Blob([text], { type: "application/json" }));
    const name = state.judge.normalize("NFKC").replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-|-$/g, "");
    link.download = `answers-${name || "judge"}.json`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
    at("saved").textContent = `Saved as ${link.download}.`;
  };

  at("start").addEventListener("submit", (event) => {
    event.preventDefault();
    const judge = at("judge").value.trim();
    if (!judge) { at("judge").value = ""; at("judge").reportValidity(); return; }
    state.judge = judge;
    const open = state.answers.indexOf(null);
    go(open < 0 ? questions.length : open);
  });
  at("unable").addEventListener("click", () => choose(UNABLE));
  at("back").addEventListener("click", () => go(state.at - 1));
  at("next").addEventListener("click", () => go(state.at + 1));
  at("again").addEventListener("click", () => go(questions.length - 1));
  at("missing").addEventListener("click", () => go(state.answers.indexOf(null)));
  at("save").addEventListener("click", save);
  at("other").addEventListener("click", () => {
    if (!confirm("Begin anew for another judge? Answers that were not saved are lost.")) return;
    state = fresh(state.turn);
    keep();
    show(true);
  });

  const asking = () => state.at >= 0 && state.at < questions.length;
  // Enter on a button presses it; on what is chosen already, it goes on.
  const presses = () => {
    const active = document.activeElement;
    return active instanceof HTMLButtonElement && active.getAttribute("aria-pressed") !== "true";
  };
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if (event.target instanceof HTMLInputElement || state.at < 0) return;
    const { key } = event;
    const number = /^[1-9]$/.test(key) ? Number(key) : 0;
    if (key === "ArrowLeft") go(asking() ? state.at - 1 : questions.length - 1);
    else if (!asking()) return;
    else if (key === "ArrowRight" || (key === "Enter" && !presses())) go(state.at + 1);
    else if (number && number <= questions[state.at].options.length) choose(number - 1);
    else if (key === "0" || key.toLowerCase() === "u") choose(UNABLE);
    else return;
    event.preventDefault();
  });
  // Another tab, or this one before it was loaded again: what it kept may arrive late.
  addEventListener("storage", (event) => {
    const kept = event.key === place ? stored() : state;
    if (kept.turn <= state.turn) return;
    state = kept;
    show(false);
  });
  show(state.at < 0);
})();
