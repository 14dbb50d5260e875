/// Which of a service's addresses are tried, in which order, and for how long each.
///
/// A pure machine: the time is an argument.
package struct AddressBook: Sendable {
    /// How long an address that stalls comes behind the others.
    private let quarantine: Duration
    /// Addresses that have stalled, with the end of their quarantine.
    private var quarantined: [String: Duration] = [:]
    /// Those that the service had when it was resolved last.
    private var known: Set<String> = []
    /// Connections that are open, by address.
    private var open: [String: Int] = [:]
    /// Addresses that gave no connection and did not stall, with how long others of theirs are tried before them.
    private var away: [String: Duration] = [:]

    /// How long an address that refuses comes behind those that do not: it answers at once, and costs little to try.
    private static let absence = Duration.seconds(30)

    package init(quarantine: Duration) { self.quarantine = quarantine }

    /// Those first that have the fewest of our connections, so that many connections spread over what the name gives; among
    /// as many, in the resolver's order. Those that just refused come behind them, and those in quarantine last: none of
    /// these is tried while another one answers, and all of them are when nothing else is left. Among them the one that
    /// has been there for the longest comes first.
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

    /// One that was opened is closed.
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

    /// How long the next address may take.
    ///
    /// An even share of what is left, so that one that stalls does not use up the time of the others; but at least a fourth
    /// of the whole, since a share too small would call every address a stalling one.
    ///
    /// - Parameters:
    ///   - remaining: of `whole`.
    ///   - count: of the addresses that are left, this one included.
    package static func limit(remaining: Duration, of whole: Duration, count: Int) -> Duration {
        min(remaining, max(remaining / max(count, 1), whole / 4))
    }
}
