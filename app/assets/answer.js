// An answer with its footnotes and its sources. Everything from documents and models goes in as text, never as HTML.
function make(tag, className, text) {
  const element = document.createElement(tag);
  if (className) element.className = className;
  if (text !== undefined) element.textContent = text;
  return element;
}

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

export default function ({ data, parentElement, setTriggerValue }) {
  const known = parentElement.querySelector(".fn-answer");
  const root = known ?? parentElement.appendChild(make("div", "fn-answer"));
  const pressed = [...root.querySelectorAll("button")].indexOf(document.activeElement);
  const unfolded = root.querySelector("details")?.open ?? false;
  const isOpen = (n, sentence) =>
    data.open && data.open.n === n && (sentence === undefined || data.open.sentence === sentence);

  const press = (button, n, sentence) => {
    button.type = "button";
    button.onclick = () => setTriggerValue("open", sentence === undefined ? { n } : { n, sentence });
    if (isOpen(n, sentence)) button.classList.add("fn-open");
    return button;
  };

  const chip = (mark, sentence) => {
    const button = press(make("button", "fn-chip", String(mark.n)), mark.n, sentence);
    button.title = mark.tip;
    button.setAttribute("aria-label", `Footnote ${mark.n}: ${mark.tip}`);
    const raised = make("sup");
    raised.append(button);
    return raised;
  };

  const sentence = (said) => {
    const span = make("span", `fn-sentence fn-${said.verdict}`);
    const words = make("span", "fn-words", said.text);
    words.title = said.tip;
    span.append(words, ...said.marks.map((mark) => chip(mark, said.index)));
    if (said.tag) span.append(make("span", "fn-tag", said.tag));
    return span;
  };

  // One button for one source; sources that stand at the same place have a button each in one row.
  const row = ({ numbers, place, quote }) => {
    const several = numbers.length > 1;
    const line = several ? make("div", "fn-row fn-several") : press(make("button", "fn-row"), numbers[0]);
    if (quote) line.append(make("q", "fn-near", quote));
    else if (several) line.append(...numbers.map((n) => press(make("button", "fn-chip", String(n)), n)));
    else line.append(make("span", "fn-number", String(numbers[0])));
    line.append(make("span", "fn-place", place));
    return line;
  };

  const shelf = (group) => {
    const list = make(group.folded ? "details" : "section", "fn-sources");
    list.setAttribute("aria-label", group.heading);
    const numbers = group.documents.flatMap((document) => document.rows.flatMap((line) => line.numbers));
    list.open = unfolded || numbers.some((n) => isOpen(n));
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
    const element = prose.appendChild(make(tags[block.kind] ?? "p", "", block.text));
    const isList = block.kind === "bullets" || block.kind === "numbers";
    block.lines.forEach((line, at) => {
      const holder = isList ? element.appendChild(make("li")) : element;
      if (block.kind === "code") holder.append((at ? "\n" : "") + (block.indents[at] ?? ""));
      line.forEach((said, place) => holder.append(...(place ? [" "] : []), sentence(said)));
    });
  }
  const notes = data.notes.map((note) => make("p", "fn-note", note));
  const shelves = data.groups.map(shelf);
  root.replaceChildren(prose, ...(data.abstains ? [...shelves, ...notes] : [...notes, ...shelves]));
  root.querySelectorAll("button")[pressed]?.focus({ preventScroll: true });
  if (!known && data.latest) backToQuestion();
}
