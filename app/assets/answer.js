// An answer with its footnotes, the cards in its margin, and its sources.
// Streamlit keeps the end of a chat in view while it grows, and a reader begins at the question. It pulls against a
// scroll while it moves, so this waits until the page stands still.
function backToQuestion(before = -1, tries = 20) {
  const question = [...document.querySelectorAll("h2.fn-question")].pop();
  const now = question?.closest('[data-testid="stAppScrollToBottomContainer"]')?.scrollTop;
  const top = question?.getBoundingClientRect().top;
  if (now === before && (top < 56 || top > innerHeight / 2)) question.scrollIntoView({ block: "start" });
  if (tries) pending = setTimeout(backToQuestion, 120, now, tries - 1);
}
let pending;
for (const act of ["wheel", "touchmove", "keydown", "pointerdown"]) {
  document.addEventListener(act, () => clearTimeout(pending), { passive: true });
}

function about(mark) {
  const sign = SIGNS[mark.verdict] ?? "";
  const lines = [make("div", "fn-card-place")];
  lines[0].append(make("strong", "", mark.title), ` ${mark.where}`);
  if (mark.quote) lines.push(make("q", "fn-card-quote", mark.quote));
  lines.push(make("div", `fn-card-finding fn-${mark.verdict}`, `${sign} ${mark.finding}`.trim()));
  return lines;
}

export default function ({ data: [answer, state], parentElement, setTriggerValue }) {
  const data = { ...JSON.parse(answer), ...state };
  const known = parentElement.querySelector(".fn-answer");
  const root = known ?? parentElement.appendChild(make("div", "fn-answer"));
  const pressed = [...root.querySelectorAll("button")].indexOf(document.activeElement);
  const unfolded = [...root.querySelectorAll("details")].map((each) => each.open);
  const isOpen = (n, sentence) =>
    data.open && data.open.n === n && (sentence === undefined || data.open.sentence === sentence);
  const tip = make("div", "fn-tip");
  tip.popover = "manual";
  tip.role = "tooltip";
  const margin = make("aside", "fn-margin");
  margin.setAttribute("aria-label", "Footnotes");
  const pairs = [];
  let touched = null;

  const open = (n, sentence) => setTriggerValue("open", sentence === undefined ? { n } : { n, sentence });
  const press = (button, n, sentence) => {
    button.type = "button";
    button.onclick = () => open(n, sentence);
    if (isOpen(n, sentence)) button.classList.add("fn-open");
    return button;
  };

  const hide = () => {
    touched = null;
    if (tip.matches(":popover-open")) tip.hidePopover();
    margin.querySelectorAll(".fn-near-card").forEach((card) => card.classList.remove("fn-near-card"));
  };
  const show = (button, mark, card) => {
    hide();
    card.classList.add("fn-near-card");
    const place = button.getBoundingClientRect();
    const beside = card.getBoundingClientRect();
    if (wide.matches && Math.abs(beside.top - place.top) < 90) return;
    tip.replaceChildren(...about(mark));
    tip.showPopover();
    const left = Math.min(Math.max(place.left - 24, 8), innerWidth - tip.offsetWidth - 8);
    const above = place.top - tip.offsetHeight - 8;
    tip.style.left = `${left}px`;
    tip.style.top = `${above > 60 ? above : place.bottom + 8}px`;
  };

  const chip = (mark) => {
    const sign = mark.verdict === "supported" ? "" : (SIGNS[mark.verdict] ?? "");
    const button = press(make("button", `fn-chip fn-is-${mark.verdict}`, `${mark.number}${sign}`), mark.n, mark.sentence);
    const where = `${mark.title}, ${mark.where}`;
    button.setAttribute("aria-label", `Footnote ${mark.number}: ${where}. ${mark.finding}`);
    const card = press(make("button", "fn-card"), mark.n, mark.sentence);
    card.append(make("span", "fn-number", String(mark.number)), ...about(mark));
    card.tabIndex = -1; // the footnote says and opens the same
    card.onpointerenter = () => button.classList.add("fn-near-chip");
    card.onpointerleave = () => button.classList.remove("fn-near-chip");
    margin.append(card);
    pairs.push([button, card]);
    button.onpointerenter = (event) => event.pointerType === "mouse" && show(button, mark, card);
    button.onpointerleave = (event) => event.pointerType === "mouse" && hide();
    button.onfocus = () => button.matches(":focus-visible") && show(button, mark, card);
    button.onblur = hide;
    // The first tap shows what it is, the second opens it.
    button.onpointerup = (event) => {
      if (event.pointerType === "mouse") return;
      button.onclick = touched === button ? () => open(mark.n, mark.sentence) : () => {};
      if (touched === button) return hide();
      show(button, mark, card);
      touched = button;
    };
    const raised = make("sup");
    raised.append(button);
    return raised;
  };

  const shown = new Set();
  const dispute = (at) => {
    shown.add(at);
    const { heading, sides } = data.disputes[at];
    const box = make("div", "fn-dispute");
    box.append(make("div", "fn-heading", `≠ ${heading}`));
    for (const side of sides) {
      const line = press(make("button", "fn-row"), side.n);
      line.append(make("span", "fn-number", String(side.number)), make("q", "fn-side", side.quote));
      line.append(make("span", "fn-place", `${side.name}, ${side.where}`));
      box.append(line);
    }
    return box;
  };

  const sentence = (said) => {
    const span = make("span", `fn-sentence fn-${said.verdict}`);
    const text = span.appendChild(make("span", "fn-words"));
    const runs = said.runs ?? [["", said.text]];
    if (said.tip) text.title = said.tip;
    if (said.detail) {
      text.append(...words(runs));
      const detail = make("span", "fn-detail");
      detail.append(...words([["", said.detail]], said.marks.map(chip)));
      span.append(" ", detail);
    } else text.append(...words(runs, said.marks.map(chip)));
    if (said.tag) span.append(make("span", "fn-tag", said.tag));
    return span;
  };

  const table = (block) => {
    const frame = make("div", "fn-table");
    const rows = frame.appendChild(make("table"));
    frame.tabIndex = 0;
    block.lines.flat().forEach((said, at) => {
      const line = rows.appendChild(cells(said.runs, at ? "td" : "th"));
      line.lastElementChild?.append(...said.marks.map(chip));
      line.className = `fn-${said.verdict}`;
      if (said.tag && at) line.lastElementChild?.append(make("span", "fn-tag", said.tag));
    });
    return frame;
  };

  // One button for one source; sources that stand at the same place have a button each in one row.
  const row = ({ numbers, place, quote }) => {
    const several = numbers.length > 1;
    const line = several ? make("div", "fn-row fn-several") : press(make("button", "fn-row"), numbers[0][0]);
    if (quote) line.append(make("q", "fn-near", quote));
    else if (several) line.append(...numbers.map(([n, number]) => press(make("button", "fn-chip", String(number)), n)));
    else line.append(make("span", "fn-number", String(numbers[0][1])));
    line.append(make("span", "fn-place", place));
    return line;
  };

  const shelf = (group) => {
    const list = make(group.folded ? "details" : "section", `fn-sources fn-group-${group.kind}`);
    list.setAttribute("aria-label", group.heading);
    list.append(make(group.folded ? "summary" : "div", "fn-heading", group.heading));
    for (const document of group.documents) {
      const card = make("div", "fn-document");
      const name = make("div", "fn-title", document.title);
      if (document.name) name.append(make("span", "fn-name", document.name));
      card.append(name, ...document.rows.map(row));
      list.append(card);
    }
    return list;
  };

  const prose = make("div", "fn-prose");
  const tags = { heading: "h3", bullets: "ul", numbers: "ol", code: "pre" };
  for (const block of data.blocks) {
    if (block.kind === "table") {
      prose.append(table(block));
      continue;
    }
    const element = prose.appendChild(make(tags[block.kind] ?? "p", "", block.text));
    const isList = block.kind === "bullets" || block.kind === "numbers";
    if (block.lines.some((line) => line.at(-1)?.detail)) element.className = "fn-entries";
    block.lines.forEach((line, at) => {
      const holder = isList ? element.appendChild(make("li")) : element;
      if (block.kind === "code") holder.append((at ? "\n" : "") + (block.indents[at] ?? ""));
      line.forEach((said, place) => holder.append(...(place ? [" "] : []), sentence(said)));
      const at_odds = isList ? line.map((said) => said.dispute).filter((n) => n != null && !shown.has(n)) : [];
      holder.append(...at_odds.map(dispute));
    });
  }
  const others = data.disputes.map((_, at) => at).filter((at) => !shown.has(at));
  const alerts = data.alerts.map((note) => make("p", "fn-note fn-alert", note));
  const shelves = data.groups.map(shelf);
  const foot = [];
  if (data.line) {
    const how = make("details", "fn-how");
    const summary = make("summary", "fn-note", `${data.line}. `);
    summary.append(make("span", "fn-more", "How this was found"));
    const list = make("dl");
    for (const [name, value] of data.how) list.append(make("dt", "", name), make("dd", "", value));
    how.append(summary, list);
    if (data.trace) {
      const inspect = how.appendChild(make("a", "", "Inspect this answer"));
      inspect.href = `inspect?trace=${encodeURIComponent(data.trace)}`;
    }
    foot.push(how);
  }
  const copy = make("button", "fn-copy", "Copy with its footnotes");
  copy.type = "button";
  copy.onclick = async () => {
    await navigator.clipboard?.writeText(data.markdown);
    copy.textContent = navigator.clipboard ? "Copied" : "This browser copies only over HTTPS";
    setTimeout(() => (copy.textContent = "Copy with its footnotes"), 2500);
  };
  foot.push(copy);
  root.replaceChildren(prose, ...others.map(dispute), ...alerts, ...shelves, ...foot, margin, tip);
  root.querySelectorAll("details").forEach((each, at) => (each.open = unfolded[at] ?? each.open));
  root.querySelectorAll("button")[pressed]?.focus({ preventScroll: true });

  // Each card beside its footnote, below the card before it.
  const place = () => {
    const top = root.getBoundingClientRect().top;
    let free = 0;
    for (const [button, card] of wide.matches ? pairs : []) {
      free = Math.max(free, button.getBoundingClientRect().top - top - 6);
      card.style.top = `${free}px`;
      free += card.offsetHeight + 6;
    }
    root.style.minHeight = `${free}px`;
  };
  root.forget?.(); // what an earlier render listens to
  const watch = new ResizeObserver(place);
  watch.observe(prose);
  document.fonts?.ready.then(place);
  wide.addEventListener("change", place);
  document.addEventListener("scroll", hide, { capture: true, passive: true });
  if (!known && data.latest) backToQuestion();
  root.forget = () => {
    watch.disconnect();
    wide.removeEventListener("change", place);
    document.removeEventListener("scroll", hide, { capture: true });
  };
  return root.forget;
}
