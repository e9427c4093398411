// A career in tables: every row has the documents that state it as footnotes, numbered by document.
export default function ({ data, parentElement, setTriggerValue }) {
  const root = make("div", "fn-answer fn-career");
  const chip = ([n, number, label]) => {
    const made = make("button", `fn-chip${n === data.open ? " fn-open" : ""}`, String(number));
    made.type = "button";
    made.title = label;
    made.setAttribute("aria-label", `Source ${number}: ${label}`);
    made.onclick = () => setTriggerValue("open", { n });
    return made;
  };
  for (const { heading, sides } of data.disputes) {
    const dispute = root.appendChild(make("div", "fn-dispute"));
    dispute.append(make("div", "fn-heading fn-alert", heading));
    for (const side of sides) {
      const line = dispute.appendChild(make("p", "fn-side", `“${side.quote}” `));
      line.append(chip(side.chip));
    }
  }
  for (const [kind, rows] of data.kinds) {
    const frame = root.appendChild(make("div", "fn-table"));
    const table = frame.appendChild(make("table"));
    table.append(make("caption", "fn-heading", kind));
    const head = table.appendChild(make("thead")).appendChild(make("tr"));
    for (const name of ["What", "When", "Sources"]) head.appendChild(make("th", "", name)).scope = "col";
    const body = table.appendChild(make("tbody"));
    for (const [years, title, detail, chips] of rows) {
      const line = body.appendChild(make("tr"));
      const what = line.appendChild(make("th", "", title));
      what.scope = "row";
      if (detail) what.append(make("div", "fn-detail", detail));
      line.append(make("td", "", years));
      line.appendChild(make("td", "fn-chips")).append(...chips.map(chip));
    }
  }
  const names = root.appendChild(make("p", "fn-note"));
  names.textContent = `Sources: ${data.documents.map(([number, name]) => `${number} ${name}`).join(" · ")}`;
  const focused = [...parentElement.querySelectorAll("button")].indexOf(document.activeElement);
  parentElement.querySelector(".fn-career")?.remove();
  parentElement.append(root);
  root.querySelectorAll("button")[focused]?.focus({ preventScroll: true });
}
