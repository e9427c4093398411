// A question box for any page; every sentence of an answer carries a checked footnote.
//   <script src="https://SERVER/widget.js" defer></script>
//   <footnote-ask token="A VISITOR'S TOKEN" heading="Ask about my work" theme="auto" accent="#1d5f66"></footnote-ask>
// Everything that a document or a model says goes in as text, never as HTML.
(() => {
  const base = new URL(".", document.currentScript.src).href;
  const FINDING = {
    supported: "Supported by its source",
    partial: "Partly supported by its source",
    misattributed: "Supported by another source than the one it cites",
    unsupported: "Not supported by its source",
    uncited: "Without a source",
  };
  const STYLE = `
    :host { --accent: #1d5f66; --paper: #fdfcf9; --ink: #1f2326; --soft: #5b6166; --line: #d8d4c8; display: block;
      color: var(--ink); background: var(--paper); border: 1px solid var(--line); border-radius: .6rem; padding: 1rem;
      font: 1rem/1.55 system-ui, sans-serif; color-scheme: light; }
    :host([data-theme="dark"]) { --accent: #7cc4cc; --paper: #17191c; --ink: #e8e6e1; --soft: #a6abb0;
      --line: #3a3f45; color-scheme: dark; }
    :host([hidden]) { display: none; }
    form { display: flex; flex-wrap: wrap; gap: .5rem; }
    label { flex-basis: 100%; font-weight: 600; }
    input { flex: 1 1 12rem; min-width: 0; font: inherit; padding: .5rem .7rem; color: inherit; background: transparent;
      border: 1px solid var(--soft); border-radius: .4rem; }
    button { font: inherit; cursor: pointer; color: inherit; background: none; border: 1px solid var(--line);
      border-radius: .4rem; padding: .3rem .7rem; }
    form button { background: var(--accent); color: var(--paper); border-color: var(--accent); }
    :focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
    h2 { font-size: 1.1rem; margin: 1.2rem 0 .4rem; }
    h3 { font-size: 1rem; margin: .8rem 0 .3rem; }
    p, ul { margin: .4rem 0; }
    .mark { font-size: .75em; vertical-align: super; line-height: 1; padding: .1em .35em; color: var(--accent); }
    .card { border-left: 3px solid var(--accent); margin: .5rem 0; padding: .1rem .8rem; }
    blockquote { margin: .4rem 0; white-space: pre-line; }
    .soft { color: var(--soft); font-size: .9em; }
    .offers { display: flex; flex-wrap: wrap; gap: .4rem; margin-top: .6rem; }
    a { color: var(--accent); }`;

  function make(tag, className, text) {
    const element = document.createElement(tag);
    if (className) element.className = className;
    if (text !== undefined) element.textContent = text;
    return element;
  }

  const isWeb = (address) => /^https?:\/\//.test(address || "");

  function place(source) {
    const lines = source.line_start === source.line_end ? `line ${source.line_start}` : `lines ${source.line_start}–${source.line_end}`;
    return [source.page ? `page ${source.page}` : lines, ...(source.section_path || [])].join(" · ");
  }

  // (name, data) of each server-sent event of a reply.
  async function* eventsOf(reply) {
    const reader = reply.body.pipeThrough(new TextDecoderStream()).getReader();
    let text = "";
    for (;;) {
      const { done, value } = await reader.read();
      text += value || "";
      const blocks = text.split("\n\n");
      text = blocks.pop();
      for (const block of blocks) {
        const [name, data] = block.split("\n");
        yield [name.slice("event: ".length), JSON.parse(data.slice("data: ".length))];
      }
      if (done) return;
    }
  }

  class FootnoteAsk extends HTMLElement {
    static observedAttributes = ["theme", "accent"];

    connectedCallback() {
      if (this.shadowRoot) return;
      const shadow = this.attachShadow({ mode: "open" });
      shadow.append(make("style", "", STYLE));
      const form = make("form");
      const label = make("label", "", this.getAttribute("heading") || "Ask, and check the answer");
      this.input = Object.assign(make("input"), {
        id: "question", maxLength: 2000, autocomplete: "off", required: true,
        placeholder: this.getAttribute("placeholder") || "Ask about these documents",
      });
      label.htmlFor = "question";
      form.append(label, this.input, make("button", "", this.getAttribute("button") || "Ask"));
      form.addEventListener("submit", (event) => {
        event.preventDefault();
        this.ask(this.input.value.trim());
      });
      this.log = make("div");
      this.log.setAttribute("role", "log");
      this.log.setAttribute("aria-label", "Answers");
      shadow.append(form, this.log);
      this.turns = [];
      this.dark = matchMedia("(prefers-color-scheme: dark)");
      this.dark.addEventListener("change", () => this.dress());
      this.dress();
    }

    attributeChangedCallback() {
      if (this.shadowRoot) this.dress();
    }

    dress() {
      const theme = this.getAttribute("theme") || "auto";
      this.dataset.theme = theme === "auto" ? (this.dark.matches ? "dark" : "light") : theme;
      const accent = this.getAttribute("accent");
      if (accent && CSS.supports("color", accent)) this.style.setProperty("--accent", accent);
    }

    async ask(question) {
      if (!question || this.busy) return;
      this.busy = true;
      this.input.value = "";
      const entry = make("section");
      const body = make("div");
      const doing = make("p", "soft", "Searching the documents …");
      entry.append(make("h2", "", question), body, doing);
      this.log.prepend(entry);
      this.log.setAttribute("aria-busy", "true");
      try {
        const answer = await this.answered(question, body);
        this.show(entry, body, answer);
        this.turns = [...this.turns, { question, answer: answer.answer }].slice(-6);
      } catch (error) {
        const said = error.said || "No answer came: the server is away, or it does not allow this page.";
        const alert = make("p", "", said);
        alert.setAttribute("role", "alert");
        body.replaceChildren(alert);
      } finally {
        doing.remove();
        this.log.setAttribute("aria-busy", "false");
        this.busy = false;
      }
    }

    // The Answer to a question; its text is shown as it comes.
    async answered(question, body) {
      const server = this.getAttribute("server") || base;
      const headers = { "Content-Type": "application/json" };
      if (this.getAttribute("token")) headers.Authorization = `Bearer ${this.getAttribute("token")}`;
      const asked = JSON.stringify({ question, history: this.turns, stream: true });
      const reply = await fetch(new URL("v1/ask", server), { method: "POST", headers, body: asked });
      if (!reply.ok) throw this.failure((await reply.json()).error);
      const line = body.appendChild(make("p"));
      line.style.whiteSpace = "pre-line";
      for await (const [name, data] of eventsOf(reply)) {
        if (name === "Token") line.append(data.text);
        if (name === "Footnote") line.append(` [${data.n}]`);
        if (name === "Error") throw this.failure(data.error);
        if (name === "Answer") return data;
      }
      throw new Error("it broke off");
    }

    failure(error) {
      return Object.assign(new Error(error.type), { said: [error.message, error.hint].filter(Boolean).join(" ") });
    }

    show(entry, body, answer) {
      const sources = new Map(answer.sources.map((source) => [source.n, source]));
      const blocks = [];
      let list = null;
      for (const line of answer.answer.split("\n").filter((each) => each.trim())) {
        const item = /^\s*(?:- |\d+\. )/.exec(line);
        const heading = /^#+ /.exec(line);
        if (item && !list) blocks.push((list = make("ul")));
        if (!item) list = null;
        const shown = make(item ? "li" : heading ? "h3" : "p");
        this.fill(shown, line.slice((item || heading || [""])[0].length), sources, answer);
        if (item) list.append(shown);
        else blocks.push(shown);
      }
      body.replaceChildren(...blocks);
      const doubtful = answer.sentences.filter((sentence) => sentence.verdict !== "supported");
      for (const sentence of doubtful) body.append(make("p", "soft", `${FINDING[sentence.verdict]}: “${sentence.text}”`));
      for (const note of answer.notes) body.append(make("p", "soft", note));
      for (const conflict of answer.conflicts) body.append(make("p", "soft", `Sources disagree: ${conflict.said}`));
      if (!answer.answered && answer.nearest.length) {
        body.append(make("p", "soft", "Near, but no answer:"));
        for (const near of answer.nearest) body.append(this.card(near, [near.snippet], ""));
      }
      if (answer.follow_ups.length) {
        const offers = entry.appendChild(make("div", "offers"));
        offers.setAttribute("role", "group");
        offers.setAttribute("aria-label", "You could ask next");
        for (const question of answer.follow_ups) {
          const offer = offers.appendChild(make("button", "", question));
          offer.type = "button";
          offer.addEventListener("click", () => this.ask(question));
        }
      }
    }

    // Text into an element; each [n] of a source becomes the button of its footnote.
    fill(element, text, sources, answer) {
      let done = 0;
      for (const match of text.matchAll(/\s?\[(\d+)\]/g)) {
        const source = sources.get(Number(match[1]));
        if (!source) continue;
        element.append(text.slice(done, match.index), this.mark(element, source, answer));
        done = match.index + match[0].length;
      }
      element.append(text.slice(done));
    }

    mark(element, source, answer) {
      const button = Object.assign(make("button", "mark", String(source.n)), { type: "button" });
      button.setAttribute("aria-label", `Footnote ${source.n}: ${source.title || source.documentName}`);
      button.setAttribute("aria-expanded", "false");
      let card = null;
      const close = () => {
        card?.remove();
        card = null;
        button.setAttribute("aria-expanded", "false");
      };
      button.addEventListener("click", () => {
        if (card) return close();
        const cited = answer.sentences.flatMap((sentence) => sentence.evidence).filter((each) => each.n === source.n);
        const quotes = [...new Set(cited.map((each) => each.quote))];
        card = this.card(source, quotes.length ? quotes : [source.snippet], FINDING[cited[0]?.verdict] || "");
        (element.tagName === "LI" ? element.append.bind(element) : element.after.bind(element))(card);
        button.setAttribute("aria-expanded", "true");
        card.focus();
      });
      const escape = (event) => {
        if (event.key !== "Escape" || !card) return;
        close();
        button.focus();
      };
      this.shadowRoot.addEventListener("keydown", escape);
      return button;
    }

    card(source, quotes, finding) {
      const card = make("div", "card");
      card.tabIndex = -1;
      card.setAttribute("role", "group");
      card.setAttribute("aria-label", `Source: ${source.title || source.documentName}`);
      const head = make("p", "soft", `${source.title || source.documentName}, ${place(source)}`);
      const uri = isWeb(source.lines_uri) ? source.lines_uri : source.uri;
      if (isWeb(uri)) {
        const link = Object.assign(make("a", "", "open"), { href: uri, rel: "noopener", target: "_blank" });
        head.append(" · ", link);
      }
      card.append(head, ...quotes.map((quote) => make("blockquote", "", quote)));
      if (finding) card.append(make("p", "soft", finding));
      return card;
    }
  }

  customElements.define("footnote-ask", FootnoteAsk);
})();
