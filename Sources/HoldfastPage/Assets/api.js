// The JSON under /api. Everything that the page knows and does comes through here.

export class APIError extends Error {
  constructor(status, message) { super(message); this.status = status; }
}

/** Who reads the page: `{mayRead, mayChange, canSignIn, csrf}`. */
export const session = { mayRead: false, mayChange: false, canSignIn: false };

async function ask(path, options) {
  let response;
  try {
    response = await fetch(`/api/${path}`, { credentials: "same-origin", cache: "no-store", ...options });
  } catch {
    throw new APIError(0, "The service doesn't answer.");
  }
  let answer = null;
  try { answer = await response.json(); } catch { /* It says nothing more than its status. */ }
  if (response.ok && answer !== null) return answer;
  const message = answer?.error?.message;
  throw new APIError(response.status, message ? sentence(message) : `The service answered ${response.status}.`);
}

function sentence(text) {
  const first = text.startsWith("`") ? text : text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?]$/.test(first) ? first : `${first}.`;
}

export function get(path, items = {}) {
  const query = new URLSearchParams(Object.entries(items).filter(([, value]) => value !== undefined && value !== ""));
  return ask(`${path}${query.size ? `?${query}` : ""}`);
}

export async function post(path, body = {}) {
  try {
    return await ask(path, {
      method: "POST", body: JSON.stringify(body),
      headers: { "Content-Type": "application/json", ...(session.csrf ? { "X-Holdfast-CSRF": session.csrf } : {}) },
    });
  } catch (error) {
    // It has ended: who knows that can sign in again.
    if (error.status === 401 && path !== "session") await refreshSession();
    throw error;
  }
}

export async function refreshSession() { take(await get("session")); }

/** The same, and nothing is drawn anew where nothing has changed. */
export async function checkSession() {
  const answer = await get("session");
  if (["mayRead", "mayChange", "canSignIn", "csrf"].some((key) => answer[key] !== session[key])) take(answer);
}

export async function signIn(token) { take(await post("session", { token })); }
export async function signOut() { take(await post("session/end")); }

function take(answer) {
  for (const key of Object.keys(session)) delete session[key];
  Object.assign(session, answer);
  document.dispatchEvent(new CustomEvent("session"));
}
