// What a page does beside its widgets: the keyboard stays in the question box, a new question comes into view.
let asked = 0;

function handBackTheKeyboard(tries = 12) {
  if (matchMedia("(pointer: coarse)").matches) return; // it would open the keyboard on the screen
  const box = document.querySelector('[data-testid="stChatInputTextArea"]');
  const idle = document.activeElement === null || document.activeElement === document.body;
  if (box && idle) box.focus({ preventScroll: true });
  // What was pressed keeps the keyboard until Streamlit takes it off the page, a moment later.
  else if (tries) setTimeout(handBackTheKeyboard, 120, tries - 1);
}

function showTheQuestion(number, tries = 25) {
  const question = document.querySelectorAll("h2.fn-question")[number - 1];
  if (!question) return tries && setTimeout(showTheQuestion, 120, number, tries - 1);
  if (question.getBoundingClientRect().bottom > innerHeight / 2) question.scrollIntoView({ block: "start" });
}

export default function ({ data }) {
  handBackTheKeyboard();
  if (data.questions > asked) showTheQuestion(data.questions);
  asked = data.questions;
}
