internal import Foundation
internal import Holdfast

/// The blacklist of an ``InMemoryJournal``, with commits of its own.
final class InMemoryBlacklist: BlacklistStorage {
    enum Request: Sendable {
        case add([BlacklistEntry], InMemoryJournal.Completion<Void>)
        case lift([TokenRegistration], InMemoryJournal.Completion<Void>)
        case remove([BlacklistKey], InMemoryJournal.Completion<Int>)
    }

    private let state: Monitor<InMemoryJournal.State>
    private let mode: InMemoryJournal.Mode
    /// Held by whoever commits, until the completions were called.
    private let committer = Monitor<ObjectIdentifier?>(nil)

    init(_ state: Monitor<InMemoryJournal.State>, mode: InMemoryJournal.Mode) {
        self.state = state
        self.mode = mode
    }

    // MARK: Reading

    var count: Int { state.withLock { $0.disk.blacklist.count } }

    var lastNumber: UInt64 { state.withLock { $0.disk.lastBlacklistNumber } }

    private func read<R>(_ body: ([Recipient: TokenEntries]) -> R) throws(JournalError) -> R {
        try state.withLock { state throws(JournalError) in
            if state.isClosed { throw InMemoryJournal.closedError }
            if let failure = state.readFailure { throw failure }
            return body(state.disk.blacklist)
        }
    }

    func entries(for recipient: Recipient) throws(JournalError) -> [BlacklistEntry] {
        try read { $0[recipient]?.entries ?? [] }
    }

    func lookUp(_ batch: EntryBatch) throws(JournalError) -> BlacklistLookup {
        let blacklist = try read { $0 }
        let faults = state.withLock { $0.blacklistFaults }
        var found = BlacklistLookup()
        guard !blacklist.isEmpty else { return found }
        for index in batch.items.indices {
            do throws(PackedNotification.Damage) {
                guard let recipient = try batch.notification(at: index).recipient.device else { continue }
                if blacklist[recipient] != nil, let fault = faults[recipient] {
                    found.unreadable.append((index, fault))
                } else {
                    for entry in blacklist[recipient]?.entries ?? [] { found.entries.append((index, entry)) }
                }
            } catch {
                // What can't be parsed has no token; whoever sends it will find out.
                continue
            }
        }
        return found
    }

    func list(after: Recipient?, limit: Int) throws(JournalError) -> [BlacklistEntry] {
        try read { blacklist in
            let sorted = blacklist.sorted { Self.precedes($0.key, $1.key) }
            var found: [BlacklistEntry] = []
            for (recipient, known) in sorted where after.map({ Self.precedes($0, recipient) }) ?? true {
                guard found.count < limit else { break }
                found += known.entries
            }
            return found
        }
    }

    /// Tokens before addresses, each in the order of their bytes.
    private static func precedes(_ one: Recipient, _ other: Recipient) -> Bool {
        let kinds = [one, other].map { $0.serviceAddress?.kind.rawValue ?? 0 }
        guard kinds[0] == kinds[1] else { return kinds[0] < kinds[1] }
        return one.address.lexicographicallyPrecedes(other.address)
    }

    // MARK: Writing

    func add(_ entries: [BlacklistEntry], completion: @escaping @Sendable (Result<Void, JournalError>) -> Void) {
        if let fault = entries.lazy.compactMap(\.fault).first {
            return completion(.failure(JournalError(.limitReached, fault)))
        }
        enqueue(.add(entries, completion))
    }

    func lift(
        _ registrations: [TokenRegistration], completion: @escaping @Sendable (Result<Void, JournalError>) -> Void
    ) {
        enqueue(.lift(registrations, completion))
    }

    func remove(_ keys: [BlacklistKey]) throws(JournalError) -> Int {
        refuseOwnCompletions()
        let reply = Monitor<Result<Int, JournalError>?>(nil)
        enqueue(
            .remove(keys) { result in
                reply.withLock { $0 = result }
                reply.broadcast()
            })
        if mode == .manual { commit() }
        guard let result = reply.wait(for: { $0 }) else { preconditionFailure("waited without a deadline") }
        return try result.get()
    }

    private func enqueue(_ request: Request) {
        let isClosed = state.withLock { state in
            if !state.isClosed { state.blacklistWaiting.append(request) }
            return state.isClosed
        }
        if isClosed { return request.answer(.failure(InMemoryJournal.closedError))() }
        if mode == .immediate { commitAll() }
    }

    /// Stops a caller that would wait for itself for ever.
    private func refuseOwnCompletions() {
        let committer = committer.withLock { $0 }
        precondition(
            committer != ObjectIdentifier(Thread.current), "a completion of a blacklist called what blocks")
    }

    /// Commits all that waits; another thread that commits is waited for.
    func commit() {
        refuseOwnCompletions()
        let me = ObjectIdentifier(Thread.current)
        _ = committer.wait { committer -> Bool? in
            guard committer == nil else { return nil }
            committer = me
            return true
        }
        commitWaiting()
    }

    /// Commits until nothing waits, unless another thread is at it, which then does it all.
    private func commitAll() {
        let me = ObjectIdentifier(Thread.current)
        while state.withLock({ !$0.blacklistWaiting.isEmpty }) {
            let isFree = committer.withLock { committer in
                defer { committer = committer ?? me }
                return committer == nil
            }
            guard isFree else { return }
            commitWaiting()
        }
    }

    private func commitWaiting() {
        for answer in state.withLock(Self.commit) { answer() }
        committer.withLock { $0 = nil }
        committer.broadcast()
    }

    private static func commit(_ state: inout InMemoryJournal.State) -> [@Sendable () -> Void] {
        defer { state.blacklistWaiting = [] }
        let failure = state.isTaken ? state.lossOfOwnership : state.blacklistWriteFailure
        return state.blacklistWaiting.map { request in
            if let failure { return request.answer(.failure(failure)) }
            return request.answer(.success(request.perform(on: &state.disk)))
        }
    }
}

extension InMemoryDisk {
    /// A recipient without entries is not on the blacklist.
    fileprivate mutating func forgetIfEmpty(_ recipient: Recipient) {
        if blacklist[recipient]?.entries.isEmpty == true { blacklist[recipient] = nil }
    }
}

extension InMemoryBlacklist.Request {
    /// - Returns: how many entries went.
    func perform(on disk: inout InMemoryDisk) -> Int {
        switch self {
        case .add(let entries, _):
            for entry in entries {
                _ = disk.blacklist[entry.recipient, default: TokenEntries()]
                    .add(entry, number: &disk.lastBlacklistNumber)
            }
            return 0
        case .lift(let registrations, _):
            for registration in registrations {
                _ = disk.blacklist[registration.recipient]?.lift(by: registration)
                disk.forgetIfEmpty(registration.recipient)
            }
            return 0
        case .remove(let keys, _):
            return keys.reduce(0) { count, key in
                defer { disk.forgetIfEmpty(key.recipient) }
                return count + (disk.blacklist[key.recipient]?.remove(key.scope) ?? 0)
            }
        }
    }

    func answer(_ result: Result<Int, JournalError>) -> @Sendable () -> Void {
        switch self {
        case .add(_, let completion), .lift(_, let completion):
            return { completion(result.map { _ in }) }
        case .remove(_, let completion):
            return { completion(result) }
        }
    }
}
