// What a page does beside its widgets: the keyboard stays in the question box, a new question and the cited words come
// into view, Escape closes the open source.
let shown = "";
let asked = 0;

function handBackTheKeyboard(tries = 12) {
  if (matchMedia("(pointer: coarse)").matches) return; // it would open the keyboard on the screen
  const box = document.querySelector('[data-testid="stChatInputTextArea"]');
  const idle = document.activeElement === null || document.activeElement === document.body;
  if (box && idle) box.focus({ preventScroll: true });
  // What was pressed keeps the keyboard until Streamlit takes it off the page, a moment later.
  else if (tries) setTimeout(handBackTheKeyboard, 120, tries - 1);
}

function showTheCitedWords(tries = 20) {
  const panel = document.querySelector(".st-key-source_panel");
  const mark = panel?.querySelector("mark");
  if (!mark) return tries && setTimeout(showTheCitedWords, 50, tries - 1);
  const below = mark.getBoundingClientRect().bottom - panel.getBoundingClientRect().bottom;
  panel.scrollTop = below > -48 ? panel.scrollTop + below + panel.clientHeight / 2 : 0;
}

function showTheQuestion(number, tries = 25) {
  const question = document.querySelectorAll("h2.fn-question")[number - 1];
  if (!question) return tries && setTimeout(showTheQuestion, 120, number, tries - 1);
  if (question.getBoundingClientRect().bottom > innerHeight / 2) question.scrollIntoView({ block: "start" });
}

export default function ({ data, setTriggerValue }) {
  handBackTheKeyboard();
  if (data.open && data.open !== shown) setTimeout(showTheCitedWords, 100);
  if (data.questions > asked) showTheQuestion(data.questions);
  [shown, asked] = [data.open, data.questions];
  const escape = (event) => {
    if (event.key === "Escape" && document.querySelector(".st-key-source_panel")) setTriggerValue("close", true);
  };
  document.addEventListener("keydown", escape);
  return () => document.removeEventListener("keydown", escape);
}
