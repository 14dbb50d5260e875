// Changes of many: counted first, confirmed, and then done part by part.
import { get, post } from "./api.js";
import { confirm, mayChange } from "./dialog.js";
import { count, plural } from "./format.js";

/**
 * @param context the view's
 * @param state of the entries that are meant
 * @param filter which of them; `{all: true}` for all
 * @param words `{title, what(number), action, path, done(report)}`
 */
export async function sweep(context, state, filter, words) {
  if (!await mayChange()) return;
  const { all, ...chosen } = filter;
  let counted;
  try { counted = await get("tally", { ...chosen, state }); } catch (error) { return context.fail(error); }
  if (counted.total === 0) return context.say("Nothing of that is there any more.");
  const number = `${counted.isWhole ? "" : "more than "}${count(counted.total)}`;
  const report = await confirm(words.title, words.what(number), words.action, async () => {
    const sum = {};
    let after;
    do {
      const part = await post(words.path, {
        ...chosen, ...(all ? { all: true } : {}), "up-to": counted.nextUID, ...(after === undefined ? {} : { after }),
      });
      add(sum, part);
      after = part.next;
      if (after !== undefined) context.say(`${count(sum.matched)} of ${number} so far`);
    } while (after !== undefined);
    return sum;
  });
  if (report) context.say(words.done(report));
  context.update();
}

function add(sum, part) {
  for (const [key, value] of Object.entries(part)) {
    if (key === "next") continue;
    if (typeof value === "number") sum[key] = (sum[key] ?? 0) + value;
    else { sum[key] ??= {}; add(sum[key], value); }
  }
}

export function retry(context, filter) {
  return sweep(context, "rejected", filter, {
    title: "Send rejections again", path: "rejections/retry", action: "Send again",
    what: (number) => [`${number} rejections are sent again, each as a new notification.`,
      "One that would be refused again stays a rejection. Do it once the cause is mended."],
    done: (report) => {
      const refused = Object.entries(report.refused ?? {}).map(([reason, value]) => `${count(value)} refused again (${reason})`);
      return [`${plural(report.accepted ?? 0, "rejection")} sent again`, ...refused].join("; ") + ".";
    },
  });
}

export function discard(context, filter) {
  return sweep(context, "rejected", filter, {
    title: "Delete rejections", path: "rejections/discard", action: "Delete",
    what: (number) => [`${number} rejections are deleted. They can't be sent again then.`],
    done: (report) => `${plural(report.discarded ?? 0, "rejection")} deleted.`,
  });
}

export function takeBack(context, filter) {
  return sweep(context, "unconfirmed", filter, {
    title: "Take notifications back", path: "entries/withdraw", action: "Take back",
    what: (number) => [`${number} notifications that wait are taken back: they are not sent any more.`,
      "One that is with the push service may arrive all the same."],
    done: (report) => `${plural(report.withdrawn ?? 0, "notification")} taken back`
      + (report.unknown ? `; ${count(report.unknown)} may have been sent` : "") + ".",
  });
}
