import Holdfast
import HoldfastLMDB

/// A change of the blacklist that waits for its commit, with the places that it is about.
enum BlacklistChange: Sendable {
    case add([(place: BlacklistPlace, entry: BlacklistEntry)], @Sendable (Result<Void, JournalError>) -> Void)
    case lift(
        [(place: BlacklistPlace, registration: TokenRegistration)], @Sendable (Result<Void, JournalError>) -> Void)
    case remove([(place: BlacklistPlace, scope: BlacklistScope?)], Reply<Int>)
    /// What a copy is filled with, and how far it comes by that.
    case replace([(place: BlacklistPlace, row: BlacklistRow)], mark: [UInt8]?, Reply<Int>)

    /// The places of the added entries.
    var added: [BlacklistPlace] {
        switch self {
        case .add(let entries, _): entries.map(\.place)
        case .replace(let rows, _, _): rows.filter { $0.row.entry != nil }.map(\.place)
        case .lift, .remove: []
        }
    }

    func succeed(_ removed: Int) {
        switch self {
        case .add(_, let completion), .lift(_, let completion): completion(.success(()))
        case .remove(_, let reply), .replace(_, _, let reply): reply.give(.success(removed))
        }
    }

    func fail(_ error: JournalError) {
        switch self {
        case .add(_, let completion), .lift(_, let completion): completion(.failure(error))
        case .remove(_, let reply), .replace(_, _, let reply): reply.give(.failure(error))
        }
    }
}

/// A commit of the blacklist in the making.
struct BlacklistDraft {
    let tables: BlacklistTables
    let facts: Table
    /// The last number that was given to an addition.
    var number: UInt64
    /// Makes the journal one that programs of format 1 refuse, durable on return.
    let raiseFormat: () throws(LMDBError) -> Void

    /// - Returns: how many entries a removal has removed.
    mutating func apply(
        _ change: BlacklistChange, _ transaction: borrowing WriteTransaction
    ) throws(LMDBError) -> Int {
        var removed = 0
        switch change {
        case .add(let entries, _):
            for (place, entry) in entries {
                // Damaged ones give way.
                var known = try sound(place, transaction) ?? TokenEntries()
                guard known.add(entry, number: &number) else { continue }
                try put(known, at: place, transaction)
            }
        case .lift(let registrations, _):
            for (place, registration) in registrations {
                guard var known = try sound(place, transaction), known.lift(by: registration) > 0 else { continue }
                try put(known, at: place, transaction)
            }
        case .remove(let keys, _):
            for (place, scope) in keys { removed += try remove(scope, at: place, transaction) }
        case .replace(let rows, let mark, _):
            for (place, row) in rows { try replace(row, at: place, transaction) }
            if let mark { try BlacklistMark.put(mark, transaction, facts) }
        }
        return removed
    }

    private mutating func replace(
        _ row: BlacklistRow, at place: BlacklistPlace, _ transaction: borrowing WriteTransaction
    ) throws(LMDBError) {
        // Damaged ones give way.
        var known = try sound(place, transaction) ?? TokenEntries()
        let before = known.entries
        if let entry = row.entry {
            known.set(entry)
            number = max(number, entry.number)
        } else {
            _ = known.remove(row.key.scope)
        }
        if known.entries != before { try put(known, at: place, transaction) }
    }

    private func remove(
        _ scope: BlacklistScope?, at place: BlacklistPlace, _ transaction: borrowing WriteTransaction
    ) throws(LMDBError) -> Int {
        guard let table = tables.table(place.part) else { return 0 }
        guard var known = try sound(place, transaction) else {
            // Damaged ones go as a whole, and count as one.
            guard scope == nil else { return 0 }
            return try transaction.delete(place.key.span, in: table) ? 1 : 0
        }
        let removed = known.remove(scope)
        if removed > 0 { try put(known, at: place, transaction) }
        return removed
    }

    private func put(
        _ known: TokenEntries, at place: BlacklistPlace, _ transaction: borrowing WriteTransaction
    ) throws(LMDBError) {
        // That of addresses was made before anything is put there.
        guard let table = tables.table(place.part) else { return }
        if known.entries.isEmpty {
            _ = try transaction.delete(place.key.span, in: table)
        } else {
            if !RecipientRow.isOfFormat1(known.entries) { try raiseFormat() }
            let value = RecipientRow.bytes(known.entries, key: place.key)
            try transaction.put(place.key.span, value.span, in: table)
        }
    }

    /// The entries of a recipient, if there are any and they are undamaged.
    private func sound(
        _ place: BlacklistPlace, _ transaction: borrowing WriteTransaction
    ) throws(LMDBError) -> TokenEntries? {
        guard let table = tables.table(place.part), let bytes = try transaction.get(place.key.span, in: table) else {
            return nil
        }
        do throws(EntryRecord.Fault) {
            return TokenEntries(try RecipientRow(place: place, value: bytes).entries())
        } catch {
            return nil
        }
    }
}
