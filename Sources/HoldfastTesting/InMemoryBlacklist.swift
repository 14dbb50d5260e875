internal import Holdfast

/// The blacklist of an ``InMemoryJournal``.
final class InMemoryBlacklist: BlacklistStorage {
    private let state: Monitor<InMemoryJournal.State>

    init(_ state: Monitor<InMemoryJournal.State>) { self.state = state }

    var count: Int { state.withLock { $0.disk.blacklist.count } }

    func entry(for token: DeviceToken) throws(JournalError) -> BlacklistEntry? {
        state.withLock { $0.disk.blacklist[token] }
    }

    func entries(for batch: EntryBatch) throws(JournalError) -> [(index: Int, entry: BlacklistEntry)] {
        let blacklist = state.withLock(\.disk.blacklist)
        var found: [(index: Int, entry: BlacklistEntry)] = []
        for index in batch.items.indices {
            do throws(PackedNotification.Damage) {
                if let entry = blacklist[try batch.notification(at: index).token] { found.append((index, entry)) }
            } catch {
                throw JournalError(.damaged, "entry \(batch.items[index].uid) can't be read: \(error)")
            }
        }
        return found
    }

    func add(_ entries: [BlacklistEntry], completion: @escaping @Sendable (Result<Void, JournalError>) -> Void) {
        let failure: JournalError? = state.withLock { state in
            guard state.failure == nil else { return state.failure }
            for entry in entries { state.disk.blacklist[entry.token] = entry }
            return nil
        }
        completion(failure.map { .failure($0) } ?? .success(()))
    }

    func remove(_ tokens: [DeviceToken]) throws(JournalError) -> Int {
        state.withLock { state in tokens.count { state.disk.blacklist.removeValue(forKey: $0) != nil } }
    }

    func list(after: DeviceToken?, limit: Int) throws(JournalError) -> [BlacklistEntry] {
        state.withLock { state in
            let sorted = state.disk.blacklist.values.sorted {
                $0.token.bytes.lexicographicallyPrecedes($1.token.bytes)
            }
            return Array(
                sorted.drop { entry in
                    after.map { !$0.bytes.lexicographicallyPrecedes(entry.token.bytes) } ?? false
                }.prefix(limit))
        }
    }
}
