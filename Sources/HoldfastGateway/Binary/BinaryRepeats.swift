internal import Holdfast
internal import HoldfastLegacyAPNs
internal import NIOCore

/// Remembers what is on disk of the notifications that senders were told to be discarded, so that they are not taken again
/// when they come again.
///
/// An error of the binary protocol says that everything behind the named notification was discarded. An error about one that
/// the push service has rejected comes when others behind it are on disk already. A sender that sends those again is
/// answered as if it had not; one that does not has lost nothing.
final class BinaryRepeats: Sendable {
    /// Tells notifications apart: a digest of the sender, the topic, and everything that a frame says but the identifier.
    struct Key: Hashable, Sendable {
        fileprivate let high: UInt64
        fileprivate let low: UInt64
    }

    private struct Remembered: Sendable {
        let fate: BinaryFate
        let until: NIODeadline
    }

    private struct State: Sendable {
        var known: [Key: ArraySlice<Remembered>] = [:]
        var count = 0
        /// The keys, in the order in which they were added; those of repeats that have come are still there.
        var order: ArraySlice<(key: Key, until: NIODeadline)> = []
    }

    private let secret = IdentityKey.random()
    private let state = Monitor(State())
    /// Of what open connections may tell, and of what is remembered behind them.
    let places: SharedPlaces

    init(places: SharedPlaces) { self.places = places }

    /// - Parameter sender: what its connections have in common.
    func key(of request: BinaryRequest, from sender: [UInt8], topic: String) -> Key {
        var hash = SipHash128(key: secret)
        let (token, payload) = (request.token ?? [], request.payload ?? [])
        // Lengths first, so that no two different lists of fields are one run of bytes.
        hash.append(UInt64(sender.count) << 32 | UInt64(topic.utf8.count))
        hash.append(UInt64(token.count) << 32 | UInt64(payload.count))
        hash.append(
            UInt64(request.expiration ?? 0) | (request.expiration == nil ? 1 << 32 : 0)
                | UInt64(request.priority ?? 0) << 40 | (request.priority == nil ? 1 << 48 : 0))
        hash.append(sender)
        hash.append(topic.utf8)
        hash.append(token)
        hash.append(payload)
        let (high, low) = hash.finalize()
        return Key(high: high, low: low)
    }

    /// Remembers notifications that were told to be discarded. Each has a place already.
    func remember(_ entries: [(key: Key, fate: BinaryFate)], until: NIODeadline, now: NIODeadline) {
        for entry in entries { entry.fate.unwatch() }
        let expired = state.withLock { state in
            for entry in entries {
                state.known[entry.key, default: []].append(Remembered(fate: entry.fate, until: until))
                state.order.append((entry.key, until))
            }
            state.count += entries.count
            return Self.expire(&state, now)
        }
        release(expired)
    }

    /// Whether one like this is remembered.
    func knows(_ key: Key, at now: NIODeadline) -> Bool {
        state.withLock { $0.count > 0 && $0.known[key]?.contains { $0.until > now } == true }
    }

    /// Takes one like this, with its place: it has come again.
    func claim(_ key: Key, at now: NIODeadline) -> BinaryFate? {
        let (fate, expired) = state.withLock { state -> (BinaryFate?, [BinaryFate]) in
            guard state.count > 0 else { return (nil, []) }
            let expired = Self.expire(&state, now)
            guard let first = state.known[key]?.popFirst() else { return (nil, expired) }
            if state.known[key]?.isEmpty == true { state.known[key] = nil }
            state.count -= 1
            return (first.fate, expired)
        }
        release(expired)
        return fate
    }

    /// Forgets what has been remembered for its time, to make room.
    func expire(at now: NIODeadline) {
        release(state.withLock { $0.count > 0 ? Self.expire(&$0, now) : [] })
    }

    private func release(_ expired: [BinaryFate]) {
        for fate in expired { fate.abandon() }
        places.giveBack(expired.count)
    }

    private static func expire(_ state: inout State, _ now: NIODeadline) -> [BinaryFate] {
        var expired: [BinaryFate] = []
        while let first = state.order.first, first.until <= now || state.count == 0 {
            state.order.removeFirst()
            guard let oldest = state.known[first.key]?.first, oldest.until <= now else { continue }
            expired.append(oldest.fate)
            state.known[first.key]?.removeFirst()
            if state.known[first.key]?.isEmpty == true { state.known[first.key] = nil }
            state.count -= 1
        }
        // Of keys that have come again, no more than of others.
        if state.order.count > 2 * state.count + 1000 {
            let all = state.known.flatMap { key, all in all.map { (key: key, until: $0.until) } }
            state.order = all.sorted { $0.until < $1.until }[...]
        }
        return expired
    }
}
