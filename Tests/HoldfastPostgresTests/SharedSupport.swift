import Foundation
import Holdfast
import HoldfastAPNsAnswers
import HoldfastJournal
import HoldfastPQ
import HoldfastPostgres
import Scratch
import TestPostgres
import Testing

/// A host with a copy of the blacklist of a schema, in a folder of its own.
final class BlacklistHost {
    let schema: OwnSchema
    let folder: TemporaryFolder
    let shared: SharedBlacklist
    /// Why other copies were made.
    let renewals: Monitor<[JournalError]>

    /// - Parameter folder: with the copy of a host before; nil for a new one.
    init(
        _ schema: OwnSchema, in folder: TemporaryFolder? = nil, port: Int? = nil, string: String? = nil,
        answer: Duration = .seconds(20), pageRowCount: Int = 5000, removal: Duration = .seconds(20),
        keeping: Duration = .seconds(600), trimming: Duration = .seconds(3600), interval: Duration = .milliseconds(10)
    ) throws {
        let folder = try folder ?? TemporaryFolder()
        (self.schema, self.folder) = (schema, folder)
        var options = JournalOptions()
        options.durability = .process
        let target = try PQTarget(string ?? schema.cluster.tcp("user=\(schema.service)", port: port))
        let terms = SharedBlacklist.Terms(
            target: target, schema: schema.name, interval: interval, answer: answer, removal: removal,
            pageRowCount: pageRowCount, keeping: keeping, trimming: trimming)
        let (copy, renewals) = (folder("blacklist"), Monitor<[JournalError]>([]))
        self.renewals = renewals
        shared = try SharedBlacklist(terms, copy: LocalBlacklist.open(copy, options)) {
            [options] (ending) throws(JournalError) in
            renewals.withLock { $0.append(ending) }
            return try LocalBlacklist.open(copy, options, anew: true)
        }
    }

    deinit { shared.close() }

    func caughtUp() -> Bool { shared.caughtUp(within: .seconds(20)) }

    /// All entries as the copy has them, in the order of their recipients and scopes.
    func entries() throws -> [BlacklistEntry] {
        var all: [BlacklistEntry] = []
        while true {
            let page = try shared.list(after: all.last?.recipient, limit: 1000)
            all += page
            if page.count < 1000 { return all }
        }
    }

    /// Adds, and waits for the answer.
    func add(_ entries: BlacklistEntry...) throws { try add(entries).value() }

    func add(_ entries: [BlacklistEntry]) -> Answered {
        let answered = Answered()
        shared.add(entries) { answered.give($0) }
        return answered
    }

    func lift(_ registrations: TokenRegistration...) -> Answered {
        let answered = Answered()
        shared.lift(registrations) { answered.give($0) }
        return answered
    }
}

/// The answer to a call, once it has come.
final class Answered: Sendable {
    private let result = Monitor<Result<Void, JournalError>?>(nil)

    func give(_ result: Result<Void, JournalError>) {
        self.result.withLock { $0 = result }
        self.result.broadcast()
    }

    var isGiven: Bool { result.withLock { $0 != nil } }

    func value() throws {
        try #require(result.wait(atMost: .seconds(20)) { $0 }, "there was no answer").get()
    }
}

extension BlacklistEntry {
    /// An entry of the token that is this number, written in four bytes.
    static func of(
        _ token: Int, topic: String? = "com.example", endpoint: String? = nil, since: Int64 = 1000,
        reason: Reason = .unregistered, answered: UID? = nil
    ) -> BlacklistEntry {
        BlacklistEntry(
            recipient: .token(token), reason: reason, since: WallTime(milliseconds: since),
            learntAt: WallTime(milliseconds: 5000), route: "apns", topic: topic, endpoint: endpoint,
            status: answered == nil ? nil : 410, answered: answered)
    }

    /// Without its number.
    var unnumbered: BlacklistEntry {
        var entry = self
        entry.number = 0
        return entry
    }
}

extension Recipient {
    static func token(_ number: Int) -> Recipient {
        let bytes = (0..<4).reversed().map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
        return .device(DeviceToken(bytes: bytes)!)
    }
}
