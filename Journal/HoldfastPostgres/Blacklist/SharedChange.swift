package import Holdfast

/// A change of the blacklist that a host tells the others.
package enum SharedChange: Hashable, Sendable {
    case add(BlacklistEntry)
    /// Removes the entry of a scope if it holds since before a time.
    case lift(BlacklistKey, before: WallTime)
    case remove(BlacklistKey)

    var recipient: Recipient {
        switch self {
        case .add(let entry): entry.recipient
        case .lift(let key, _), .remove(let key): key.recipient
        }
    }

    /// Does to the entries of its recipient what the database does.
    func apply(to entries: inout TokenEntries) {
        switch self {
        case .add(let entry):
            // What was not told yet has no number.
            var number = UInt64.max - 1
            _ = entries.add(entry, number: &number)
        case .lift(let key, let time):
            if let entry = entries.entries.first(where: { $0.scope == key.scope }), entry.since < time {
                _ = entries.remove(key.scope)
            }
        case .remove(let key): _ = entries.remove(key.scope)
        }
    }
}

/// Changes that are told together and answered together.
struct SharedChanges: Sendable {
    /// Of this host's own.
    let id: UInt64
    let changes: [SharedChange]
    /// Gets how many entries were removed.
    let answer: @Sendable (Result<Int, JournalError>) -> Void
}
