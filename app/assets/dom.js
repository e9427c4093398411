// What the widgets of an answer and of its source share. Everything goes in as text, never as HTML.
function make(tag, className, text) {
  const element = document.createElement(tag);
  if (className) element.className = className;
  if (text !== undefined) element.textContent = text;
  return element;
}

const SIGNS = { supported: "✓", partial: "≈", misattributed: "↷", unsupported: "✕", uncited: "✕" };
const STYLES = { b: "strong", i: "em", c: "code" };
const wide = matchMedia("(min-width: 1200px)");

// Words in their styles; the last of them keeps the footnotes, which so never begin a line.
function words(runs, chips = []) {
  const pieces = runs.map(([styles, text, cited = null]) => {
    let piece = document.createTextNode(text);
    if (cited !== null) {
      const mark = make("mark");
      mark.dataset.cited = cited;
      mark.append(piece);
      piece = mark;
    }
    for (const style of styles) {
      const wrapped = make(STYLES[style]);
      wrapped.append(piece);
      piece = wrapped;
    }
    return piece;
  });
  if (!chips.length) return pieces;
  const kept = make("span", "fn-keep");
  const last = pieces.at(-1);
  if (last instanceof Text) kept.append(last.splitText(Math.max(last.data.lastIndexOf(" ") + 1, last.length - 14)));
  else if (last?.textContent.length < 15) kept.append(pieces.pop());
  kept.append(...chips);
  return [...pieces, kept];
}

// A row of a table from its runs, in which `|` ends a cell.
function cells(runs, tag) {
  const line = make("tr");
  let cell;
  for (const run of runs) {
    if (run[0] === "|") cell = line.appendChild(make(tag));
    else (cell ??= line.appendChild(make(tag))).append(...words([run]));
  }
  if (cell && !cell.textContent) cell.remove(); // after the last bar
  return line;
}
