// What is typed in the question box is told after a pause, and put back when the conversation is opened again.
const PAUSE = 600; // milliseconds
const setValue = Object.getOwnPropertyDescriptor(HTMLTextAreaElement.prototype, "value").set;
let filled = null;

function fill(conversation, draft, tries = 25) {
  const box = document.querySelector('[data-testid="stChatInputTextArea"]');
  if (!box) return tries && setTimeout(fill, 120, conversation, draft, tries - 1);
  const switched = Boolean(filled); // from one conversation to another; a new one has just got its name otherwise
  filled = conversation;
  if (switched ? box.value === draft : !draft || box.value) return;
  setValue.call(box, draft); // React hears of it by the event
  box.dispatchEvent(new Event("input", { bubbles: true }));
}

function keepKey(name, key) {
  if (!key || document.cookie.includes(`${name}=`)) return; // the key by which a visitor finds the conversations again
  const secure = location.protocol === "https:" ? "; Secure" : "";
  document.cookie = `${name}=${key}; Path=/; Max-Age=31536000; SameSite=Strict${secure}`;
}

export default function ({ data, setTriggerValue }) {
  keepKey(data.cookie, data.key);
  if (filled !== data.conversation) fill(data.conversation, data.draft);
  let pending;
  const typed = (event) => {
    if (event.target.dataset?.testid !== "stChatInputTextArea") return;
    clearTimeout(pending);
    const told = { conversation: data.conversation, draft: event.target.value };
    if (data.conversation) pending = setTimeout(() => setTriggerValue("typed", told), PAUSE);
  };
  document.addEventListener("input", typed);
  return () => {
    clearTimeout(pending);
    document.removeEventListener("input", typed);
  };
}
