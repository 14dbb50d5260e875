// Elements, made of their parts. Text is always text: nothing that came from a sender is read as HTML.

const svgSpace = "http://www.w3.org/2000/svg";

/** An element with attributes and children; `on…` are listeners, and what is null or false is left out. */
export function h(name, attributes, ...children) {
  return fill(document.createElement(name), attributes, children);
}

/** The same for drawings. */
export function s(name, attributes, ...children) {
  return fill(document.createElementNS(svgSpace, name), attributes, children);
}

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  add(element, children);
  return element;
}

function add(element, children) {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false || child === "") continue;
    element.append(child);
  }
}

/** Puts other children into an element. The control that had the focus has it again, by its `data-key`. */
export function replace(element, ...children) {
  const active = document.activeElement;
  const key = element.contains(active) ? active.dataset.key : null;
  element.replaceChildren();
  add(element, children);
  if (key) element.querySelector(`[data-key="${CSS.escape(key)}"]`)?.focus({ preventScroll: true });
}

/**
 * A table. Columns: `{title, kind, cell(row)}`; kinds are `number`, `time`, `tight`, `name`, `long` and none. On a narrow
 * screen each row stands alone; the roles are said, so that it stays a table for who hears it.
 */
export function table(caption, columns, rows, empty) {
  if (rows.length === 0) return h("p", { class: "state" }, empty);
  const head = columns.map((column) =>
    h("th", { scope: "col", role: "columnheader", class: column.kind === "number" ? "number" : null }, column.title));
  const body = rows.map((row) => h("tr", { role: "row" }, columns.map((column) => {
    const content = column.cell(row);
    const isEmpty = content === null || content === undefined || content === "" || content === false;
    return h("td", {
      role: "cell", class: [column.kind, isEmpty ? "empty" : ""].filter(Boolean).join(" ") || null,
      "data-label": column.title,
    }, h("span", null, content));
  })));
  return h("div", { class: columns.length < 5 ? "scroll few" : "scroll" }, h("table", { role: "table", "aria-label": caption },
    h("thead", { role: "rowgroup" }, h("tr", { role: "row" }, head)), h("tbody", { role: "rowgroup" }, body)));
}

/** Names and values; what has no value is left out. */
export function facts(rows) {
  return h("dl", { class: "facts" }, rows
    .filter(([, value]) => value !== null && value !== undefined && value !== "")
    .map(([name, value]) => [h("dt", null, name), h("dd", null, value)]));
}

/** A part of a view with a heading. */
export function block(title, ...children) {
  return h("section", { class: "block", "aria-label": title }, h("h2", null, title), children);
}

/** A state in a word: `running` is plain, what somebody holds is framed, what needs somebody is inverted. */
export function word(state) {
  const kind = /stopped|fault|away|not ready/i.test(state) ? "stopped"
    : /paused|held|holding|warning|aside|suspect|no route/i.test(state) ? "held" : "plain";
  return h("span", { class: `word ${kind}` }, state);
}

/** A sentence in which `commands` are set apart. */
export function sentence(text) {
  return text.split("`").map((part, index) => (index % 2 ? h("code", null, part) : part));
}

/** A form of labelled fields. Fields: `{name, label, value, choices, words, hint, wide}`; `words` are what choices are called. */
export function searchForm(label, fields, action, submit) {
  return h("form", { class: "fields", role: "search", "aria-label": label, onsubmit: (event) => {
    event.preventDefault();
    const values = {};
    for (const [name, value] of new FormData(event.target)) if (value.trim()) values[name] = value.trim();
    submit(values);
  } }, fields.map((field) => h("label", { class: field.wide ? "wide" : null }, field.label, field.choices
    ? h("select", { name: field.name, "data-key": `field-${field.name}` },
      field.choices.map((choice) => h("option", { value: choice, selected: choice === (field.value ?? "") }, field.words?.[choice] ?? (choice || "any"))))
    : h("input", {
      name: field.name, value: field.value ?? "", placeholder: field.hint, autocomplete: "off", autocapitalize: "off",
      spellcheck: "false", "data-key": `field-${field.name}`,
    }))), h("div", { class: "acts" }, h("button", { class: "main" }, action)));
}
