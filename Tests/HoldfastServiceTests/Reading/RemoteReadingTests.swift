import Foundation
import Holdfast
import HoldfastAPNsAnswers
import HoldfastControl
import HoldfastJournal
import Logging
import Scratch
import Testing

@testable import HoldfastService

@Suite("What is read of a journal for another host")
struct RemoteReadingTests {
    private let folder: TemporaryFolder
    private let journal: LMDBJournal
    private let desk: JournalDesk
    private static let lane = LaneKey(route: "apns", urgency: .immediate, guarantee: .atLeastOnce)
    private static let now = WallTime(milliseconds: 1_800_000_000_000)

    init() throws {
        folder = try TemporaryFolder()
        journal = try LMDBJournal(directory: folder("j"))
        desk = JournalDesk(journal: journal)
    }

    private static func entry(_ number: Int, _ place: EntryHistory.Place = .waiting) throws -> RestoredEntry {
        // So long that one answer has no room for all.
        let text = String(repeating: "x", count: 4000)
        let digits = String(number)
        return RestoredEntry(
            lane: lane, producer: number.isMultiple(of: 2) ? "even" : "odd",
            notification: PushNotification(
                token: try DeviceToken(String(repeating: "0", count: 64 - digits.count) + digits), topic: "t",
                payload: Array(#"{"n":"\#(text)"}"#.utf8), priority: .immediate,
                expiration: .at(1_800_086_400), collapseID: "c", id: NotificationID(),
                tag: number.isMultiple(of: 3) ? [0xFF, 0x00] : Array("camp-\(number % 5)".utf8), context: [1, 2, 3]),
            acceptedAt: now.advanced(by: .seconds(number)),
            history: EntryHistory(
                place: place, attempts: UInt16(number % 4), isPossiblySent: number.isMultiple(of: 7),
                lastReason: number.isMultiple(of: 2) ? .tooManyRequests : nil))
    }

    @Test("The control socket answers the same where its process reads, and nothing of it where it does not")
    func bySocket() async throws {
        _ = try await desk.restore((1...300).map { try Self.entry($0) }, note: nil)
        for further in [JournalAnswers(directory: folder("j")).requests, nil] {
            let socket = ControlSocket(
                desk: desk, journal: folder("j"), further: further, logger: Logger(label: "test"))
            let serving = Task { try await socket.run() }
            #expect(await waitUntil { FileManager.default.fileExists(atPath: socket.socketPath) })
            let remote = try await RemoteDesk(journal: folder("j"))
            let reader = RemoteReader(remote)
            if further == nil {
                let error = await #expect(throws: ControlError.self) { try await reader.tally(EntryFilter()) }
                #expect(error?.code == .unknownRequest)
            } else {
                #expect(try await reader.tally(EntryFilter()).tallies.reduce(0) { $0 + $1.count } == 300)
                let part = try await reader.entries(EntryFilter(), after: .none, limit: 2)
                #expect(part.entries.count == 2)
                #expect(part.entries.first?.notification.payload.count ?? 0 > 4000)
                let other = await #expect(throws: ControlError.self) {
                    try await remote.ask("/v1/reading/other", EmptyForm(), as: EmptyForm.self)
                }
                #expect(other?.code == .unknownRequest)
            }
            await remote.close()
            serving.cancel()
            try await serving.value
        }
    }

    private struct EmptyForm: Codable {}

    private func remote() async throws -> RemoteDesk {
        let answers = JournalAnswers(directory: folder("j"), blacklist: nil)
        let tunnel = ControlTunnel(desk: desk, more: { path, body in try answers.answer(path, body) })
        return try await RemoteDesk(through: { request in ("alpha", await tunnel.answer(request)) }, close: {})
    }

    @Test("Entries come whole, all of them and each once, however many and long they are, and are counted")
    func entries() async throws {
        let rejected = RejectionCause(
            reason: .badTopic, status: 400, timestamp: Self.now, rejectedAt: Self.now.advanced(by: .seconds(9)))
        for start in [1, 701] {
            _ = try await desk.restore(
                (start..<start + 700).map { number in
                    try Self.entry(
                        number,
                        number.isMultiple(of: 10)
                            ? .deferred(until: Self.now.advanced(by: .seconds(60)))
                            : number.isMultiple(of: 11) ? .rejected(rejected) : .waiting)
                }, note: nil)
        }
        let reader = RemoteReader(try await remote())
        let local = try JournalReader(directory: folder("j"))
        defer { local.close() }
        var filters = [EntryFilter()]
        let changes: [(inout EntryFilter) -> Void] = [
            { $0.producers = ["odd"] }, { $0.states = [.deferred] }, { $0.states = [.rejected] },
            { $0.uids = UIDRanges([3...5, 900...1100]) },
            { $0.tags = [TagPattern("camp-1"), TagPattern("camp-2*")] }, { $0.tokens = [TokenPattern("00…7")!] },
            { $0.attempts = 2 }, { $0.reasons = [.tooManyRequests] }, { $0.uids = UIDRanges([UID]()) },
            { $0.acceptedBefore = Self.now.advanced(by: .seconds(20)) },
            { $0.acceptedAfter = Self.now.advanced(by: .seconds(1390)) },
            { $0.lanes = [LanePattern("apns/considerate")!] }, { $0.topics = ["u"] },
        ]
        for change in changes {
            var filter = EntryFilter()
            change(&filter)
            filters.append(filter)
        }
        // A part ends at its bytes, or at the limit.
        for (filter, limit) in filters.map({ ($0, 100_000) }) + [(EntryFilter(), 300)] {
            var found: [JournalEntry] = []
            var (after, parts): (UID?, Int) = (UID.none, 0)
            while let last = after {
                let part = try await reader.entries(filter, after: last, limit: limit)
                found += part.entries
                after = part.end
                parts += 1
            }
            let expected = try local.entries(matching: filter, limit: .max)
            #expect(found.map(\.uid) == expected.map(\.uid), "\(filter)")
            #expect(found.map(\.notification) == expected.map(\.notification), "\(filter)")
            #expect(found.map(\.state) == expected.map(\.state), "\(filter)")
            #expect(found.map(\.isPossiblySent) == expected.map(\.isPossiblySent))
            #expect(found.map(\.lastReason) == expected.map(\.lastReason))
            #expect(found.map(\.attempts) == expected.map(\.attempts))
            if filter == EntryFilter() { #expect(found.count == 1400 && parts > 2) }
            let (tallies, next) = try await reader.tally(filter)
            #expect(try tallies == local.tally(matching: filter), "\(filter)")
            #expect(next == UID(1401))
        }
        #expect(
            try await reader.entries(EntryFilter(), after: UID(5), limit: 2).entries.map(\.uid) == [UID(6), UID(7)])
        journal.close()
    }

    @Test("The blacklist is read page by page, and by tokens")
    func blacklist() async throws {
        let entries = try (1...2500).map { number in
            BlacklistEntry(
                recipient: .device(try DeviceToken(String(repeating: "0", count: 60) + String(number + 1000))),
                reason: .unregistered, since: Self.now, learntAt: Self.now, route: "apns", topic: "t",
                endpoint: number.isMultiple(of: 2) ? "https://a" : nil)
        }
        for start in stride(from: 0, to: 2500, by: 500) {
            try await desk.blacklist(Array(entries[start..<start + 500]))
        }
        let reader = RemoteReader(try await remote())
        var found: [BlacklistEntry] = []
        while true {
            let page = try await reader.blacklistPage(after: found.last?.recipient, limit: 1000)
            found += page.entries
            if page.entries.count < 1000 { break }
        }
        #expect(found == entries)
        let unknown = Recipient.device(try DeviceToken(String(repeating: "f", count: 64)))
        #expect(try await reader.blacklistEntries(for: [entries[7].recipient, unknown]) == [[entries[7]], []])
        journal.close()
    }

    @Test("Whoever does not know how to read is told apart, and wrong questions are")
    func others() async throws {
        let older = ControlTunnel(desk: desk)
        let remote = try await RemoteDesk(through: { request in ("alpha", await older.answer(request)) }, close: {})
        let error = await #expect(throws: ControlError.self) {
            try await RemoteReader(remote).entries(EntryFilter(), after: .none, limit: 1)
        }
        #expect(error?.code == .unknownRequest && error?.message.contains("older") == true)
        let answers = JournalAnswers(directory: folder("j"), blacklist: nil)
        #expect(try answers.answer("/v1/reading/nothing", []) == nil)
        for body in [
            "", "{}", #"{"states":["odd"],"after":0,"limit":1}"#, #"{"states":[],"uids":"x","after":0,"limit":1}"#,
        ] {
            #expect(throws: ControlError.self) { try answers.answer("/v1/reading/entries", Array(body.utf8)) }
        }
        // What it does not know would choose more than was asked for.
        let newer = #expect(throws: ControlError.self) {
            try answers.answer("/v1/reading/tally", Array(#"{"states":[],"after":0,"limit":1,"moods":[]}"#.utf8))
        }
        #expect(newer?.code == .unknownRequest && newer?.message.contains("moods") == true)
        journal.close()
    }

    @Test("Where entries stand comes with what explains it; of notes only those of `send` are told")
    func standings() async throws {
        let cause = RejectionCause(
            reason: .badTopic, status: 400, timestamp: Self.now, rejectedAt: Self.now.advanced(by: .seconds(9)))
        let uids = try await desk.restore(
            [.waiting, .deferred(until: Self.now), .rejected(cause)].map { try Self.entry(1, $0) }, note: nil)
        try journal.setNote("file/1-2", to: [1, 2, 0xFF])
        try journal.setNote("fcm-token/apns", to: Array("secret".utf8))
        let remote = RemoteReader(try await remote())
        let local = try JournalReader(directory: folder("j"))
        defer { local.close() }
        let asked = uids + [UID(999_999)] + uids
        let found = try await remote.standings(asked)
        #expect(try found == asked.map { try local.standing($0) })
        #expect(found[2] == EntryStanding(.settled(.rejected(.badTopic)), cause: cause) && found[3].fate == nil)
        #expect(try await remote.standings(Array(repeating: uids[0], count: 2500)).count == 2500)
        #expect(try await remote.note("file/1-2") == [1, 2, 0xFF])
        #expect(try await remote.note("file/3-4") == nil)
        for name in ["fcm-token/apns", "engine/paused-tags", ""] {
            let refused = await #expect(throws: ControlError.self) { try await remote.note(name) }
            #expect(refused?.code == .malformed)
        }
        journal.close()
    }

    @Test("Every fate keeps its shape on the way")
    func fates() throws {
        let fates: [EntryFate?] = [
            nil, .unconfirmed(Self.lane, attempts: 3, possiblySent: true),
            .deferred(Self.lane, until: Self.now, attempts: 2, reason: .tooManyRequests),
            .scheduled(Self.lane, for: Self.now, attempts: 1), .aside(Self.lane, since: Self.now),
            .quarantined(Self.lane, possiblySent: true), .settled(.rejected(.badTopic)), .settled(.superseded),
        ]
        for standing in fates.map({ EntryStanding($0, topic: "t") }) {
            let line = try Form.line(StandingForm(standing))
            #expect(try Form.read(StandingForm.self, line, "it").value() == standing)
        }
    }
}
