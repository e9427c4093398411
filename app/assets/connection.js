// A lost connection is said in a line that goes when the server is there again; Streamlit, which goes on trying, says
// it in a dialog over everything. What is opened in place of a list is shown from its beginning, and what is chosen in
// the sidebar of a telephone, which lies over the page, is uncovered.
const line = document.createElement("div");
line.role = "status";
line.className = "fn-away";

let place = document.URL;
function uncover() {
  const sidebar = '[data-testid="stSidebar"][data-collapsed="false"] [data-testid="stSidebarCollapseButton"] button';
  if (matchMedia("(max-width: 768px)").matches) document.querySelector(sidebar)?.click();
  place = document.URL;
}

function look() {
  if (place !== document.URL) uncover();
  for (const dialog of document.querySelectorAll('[role="dialog"]')) {
    if (dialog.textContent.startsWith("Connection error")) dialog.querySelector("button")?.click();
  }
  const isAway = document.querySelector('[data-testid="stConnectionStatus"]') !== null;
  if (isAway !== Boolean(line.textContent)) {
    line.textContent = isAway ? "The connection is lost. Trying to reach the chat again …" : "";
  }
}

let watch = null;
let opened = "";
export default function ({ data }) {
  if (opened !== String(data.opened)) document.querySelector('[data-testid="stMain"]')?.scrollTo(0, 0);
  opened = String(data.opened);
  watch ??= setInterval(look, 250);
  const page = document.querySelector(".stApp");
  if (page && line.parentElement !== page) page.append(line);
}
