// Questions that stop everything else: to be sure, and to sign in.
import { h, replace, sentence } from "./dom.js";
import { session, signIn } from "./api.js";

let number = 0;

/**
 * Opens a dialog; resolves with what `accept` returns, or null when it is closed. With `offersSignIn`, who is refused for a session
 * that has ended can sign in, and finds what was typed as it was.
 */
function open(title, content, action, accept, offersSignIn = false) {
  const { promise, resolve } = Promise.withResolvers();
  const id = `dialog-${number += 1}`;
  const fault = h("p", { class: "fault", role: "alert" });
  const form = h("form", { method: "dialog", onsubmit: async (event) => {
    event.preventDefault();
    const button = form.querySelector("button.main");
    button.disabled = true;
    try {
      const result = await accept(form);
      resolve(result ?? true);
      dialog.close();
    } catch (error) {
      button.disabled = false;
      replace(fault, error.message, offersSignIn && error.status === 401 && session.canSignIn
        && [" ", h("button", { type: "button", class: "small", onclick: signInAgain }, "Sign in")]);
    }
  } }, h("h2", { id }, title), content, fault, h("div", { class: "acts" },
    h("button", { type: "button", onclick: () => dialog.close() }, "Cancel"), h("button", { class: "main" }, action)));
  async function signInAgain() {
    if (!await askToSignIn()) return;
    replace(fault);
    form.querySelector("button.main").focus();
  }
  const dialog = h("dialog", { "aria-labelledby": id, onclose: () => { dialog.remove(); resolve(null); } }, form);
  document.body.append(dialog);
  dialog.showModal();
  return promise;
}

/** Asks whether to do something, with a reason for other operators where one can be given. */
export function confirm(title, lines, action, accept = () => true, asksReason = false) {
  const content = lines.map((line) => h("p", null, sentence(line)));
  if (asksReason) {
    content.push(h("label", null, "Why, for other operators (may stay empty)", h("input", { name: "reason", maxlength: "200" })));
  }
  return open(title, content, action, (form) => accept(form.elements.reason?.value.trim() ?? ""), true);
}

/** Asks for the operators' token. */
export function askToSignIn() {
  if (!session.canSignIn) {
    return open("Nobody can sign in", h("p", null, sentence(
      "The configuration has no `admin.token-file`. Name a file with a token there, and start the service again.")),
    "Understood", () => null);
  }
  return open("Sign in", [
    h("p", null, sentence("With the operators' token, which is in the file of `admin.token-file`.")),
    h("label", null, "Token", h("input", {
      name: "token", type: "password", required: true, autocomplete: "current-password", spellcheck: "false",
    })),
  ], "Sign in", (form) => signIn(form.elements.token.value.trim()));
}

/** Makes sure that somebody may change something; false where not. */
export async function mayChange() {
  return session.mayChange || (Boolean(await askToSignIn()) && session.mayChange);
}
