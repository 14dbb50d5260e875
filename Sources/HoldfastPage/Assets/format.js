// Figures, spans and times for people: at most three digits where a figure is measured, all of them where it is counted.
import { h } from "./dom.js";

const whole = new Intl.NumberFormat("en-US");

export const count = (value) => (value === null || value === undefined ? "" : whole.format(value));

/** `1 entry`, `2 entries` */
export function plural(value, one, many = `${one}s`) {
  return `${count(value)} ${value === 1 ? one : many}`;
}

/** A measured figure: `0.25`, `12.3`, `1,240` */
export function measure(value) {
  if (value === 0) return "0";
  if (value < 1) return value.toFixed(2);
  return value < 100 ? String(Math.round(value * 10) / 10) : whole.format(Math.round(value));
}

/** `420 ms`, `1.25 s`, `12 s`, `4 min`, `3 h`, `12 days` */
export function span(seconds) {
  if (seconds === null || seconds === undefined) return "";
  if (seconds < 1) return `${Math.round(seconds * 1000)} ms`;
  if (seconds < 10) return `${Math.round(seconds * 100) / 100} s`;
  if (seconds < 120) return `${Math.round(seconds)} s`;
  if (seconds < 7200) return `${Math.floor(seconds / 60)} min`;
  return seconds < 172800 ? `${Math.floor(seconds / 3600)} h` : `${count(Math.floor(seconds / 86400))} days`;
}

export function bytes(value) {
  const units = ["B", "KB", "MB", "GB", "TB"];
  let unit = 0;
  while (value >= 1024 && unit < units.length - 1) { value /= 1024; unit += 1; }
  return `${unit ? value.toFixed(1) : value} ${units[unit]}`;
}

const moment = (text) => (typeof text === "number" ? new Date(text * 1000) : new Date(text));
const two = (value) => String(value).padStart(2, "0");

/** By this machine's clock: the time of today, else with its day. */
export function clock(text) {
  const date = moment(text);
  const time = `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  const now = new Date();
  const isToday = date.toDateString() === now.toDateString();
  return isToday ? time : `${day} ${time}`;
}

/** A time, with the exact one of the service behind it. */
export function time(text) {
  if (text === null || text === undefined) return "";
  return h("time", { datetime: moment(text).toISOString(), title: String(text) }, clock(text));
}

/** `in 12 s`; null for a time that has passed. */
export function due(text) {
  return text && moment(text).getTime() > Date.now() ? ago(text) : null;
}

/** `4 min ago`, `in 12 s` */
export function ago(text) {
  const seconds = (Date.now() - moment(text).getTime()) / 1000;
  if (Math.abs(seconds) < 1) return "now";
  return seconds >= 0 ? `${span(seconds)} ago` : `in ${span(-seconds)}`;
}
