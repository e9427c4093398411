// The open source: a dialog beside the answer, over everything in a narrow window, a sheet on a telephone.
const TAGS = { paragraph: "p", label: "p", links: "p", caption: "p", quote: "blockquote", code: "pre" };
const TABS = { text: "Text", page: "Page", details: "Details" };

function pages(blocks) {
  const made = make("div", "fn-page");
  for (const { kind, depth, runs } of blocks) {
    if (kind === "row" || kind === "head") {
      const before = made.lastElementChild;
      const goesOn = kind === "row" && before?.className === "fn-table";
      const frame = goesOn ? before : made.appendChild(make("div", "fn-table"));
      if (!goesOn) frame.append(make("table"));
      frame.firstChild.append(cells(runs, kind === "head" ? "th" : "td"));
      continue;
    }
    const tag = kind === "heading" ? `h${Math.min(depth + 2, 6)}` : (TAGS[kind] ?? "div");
    const block = made.appendChild(make(tag, kind === "item" ? "fn-item" : ""));
    if (kind === "item") block.style.marginLeft = `${depth * 1.2}rem`;
    block.append(...words(runs));
  }
  return made;
}

const UNKNOWN = { page: null, isDrawable: false, picture: null, reported: null, versions: [], library: "" };

export default function ({ data: known, parentElement, setTriggerValue }) {
  const data = { ...UNKNOWN, ...known };
  const dialog = parentElement.querySelector("dialog") ?? parentElement.appendChild(make("dialog", "fn-reader"));
  const isNew = dialog.dataset.name !== data.key;
  const tab = isNew ? "text" : (dialog.dataset.tab ?? "text");
  const focused = [...dialog.querySelectorAll("button, a")].indexOf(document.activeElement);
  dialog.dataset.name = data.key;
  dialog.setAttribute("aria-label", `Source: ${data.title}`);

  const open = () => {
    // Beside the answer it leaves the rest of the page in reach, else it stands before it.
    dialog.popover = wide.matches ? "manual" : null;
    if (wide.matches) dialog.showPopover();
    else dialog.showModal();
    dialog.classList.add("fn-on");
  };
  const hide = () => {
    dialog.classList.remove("fn-on");
    if (dialog.open) dialog.close();
    else if (dialog.matches(":popover-open")) dialog.hidePopover();
  };
  const close = () => {
    hide();
    document.querySelector(".fn-chip.fn-open, .fn-row.fn-open, .fn-card.fn-open")?.focus({ preventScroll: true });
    setTriggerValue("close", true);
  };
  const button = (text, act, className = "fn-tool") => {
    const made = make("button", className, text);
    made.type = "button";
    made.onclick = act;
    return made;
  };

  // The header, which stays
  const head = make("header", "fn-reader-head");
  const handle = button("", () => dialog.classList.toggle("fn-tall"), "fn-handle");
  handle.setAttribute("aria-label", "Higher or lower");
  const title = make("div", "fn-reader-title");
  if (data.number) title.append(make("span", "fn-number", String(data.number)));
  title.append(make("h3", "", data.title));
  const shut = button("✕", close, "fn-tool fn-close");
  shut.setAttribute("aria-label", "Close");
  title.append(shut);
  const where = make("div", "fn-place");
  if (data.link.startsWith("http")) {
    const link = where.appendChild(make("a", "", data.name));
    [link.href, link.target, link.rel] = [data.link, "_blank", "noopener noreferrer"];
  } else where.append(data.name);
  where.append(` · ${data.place}`);
  head.append(handle, title, where);
  if (data.finding) head.append(make("p", `fn-finding fn-${data.verdict}`, `${SIGNS[data.verdict]} ${data.finding}`));

  // The tabs
  const tabs = head.appendChild(make("div", "fn-tabs"));
  tabs.role = "tablist";
  const panels = { text: textPanel(), page: data.page && data.isDrawable ? pagePanel() : null, details: detailsPanel() };
  const choose = (name) => {
    dialog.dataset.tab = name;
    for (const [each, panel] of Object.entries(panels)) if (panel) panel.hidden = each !== name;
    for (const each of tabs.children) each.setAttribute("aria-selected", String(each.dataset.tab === name));
    if (name === "page" && !data.picture && data.picture !== false) setTriggerValue("page", true);
  };
  for (const [name, panel] of Object.entries(panels)) {
    if (!panel) continue;
    const each = tabs.appendChild(button(TABS[name], () => choose(name), "fn-tab"));
    each.role = "tab";
    each.dataset.tab = name;
    panel.role = "tabpanel";
    panel.setAttribute("aria-label", TABS[name]);
  }
  tabs.onkeydown = ({ key }) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[key];
    const next = step && tabs.children[[...tabs.children].indexOf(document.activeElement) + step];
    if (next) next.focus(), choose(next.dataset.tab);
  };

  function show(mark) {
    const isTall = mark && mark.getBoundingClientRect().height > body.clientHeight / 2; // its first line would be hidden
    mark?.scrollIntoView({ block: isTall ? "start" : "center" });
  }

  function textPanel() {
    const panel = make("section", "fn-panel");
    if (data.note) panel.append(make("p", "fn-note", data.note));
    const text = panel.appendChild(pages(data.blocks));
    for (const mark of text.querySelectorAll("mark")) {
      if (!data.evidence.includes(Number(mark.dataset.cited))) mark.className = "fn-other";
    }
    if (data.spans > 1) {
      const bar = make("div", "fn-steps");
      const at = make("span", "fn-place");
      let now = data.evidence[0] ?? 0;
      const go = (to) => {
        now = (to + data.spans) % data.spans;
        at.textContent = `${now + 1} of ${data.spans} cited places`;
        text.querySelectorAll(".fn-here").forEach((mark) => mark.classList.remove("fn-here"));
        const marks = text.querySelectorAll(`mark[data-cited="${now}"]`);
        marks.forEach((mark) => mark.classList.add("fn-here"));
        show(marks[0]);
      };
      at.textContent = `${now + 1} of ${data.spans} cited places`;
      bar.append(button("‹ Previous", () => go(now - 1)), at, button("Next ›", () => go(now + 1)));
      panel.prepend(bar);
    }
    return panel;
  }

  function pagePanel() {
    const panel = make("section", "fn-panel");
    if (!data.picture) {
      const text = data.picture === false ? "This page cannot be drawn." : `Drawing page ${data.page} …`;
      panel.append(make("p", "fn-note", text));
      return panel;
    }
    const frame = make("div", "fn-sheet");
    const sheet = frame.appendChild(make("div", "fn-sheet-page"));
    const image = sheet.appendChild(make("img"));
    if (data.picture.image.startsWith("data:image/png;")) image.src = data.picture.image;
    image.alt = `Page ${data.page} of ${data.name}`;
    for (const [left, top, width, height] of data.picture.boxes) {
      const box = sheet.appendChild(make("div", "fn-box"));
      Object.assign(box.style, { left: `${left * 100}%`, top: `${top * 100}%` });
      Object.assign(box.style, { width: `${width * 100}%`, height: `${height * 100}%` });
    }
    let zoom = 100;
    const size = (by) => {
      zoom = Math.min(Math.max(zoom + by, 100), 300);
      sheet.style.width = `${zoom}%`;
      sheet.querySelector(".fn-box")?.scrollIntoView({ block: "center", inline: "nearest" });
    };
    const bar = make("div", "fn-steps");
    bar.append(button("− Smaller", () => size(-50)), make("span", "fn-place", `Page ${data.page}`));
    bar.append(button("+ Larger", () => size(50)));
    panel.append(bar, frame);
    return panel;
  }

  function detailsPanel() {
    const panel = make("section", "fn-panel");
    const list = panel.appendChild(make("dl", "fn-details"));
    for (const [name, value] of data.details) list.append(make("dt", "", name), make("dd", "", value));
    for (const [said, run] of data.versions) {
      const line = panel.appendChild(make("p", "fn-version", said));
      if (run) line.append(" ", button("Restore", () => setTriggerValue("restore", run)));
    }
    if (data.library) {
      const link = panel.appendChild(make("p")).appendChild(make("a", "", "Open in the library, with its original"));
      [link.href, link.target] = [`library?d=${encodeURIComponent(data.library)}`, "_blank"];
    }
    if (data.reported !== null) {
      const text = data.reported ? "Reported as wrong" : "Wrong source";
      panel.append(button(text, () => setTriggerValue("wrong", true), "fn-tool fn-wrong"));
    }
    return panel;
  }

  const body = make("div", "fn-reader-body");
  body.tabIndex = 0;
  body.append(...Object.values(panels).filter(Boolean));
  const scrolled = dialog.querySelector(".fn-reader-body")?.scrollTop ?? 0;
  dialog.replaceChildren(head, body);
  choose(panels[tab] ? tab : "text");
  // No handler may return false, which would take the keys and the links of all that is inside away.
  const leave = (event) => void (event.preventDefault(), close());
  dialog.oncancel = leave;
  dialog.onclick = (event) => void (event.target === dialog && close()); // the backdrop
  dialog.onkeydown = (event) => void (event.key === "Escape" && leave(event));
  if (!dialog.classList.contains("fn-on")) open();
  if (isNew) {
    shut.focus({ preventScroll: true });
    show(body.querySelector("mark:not(.fn-other)"));
  } else {
    body.scrollTop = scrolled;
    dialog.querySelectorAll("button, a")[focused]?.focus({ preventScroll: true });
    if (tab === "page") body.querySelector(".fn-box")?.scrollIntoView({ block: "center" });
  }
  const reopen = () => (hide(), open());
  dialog.forget?.(); // what an earlier render listens to
  wide.addEventListener("change", reopen);
  dialog.forget = () => wide.removeEventListener("change", reopen);
  return dialog.forget;
}
