/// The name of one hand-out of one entry to one connection; never reused on it.
public struct Ticket: RawRepresentable, Hashable, Sendable {
    /// The number, unique within its connection.
    public let rawValue: UInt64
    /// Creates a ticket from its number.
    @inlinable public init(rawValue: UInt64) { self.rawValue = rawValue }
}

extension Ticket {
    /// The `position`-th entry of a ``CumulativeConnection``, from 1.
    @inlinable public static func position(_ position: UInt64) -> Ticket { Ticket(rawValue: position) }
}

/// Entries for a connection to send, each with the ticket for its answer.
public struct HandOut: Sendable {
    /// The entries, in the order in which to send them.
    public let entries: EntryBatch
    /// The tickets, one for each entry, in the order of the entries.
    public let tickets: [Ticket]

    /// Creates a hand-out. There must be one ticket for each entry.
    public init(entries: EntryBatch, tickets: [Ticket]) {
        precondition(entries.count == tickets.count)
        self.entries = entries
        self.tickets = tickets
    }
}
