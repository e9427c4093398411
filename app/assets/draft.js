// What is typed in the question box is kept in the browser at once, told to the server after a pause, and put back
// when the conversation is opened again.
const PAUSE = 600; // milliseconds
const KEPT = "footnote_draft";
const setValue = Object.getOwnPropertyDescriptor(HTMLTextAreaElement.prototype, "value").set;
const find = () => document.querySelector('[data-testid="stChatInputTextArea"]');
let storage = null;
try {
  storage = localStorage;
} catch {} // a frame that may keep nothing
let opened = null;
let filled = 0;
let now = null; // the latest data, and how the server is told
let pending;
let isWriting = false;

function write(text) {
  isWriting = true;
  setValue.call(find(), text); // React hears of it by the event
  find().dispatchEvent(new Event("input", { bubbles: true }));
  isWriting = false;
}

function kept(conversation) {
  const [of, draft] = JSON.parse(storage?.getItem(KEPT) ?? "[null]");
  return of === conversation ? draft : null;
}

function open(conversation, draft, tries = 25) {
  const box = find();
  if (opened === conversation) return;
  if (!box) return tries && setTimeout(open, 120, conversation, draft, tries - 1);
  const switched = Boolean(opened); // from one conversation to another; a new one has just got its name otherwise
  opened = conversation;
  const text = kept(conversation) ?? draft;
  if (switched ? box.value !== text : text && !box.value) write(text);
  else if (box.value) keep(box.value); // typed before this script was there
  settle(box);
}

function settle(box) {
  const { conversation, draft } = now.data;
  if (!["", draft].includes(box.value)) tell(box.value);
  else if (kept(conversation) !== null) storage.removeItem(KEPT); // it was sent, or the server has it
}

function keepKey(name, key) {
  if (!key || document.cookie.includes(`${name}=`)) return; // the key by which a visitor finds the conversations again
  const framed = window !== window.top; // there only a cookie of this frame in its site is kept, and only over HTTPS
  const secure = location.protocol !== "https:" ? "Strict" : framed ? "None; Secure; Partitioned" : "Strict; Secure";
  document.cookie = `${name}=${key}; Path=/; Max-Age=31536000; SameSite=${secure}`;
}

function keep(draft) {
  storage?.setItem(KEPT, JSON.stringify([now.data.conversation, draft]));
  tell(draft);
}

function tell(draft) {
  const { data, setTriggerValue } = now;
  clearTimeout(pending);
  const told = { conversation: data.conversation, draft };
  if (data.conversation) pending = setTimeout(() => setTriggerValue("typed", told), PAUSE);
}

const isBox = (event) => now && event.target.dataset?.testid === "stChatInputTextArea";
document.addEventListener("input", (event) => {
  if (isBox(event) && !isWriting) keep(event.target.value);
});
document.addEventListener("keydown", (event) => {
  if (event.key !== "ArrowUp" || !isBox(event) || event.target.value || !now.data.last) return;
  event.preventDefault();
  write(now.data.last);
});

// What was sent is no draft any more: the box is empty then.
const forgetTheSent = () => setTimeout(() => find()?.value === "" && storage?.removeItem(KEPT), 0);
document.addEventListener("keydown", (event) => event.key === "Enter" && isBox(event) && forgetTheSent());
document.addEventListener("click", forgetTheSent);

export default function ({ data, setTriggerValue }) {
  keepKey(data.cookie, data.key);
  now = { data, setTriggerValue };
  const box = find();
  if (opened !== data.conversation) open(data.conversation, data.draft);
  else if (box) settle(box);
  if (box && data.filled[0] > filled) {
    filled = data.filled[0];
    write(data.filled[1]);
    box.focus();
  }
}
