internal import Holdfast
internal import HoldfastControl
internal import HoldfastGateway
internal import HoldfastJournal

/// The whole fleet: how it stands, and orders to all of its journals.
enum PageFleet {
    static let operations: [PageOperation] = [
        .reading("api/fleet") { call in try PageReply.json(await fleet(call).standing()) },
        .change("api/fleet/lanes/pause", ["lanes", "all", "reason"]) { call in try await orderLanes(call, true) },
        .change("api/fleet/lanes/resume", ["lanes", "all"]) { call in try await orderLanes(call, false) },
        .change("api/fleet/tags/pause", ["tag", "reason"]) { call in
            let (tag, reason) = (try tag(call), call.items["reason"] ?? "")
            let done = try await ordering(call).pause(tags: [tag], reason: reason)
            let change = Change(done, "paused", reason: reason, tag: tag)
            return try answer(change, "tag \(words(tag)) was paused", call)
        },
        .change("api/fleet/tags/resume", ["tag"]) { call in
            let tag = try tag(call)
            let done = try await ordering(call).resume(tags: [tag])
            guard done.slips.isEmpty else {
                throw JournalError(
                    .notFound, "tag \(words(tag)) is paused in no journal of the fleet: nothing was changed")
            }
            return try answer(Change(done, "running", tag: tag), "tag \(words(tag)) was resumed", call)
        },
    ]

    static func fleet(_ call: PageOperation.Call) throws(PageRefusal) -> FleetLook {
        guard let fleet = call.service.fleet() else { throw .noFleet }
        return fleet
    }

    // MARK: Orders

    /// What became of an order. The names of its properties are those of the JSON.
    private struct Change: Encodable {
        /// The number of the order.
        var order: Int64
        /// `paused` or `running`.
        var state: String
        var reason: String?
        var lanes: String?
        var tag: String?
        /// Journals that have carried it out.
        var journals: [FleetPlaceForm]
        /// Those that carry it out as soon as a host can.
        var silent: [SilentForm]

        init(
            _ done: FleetOrdering.Done<some Sendable, some Sendable>, _ state: String, reason: String = "",
            lanes: String? = nil, tag: [UInt8]? = nil
        ) {
            (order, self.state) = (done.number, state)
            self.reason = reason.isEmpty ? nil : reason
            self.lanes = lanes
            self.tag = tag.map { String(decoding: $0, as: UTF8.self) }
            journals = done.answers.answers.map(\.place)
            silent = done.answers.silent.map { SilentForm(place: $0.place, why: $0.reason.words(order: done.number)) }
        }
    }

    private static func ordering(_ call: PageOperation.Call) throws(PageRefusal) -> FleetOrdering {
        let fleet = try fleet(call)
        return FleetOrdering(fleet.asking, who: "\(call.audit.who) at the page of \(fleet.host)")
    }

    private static func orderLanes(_ call: PageOperation.Call, _ pausing: Bool) async throws -> AdminPage.Answer {
        let (items, reason) = (call.items, call.items["reason"] ?? "")
        let patterns = try lanes(items)
        let done = try await ordering(call).order(lanes: patterns, pausing: pausing, reason: reason) { desk, lane in
            if pausing { try await desk.pause(lane, reason: reason) } else { try await desk.resume(lane) }
        }
        let name = patterns?.first?.description ?? "*"
        guard done.slips.isEmpty else {
            let kept =
                done.answers.silent.isEmpty
                ? "nothing was changed" : "order \(done.number) is kept, since not all owners have answered"
            throw JournalError(.notFound, "no journal of the fleet that answers has lanes \(name): \(kept)")
        }
        let change = Change(done, pausing ? "paused" : "running", reason: reason, lanes: name)
        let what = patterns == nil ? "all lanes were" : "lanes \(name) were"
        return try answer(change, "\(what) \(pausing ? "paused" : "resumed")", call)
    }

    /// - Returns: nil for all: never by silence.
    private static func lanes(_ items: PageItems) throws(ControlError) -> [LanePattern]? {
        guard let text = items["lanes"] else {
            guard items["all"] == "true" else { throw .malformed("say which lanes, or \"all\": true") }
            return nil
        }
        guard items["all"] != "true", let pattern = LanePattern(text) else {
            throw .malformed("say which lanes, by the beginning of their names, or \"all\": true; not both")
        }
        return [pattern]
    }

    private static func tag(_ call: PageOperation.Call) throws -> [UInt8] {
        _ = try call.items.value("tag", OutcomeArgument.tag)
        return Array(try call.items.need("tag").utf8)
    }

    /// Tells the log, and who asks.
    private static func answer(
        _ change: Change, _ what: String, _ call: PageOperation.Call
    ) throws -> AdminPage.Answer {
        try fleet(call).forget()
        let silent = change.silent.map(\.place.journal).joined(separator: ", ")
        call.audit.tell(
            "\(what) for the whole fleet (order \(change.order))" + (change.reason.map { ", because: \($0)" } ?? "")
                + (silent.isEmpty ? "" : "; not carried out yet at \(silent)"))
        return try PageReply.json(change)
    }

    private static func words(_ tag: [UInt8]) -> String { String(decoding: tag, as: UTF8.self).debugDescription }
}
