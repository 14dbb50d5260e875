/// Decides which of a service's addresses are tried, in which order, and for how long each.
///
/// A pure machine: the time is an argument.
package struct AddressBook: Sendable {
    /// The time for which an address that stalled is tried after the others.
    private let quarantine: Duration
    /// Addresses that have stalled, with the end of their quarantine.
    private var quarantined: [String: Duration] = [:]
    /// The addresses of the last resolution.
    private var known: Set<String> = []
    /// Connections that are open, by address.
    private var open: [String: Int] = [:]
    /// Addresses that gave no connection and did not stall, with how long others of theirs are tried before them.
    private var away: [String: Duration] = [:]

    /// The time for which an address that refused is tried after the others: a refusal is immediate, and costs little
    /// to try.
    private static let absence = Duration.seconds(30)

    package init(quarantine: Duration) { self.quarantine = quarantine }

    /// Orders addresses: first those with the fewest of our connections, so that many connections spread over all
    /// addresses; among equals, in the resolver's order. Addresses that just refused come behind them, quarantined ones
    /// last: these are tried only when no other answers, the longest-standing first.
    package mutating func order(_ addresses: [String], now: Duration) -> [String] {
        quarantined = quarantined.filter { $0.value > now }
        away = away.filter { $0.value > now }
        var seen: Set<String> = []
        let addresses = addresses.filter { seen.insert($0).inserted }
        known = seen
        let late = addresses.filter { quarantined[$0] != nil }.sorted { until($0) < until($1) }
        let usual = addresses.enumerated().filter { quarantined[$0.element] == nil }.sorted { one, other in
            rank(one.element, one.offset) < rank(other.element, other.offset)
        }
        return usual.map(\.element) + late
    }

    private func rank(_ address: String, _ place: Int) -> (Int, Int, Int) {
        (away[address] == nil ? 0 : 1, open[address] ?? 0, place)
    }

    /// A connection to the address can be used.
    package mutating func opened(_ address: String) {
        open[address, default: 0] += 1
        away[address] = nil
    }

    /// Notes that a connection to the address is closed.
    package mutating func closed(_ address: String) {
        guard let count = open[address] else { return }
        open[address] = count > 1 ? count - 1 : nil
    }

    /// The address gave no connection that can be used, and said so.
    package mutating func refused(_ address: String, now: Duration) { away[address] = now + Self.absence }

    private func until(_ address: String) -> Duration { quarantined[address] ?? .zero }

    /// The address took a connection, or not even that, and then nothing came of it.
    ///
    /// - Returns: whether it was left in for want of any other (false), or comes behind others from now on.
    package mutating func stalled(_ address: String, now: Duration) -> Bool {
        let isNew = until(address) <= now
        quarantined[address] = now + quarantine
        return isNew && known.contains { $0 != address && until($0) <= now }
    }

    /// The timeout for the next address.
    ///
    /// An even share of the remaining time, so that a stalling address does not use up the time of the others; but at
    /// least a fourth of the whole, since with too small a share every address would seem to stall.
    ///
    /// - Parameters:
    ///   - remaining: the rest of `whole`.
    ///   - count: the number of addresses left, this one included.
    package static func limit(remaining: Duration, of whole: Duration, count: Int) -> Duration {
        min(remaining, max(remaining / max(count, 1), whole / 4))
    }
}
