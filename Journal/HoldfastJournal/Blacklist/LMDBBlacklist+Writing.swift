import Holdfast
import HoldfastLMDB

extension LMDBBlacklist {
    func add(_ entries: [BlacklistEntry], completion: @escaping @Sendable (Result<Void, JournalError>) -> Void) {
        if let fault = entries.lazy.compactMap(\.fault).first {
            return completion(.failure(JournalError(.limitReached, fault)))
        }
        leave(completion) { () throws(JournalError) in
            .add(try Self.placed(entries, at: \.recipient).map { (place: $0, entry: $1) }, completion)
        }
    }

    func lift(
        _ registrations: [TokenRegistration], completion: @escaping @Sendable (Result<Void, JournalError>) -> Void
    ) {
        leave(completion) { () throws(JournalError) in
            .lift(try Self.placed(registrations, at: \.recipient).map { (place: $0, registration: $1) }, completion)
        }
    }

    func remove(_ keys: [BlacklistKey]) throws(JournalError) -> Int {
        thread.refuseOwnThread()
        let reply = Reply<Int>()
        let places = try Self.placed(keys, at: \.recipient).map { (place: $0, scope: $1.scope) }
        if case .closed = thread.leave(.remove(places, reply)) { throw .closed(directory) }
        if stepping != nil { step(until: reply) }
        return try reply.get()
    }

    func replace(_ rows: [BlacklistRow], mark: [UInt8]?) throws(JournalError) {
        thread.refuseOwnThread()
        let reply = Reply<Int>()
        let placed = try Self.placed(rows, at: \.key.recipient).map { (place: $0, row: $1) }
        if case .closed = thread.leave(.replace(placed, mark: mark, reply)) { throw .closed(directory) }
        if stepping != nil { step(until: reply) }
        _ = try reply.get()
    }

    /// Leaves a change for the writer. What it is about is found on the caller's thread.
    private func leave(
        _ completion: (Result<Void, JournalError>) -> Void, _ change: () throws(JournalError) -> Change
    ) {
        do throws(JournalError) {
            if case .closed = thread.leave(try change()) { completion(.failure(.closed(directory))) }
        } catch {
            completion(.failure(error))
        }
    }

    /// Each with its place; without those that have none, and so no entries.
    private static func placed<Item>(
        _ items: [Item], at recipient: (Item) -> Recipient
    ) throws(JournalError) -> [(BlacklistPlace, Item)] {
        var placed: [(BlacklistPlace, Item)] = []
        placed.reserveCapacity(items.count)
        for item in items {
            if let place = try BlacklistPlace.of(recipient(item)) { placed.append((place, item)) }
        }
        return placed
    }

    typealias Answers = @Sendable () -> Void

    /// Makes one commit of the changes.
    ///
    /// - Returns: what answers them.
    func commit(_ changes: [Change]) -> Answers {
        if changes.isEmpty { return {} }
        if let failure = shared.withLock({ shared in shared.failure }) {
            return { for change in changes { change.fail(failure) } }
        }
        allocate()
        do throws(LMDBError) {
            try makeAddresses(for: changes)
            let transaction = try WriteTransaction(environment)
            var removed: [Int] = []
            let (tables, before) = (tables, lastNumber)
            var draft = BlacklistDraft(tables: tables, facts: facts, number: before) { [self] () throws(LMDBError) in
                try raiseFormat()
            }
            for change in changes { removed.append(try draft.apply(change, transaction)) }
            let number = draft.number
            if number != before { try LastNumber.put(number, transaction, facts) }
            let count = try tables.count(transaction)
            switch stepping?.faults.blacklistCommit() {
            case nil: try transaction.commit()
            case .diskFull: throw LMDBError(.noSpace, "mdb_txn_commit", path: directory)
            case .lost:
                return failed(LMDBError(.inputOutput, "mdb_txn_commit", path: directory), changes, isPanicked: true)
            case .kept:
                try transaction.commit()
                return failed(LMDBError(.inputOutput, "mdb_txn_commit", path: directory), changes, isPanicked: true)
            }
            if let loss = environment.loss(in: directory, isCopy: isCopy) {
                shared.withLock { shared in shared.failure = loss }
                return { for change in changes { change.fail(loss) } }
            }
            // Before anybody hears of it, and after the commit: see BlacklistFilter.
            filter.changed(added: changes.flatMap(\.added), count: count, tables)
            shared.withLock { shared in
                shared.count = count
                shared.lastNumber = number
            }
            return { [removed] in for (change, removed) in zip(changes, removed) { change.succeed(removed) } }
        } catch {
            return failed(error, changes, isPanicked: isPanicked)
        }
    }

    /// Makes the table of addresses, where it is not there and a change adds one, in a commit of its own.
    private func makeAddresses(for changes: [Change]) throws(LMDBError) {
        guard tables.addresses == nil,
            changes.contains(where: { change in change.added.contains { $0.part == .addresses } })
        else { return }
        try raiseFormat()
        let made = try environment.openingTables { () throws(LMDBError) -> Table in
            let transaction = try WriteTransaction(environment)
            let table = try transaction.table(BlacklistPlace.Part.addresses.rawValue)
            try transaction.commit()
            return table
        }
        shared.withLock { shared in shared.tables.addresses = made }
    }

    /// Before the first commit of what programs of format 1 do not understand.
    private func raiseFormat() throws(LMDBError) {
        guard let raise = shared.withLock({ shared in shared.raiseFormat }) else { return }
        try raise()
        shared.withLock { shared in shared.raiseFormat = nil }
    }

    /// Answers with the error. Unlike an append, a blacklisting may simply be repeated, so a commit of unknown fate is an
    /// error like others. But after a failed meta page the environment refuses everything until the journal is reopened, and
    /// the error says so.
    private func failed(_ error: LMDBError, _ changes: [Change], isPanicked: Bool) -> Answers {
        var failure = JournalError(error, "write the blacklist of", directory)
        if isPanicked {
            failure = JournalError(
                .undetermined,
                "\(failure.message). Whether the change is there will be known when the journal is reopened.")
            let later = JournalError(
                .mustBeReopened, "a commit to the blacklist of \(directory) failed (\(error.code)): reopen the journal")
            shared.withLock { shared in shared.failure = later }
        }
        return { [failure] in for change in changes { change.fail(failure) } }
    }

    private var isPanicked: Bool {
        do throws(LMDBError) {
            _ = try WriteTransaction(environment)
            return false
        } catch {
            return error.code == .panic
        }
    }

    /// Keeps pages allocated ahead of use; without them a commit fails as a whole, which harms nothing.
    func allocate() {
        if stepping != nil { return }
        do throws(LMDBError) {
            let info = try environment.info()
            let needed = info.highWaterPages * info.pageByteCount + Self.reserve
            let have = try environment.dataByteCount()
            if have < needed { try environment.allocateData(from: 0, to: needed + Self.reserve) }
        } catch {}
    }
}
