// Who hands notifications over, and what was refused.
import { get } from "./api.js";
import { block, replace, table } from "./dom.js";
import { count } from "./format.js";

export const isLive = true;

export function show(content) {
  return async () => {
    const { listeners, producers } = await get("senders");
    const refusals = listeners.flatMap((listener) => [
      ...Object.entries(listener.refused).map(([word, number]) => ({ listener: listener.listener, what: "notification refused", word, number })),
      ...Object.entries(listener.faults).map(([word, number]) => ({ listener: listener.listener, what: "connection ended", word, number })),
    ]).sort((one, other) => other.number - one.number);
    replace(content, block("Listeners", table("Listeners", [
      { title: "Listener", kind: "name", cell: (row) => row.listener },
      { title: "Connections", kind: "number", cell: (row) => count(row.connections) },
      { title: "Accepted", kind: "number", cell: (row) => count(row.accepted) },
      { title: "Repeated", kind: "number", cell: (row) => count(row.repeated) },
      { title: "Refused", kind: "number", cell: (row) => count(Object.values(row.refused).reduce((sum, value) => sum + value, 0)) },
      { title: "Unanswered", kind: "number", cell: (row) => count(row.unanswered) },
    ], listeners, "The configuration has no listeners for senders.")),
    block("Refusals since the start", table("Refusals", [
      { title: "What", kind: "name", cell: (row) => row.what },
      { title: "Because", kind: "name", cell: (row) => row.word },
      { title: "Listener", cell: (row) => row.listener },
      { title: "Count", kind: "number", cell: (row) => count(row.number) },
    ], refusals, "Nothing was refused.")),
    block("Producers, ever", table("Producers", [
      { title: "Producer", kind: "name", cell: (row) => row.producer },
      { title: "Waiting", kind: "number", cell: (row) => count(row.unconfirmed) },
      ...["accepted", "confirmed", "rejected", "expired", "unknown", "withdrawn"].map((key) => ({
        title: key.charAt(0).toUpperCase() + key.slice(1), kind: "number", cell: (row) => count(row.totals[key]),
      })),
    ], producers, "Nobody has handed anything over yet.")));
  };
}
