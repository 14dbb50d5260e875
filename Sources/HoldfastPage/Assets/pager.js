// From one page of a list to the next, and back.
import { h } from "./dom.js";

/** Rows of a page. */
export const size = 100;

/** The buttons, each where `previous` or `next` is something to do; null for a list of one page. */
export function pager(previous, next) {
  const button = (key, name, go) => go && h("button", { type: "button", "data-key": key, onclick: go }, name);
  if (!previous && !next) return null;
  return h("div", { class: "acts", role: "group", "aria-label": "Pages" }, button("previous", `Previous ${size}`, previous), button("next", `Next ${size}`, next));
}
