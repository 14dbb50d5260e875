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

    private func read<R>(_ body: ([DeviceToken: TokenEntries]) -> R) throws(JournalError) -> R {
        try state.withLock { state throws(JournalError) in
            if state.isClosed { throw InMemoryJournal.closedError }
            if let failure = state.readFailure { throw failure }
            return body(state.disk.blacklist)
        }
    }

    func entries(for token: DeviceToken) throws(JournalError) -> [BlacklistEntry] {
        try read { $0[token]?.entries ?? [] }
    }

    func lookUp(_ batch: EntryBatch) throws(JournalError) -> BlacklistLookup {
        let blacklist = try read { $0 }
        let faults = state.withLock { $0.blacklistFaults }
        var found = BlacklistLookup()
        guard !blacklist.isEmpty else { return found }
        for index in batch.items.indices {
            do throws(PackedNotification.Damage) {
                guard let token = try batch.notification(at: index).token else { continue }
                if blacklist[token] != nil, let fault = faults[token] {
                    found.unreadable.append((index, fault))
                } else {
                    for entry in blacklist[token]?.entries ?? [] { found.entries.append((index, entry)) }
                }
            } catch {
                // What can't be parsed has no token; whoever sends it will find out.
                continue
            }
        }
        return found
    }

    func list(after: DeviceToken?, limit: Int) throws(JournalError) -> [BlacklistEntry] {
        try read { blacklist in
            let sorted = blacklist.sorted { $0.key.bytes.lexicographicallyPrecedes($1.key.bytes) }
            var found: [BlacklistEntry] = []
            for (token, known) in sorted where after?.bytes.lexicographicallyPrecedes(token.bytes) ?? true {
                guard found.count < limit else { break }
                found += known.entries
            }
            return found
        }
    }

    // MARK: Writing

    func add(_ entries: [BlacklistEntry], completion: @escaping @Sendable (Result<Void, JournalError>) -> Void) {
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
        let failure = state.blacklistWriteFailure
        return state.blacklistWaiting.map { request in
            if let failure { return request.answer(.failure(failure)) }
            return request.answer(.success(request.perform(on: &state.disk)))
        }
    }
}

extension InMemoryDisk {
    /// A token without entries is not on the blacklist.
    fileprivate mutating func forgetIfEmpty(_ token: DeviceToken) {
        if blacklist[token]?.entries.isEmpty == true { blacklist[token] = nil }
    }
}

extension InMemoryBlacklist.Request {
    /// - Returns: how many entries went.
    func perform(on disk: inout InMemoryDisk) -> Int {
        switch self {
        case .add(let entries, _):
            for entry in entries {
                _ = disk.blacklist[entry.token, default: TokenEntries()].add(entry, number: &disk.lastBlacklistNumber)
            }
            return 0
        case .lift(let registrations, _):
            for registration in registrations {
                _ = disk.blacklist[registration.token]?.lift(by: registration)
                disk.forgetIfEmpty(registration.token)
            }
            return 0
        case .remove(let keys, _):
            return keys.reduce(0) { count, key in
                defer { disk.forgetIfEmpty(key.token) }
                return count + (disk.blacklist[key.token]?.remove(key.scope) ?? 0)
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
