internal import NIOCore

/// The requests of one connection whose notifications are on disk, and which wait for their outcomes.
///
/// A pure machine. No request has a timer of its own: the connection's one timer asks at ``nextLook``.
struct AnswerWaits {
    typealias Request = HTTP2IngressSession.Waiting

    private struct Wait {
        let request: Request
        let until: NIODeadline
        /// From then on it gives up its stream where others need one.
        let yieldsFrom: NIODeadline
    }

    private var waits: [UInt32: Wait] = [:]
    /// Whether all of the connection's streams were open at the last look.
    private var wasFull = false
    /// The time of the next look; nil while nothing waits.
    private(set) var nextLook: NIODeadline?

    /// Looks are no closer to each other.
    private static let leastPause = TimeAmount.milliseconds(2)

    var count: Int { waits.count }

    mutating func begin(_ request: Request, for time: Duration, at now: NIODeadline) {
        let time = TimeAmount(time)
        let wait = Wait(
            request: request, until: now + time, yieldsFrom: now + TimeAmount.nanoseconds(time.nanoseconds / 4))
        waits[request.streamID] = wait
        let next = wasFull ? wait.yieldsFrom : wait.until
        nextLook = nextLook.map { min($0, next) } ?? next
    }

    /// - Returns: nil if it waits no more.
    mutating func end(_ streamID: UInt32) -> Request? {
        guard let request = waits.removeValue(forKey: streamID)?.request else { return nil }
        if waits.isEmpty { nextLook = nil }
        return request
    }

    /// Ends waits whose time is over. Where all streams are open, ends those that have waited for a quarter of their time,
    /// too, the oldest first, until a quarter of the streams is free: so nobody's wait keeps the client's next request away.
    mutating func look(at now: NIODeadline, isFull: Bool, streams: Int) -> [Request] {
        guard let due = nextLook, now >= due || isFull != wasFull else { return [] }
        wasFull = isFull
        var over = waits.filter { $0.value.until <= now }.map(\.key)
        if isFull {
            let yielding = waits.filter { $0.value.yieldsFrom <= now && $0.value.until > now }.map(\.key).sorted()
            over += yielding.prefix(max(max(streams / 4, 1) - over.count, 0))
        }
        let requests = over.sorted().compactMap { waits.removeValue(forKey: $0)?.request }
        // Streams are free again.
        if !requests.isEmpty { wasFull = false }
        let times = waits.values.lazy.map { [wasFull] in wasFull ? min($0.yieldsFrom, $0.until) : $0.until }
        nextLook = times.min().map { max($0, now + Self.leastPause) }
        return requests
    }

    /// Ends all waits.
    mutating func endAll() -> [Request] {
        defer {
            waits = [:]
            nextLook = nil
        }
        return waits.keys.sorted().compactMap { waits[$0]?.request }
    }
}
