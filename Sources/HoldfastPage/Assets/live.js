// How it stands, as it changes: server-sent events, and where those are not to be had, a question every ten seconds.
import { get } from "./api.js";

export const live = new EventTarget();
let source = null;
let timer = null;

function tell(name, detail) { live.dispatchEvent(new CustomEvent(name, { detail })); }

export function connect() {
  source?.close();
  clearTimeout(timer);
  source = new EventSource("/api/events");
  source.addEventListener("open", () => tell("state", "Live"));
  source.addEventListener("status", (event) => tell("status", JSON.parse(event.data)));
  source.addEventListener("sample", (event) => tell("sample", JSON.parse(event.data)));
  source.addEventListener("error", () => {
    // A browser connects again by itself, unless it was refused.
    if (source.readyState === EventSource.CLOSED) poll();
    else tell("state", "Connecting again");
  });
}

async function poll() {
  clearTimeout(timer);
  try {
    const hour = await get("samples");
    tell("state", "Every 10 s");
    if (hour.current) tell("sample", hour.current);
    tell("status", null);
  } catch (error) {
    tell("state", error.status === 0 ? "Away" : "Not live");
    if (error.status === 401) return;
  }
  timer = setTimeout(poll, 10000);
}
