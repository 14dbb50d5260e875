import Foundation
import Holdfast
import HoldfastAPNsAnswers
import Testing

@testable import HoldfastControl

/// What the desk says in its process is what the client hears in another.
@Suite("A desk at a distance")
struct DeskTests {
    private let lane = LaneKey(route: "a/b \"ü\n", urgency: .considerate, guarantee: .atMostOnce)

    @Test("Status, insights, withdrawals and retries arrive as they were")
    func answersArrive() async throws {
        let folder = try Folder()
        let desk = StubDesk()
        var told = DeskStatus(
            lanes: [
                .running, .paused(reason: "", since: WallTime(milliseconds: .min)), .stopped(reason: "x", since: now),
            ]
            .map { .init(key: lane, state: $0, unconfirmed: 7, deferred: 3, isServed: true) } + [
                .init(
                    key: lane, state: .stopped(reason: "InvalidProviderToken", since: now), unconfirmed: 7, deferred: 3,
                    isServed: true, nextProbeAt: now.advanced(by: .milliseconds(1500)))
            ],
            routes: [
                .init(
                    name: "r", endpoint: "https://x", connection: "connected", isAway: false, inFlight: 5, suspects: 2,
                    holding: nil,
                    topics: [
                        .init(
                            topic: "com.example.app.voip", reason: "400 TopicDisallowed", since: now,
                            nextProbeAt: now.advanced(by: .seconds(600))),
                        .init(topic: "", reason: "", since: WallTime(milliseconds: .min), nextProbeAt: nil),
                    ]),
                .init(
                    name: "", endpoint: "", connection: "", isAway: true, inFlight: 0, suspects: 0, holding: "clock"),
            ])
        told.blacklistDamage = 3
        told.routes[0].topics[0].waiting = 30_000
        told.conditions = [
            HealthCondition(
                .serviceAway, .warning, "route", "r", route: "r", since: now, affected: 7, failures: 2,
                nextTryAt: now.advanced(by: .milliseconds(1500)), what: "it is away", next: "wait")
        ]
        let status = told
        let insights: [EntryInsight] = [
            .init(uid: UID(1), standing: .inFlight(since: now)), .init(uid: UID(2), standing: .inFlight(since: nil)),
            .init(uid: UID(3), standing: .settling), .init(uid: UID(4), standing: .suspect(.badDeviceToken)),
            .init(uid: UID(5), standing: .suspect(nil)), .init(uid: UID(6), standing: .requeued(possiblySent: true)),
            .init(uid: UID(7), standing: .requeued(possiblySent: false)),
            .init(uid: .max, standing: .possiblySentBefore),
        ]
        let retries = [
            Retry(rejection: UID(1), result: .accepted(UID(.max))), Retry(rejection: UID(2), result: .gone),
            Retry(rejection: UID(3), result: .refused(Refusal(.badTopic, "no"))),
        ]
        desk.state.withLock { state in
            (state.status, state.insights, state.retries) = (status, insights, retries)
            state.withdrawal = Withdrawal(withdrawn: 1, unknown: 2, gone: 3)
        }
        try await serving(desk, in: folder) { _ in
            let remote = try await RemoteDesk(journal: folder.path)
            #expect(remote.owner.contains("\(ProcessInfo.processInfo.processIdentifier)"))
            #expect(try await remote.status() == status)
            #expect(try await remote.insights([UID(1)]) == insights)
            #expect(try await remote.retry([UID(1), .max]) == retries)
            #expect(try await remote.withdraw([UID(9)]) == Withdrawal(withdrawn: 1, unknown: 2, gone: 3))
            await remote.close()
        }
        #expect(desk.state.withLock(\.asked) == ["status", "insights [1]", "retry [1, \(UInt64.max)]", "withdraw 1"])
    }

    @Test("Orders arrive as they were given, and in their order")
    func ordersArrive() async throws {
        let folder = try Folder()
        let desk = StubDesk()
        let token = try #require(DeviceToken(bytes: [0, 255]))
        let entries = [
            BlacklistEntry(token: token, reason: .unregistered, since: now, learntAt: now, route: "r"),
            BlacklistEntry(
                token: token, reason: Reason(rawValue: ""), since: WallTime(milliseconds: .min),
                learntAt: WallTime(milliseconds: .max), route: ""),
            BlacklistEntry(
                token: token, reason: .unregistered, since: now, learntAt: now, route: "r", topic: "a", endpoint: "e",
                status: 410),
        ]
        try await serving(desk, in: folder) { _ in
            let remote = try await RemoteDesk(journal: folder.path)
            try await remote.pause(lane, reason: "because\n")
            try await remote.resume(lane)
            #expect(
                try await remote.reloadCredentials() == [
                    CredentialReload(route: "a"), CredentialReload(route: "b", failure: "there is no such file"),
                ])
            #expect(try await remote.discard([UID(3), UID(4)]) == 2)
            #expect(try await remote.unblacklist([BlacklistKey(.device(token))]) == 1)
            let scopes = [BlacklistScope(), BlacklistScope(topic: "a", endpoint: "e")]
            #expect(try await remote.unblacklist(scopes.map { BlacklistKey(.device(token), $0) }) == 2)
            try await remote.blacklist(entries)
            #expect(try await remote.withdraw((1...1000).map { UID($0) }) == Withdrawal())
        }
        #expect(desk.state.withLock(\.blacklisted) == entries)
        #expect(
            desk.state.withLock(\.asked) == [
                "pause \(lane) because\n", "resume \(lane)", "reload", "discard [3, 4]", "unblacklist [\"00ff\"]",
                "unblacklist [\"00ff - -\", \"00ff a e\"]",
                "blacklist",
                "withdraw 1000",
            ])
    }

    @Test("A thousand entries of another journal arrive as they were, with their note")
    func restoresEntries() async throws {
        let folder = try Folder()
        let desk = StubDesk()
        let notification = PushNotification(
            token: try #require(DeviceToken(bytes: Array(repeating: 7, count: 100))), topic: "t\u{1}",
            payload: Array(repeating: 0xFF, count: 5120), pushType: .voip, priority: .low, expiration: .once,
            collapseID: "ü", id: NotificationID(), tokenRegisteredAt: now, guarantee: .atMostOnce,
            tag: [0, 1, 255])
        let cause = RejectionCause(reason: .badTopic, status: 400, timestamp: now, rejectedAt: now)
        let places: [EntryHistory.Place] = [.waiting, .deferred(until: now), .rejected(cause)]
        let entries = (0..<1000).map { number in
            RestoredEntry(
                lane: lane, producer: "p", notification: notification, acceptedAt: now,
                history: EntryHistory(
                    place: places[number % 3], attempts: 65535, isPossiblySent: number % 2 == 0,
                    lastReason: number % 5 == 0 ? nil : .internalServerError),
                retryOf: number % 7 == 0 ? UID(3) : nil)
        }
        try await serving(desk, in: folder) { _ in
            let remote = try await RemoteDesk(journal: folder.path)
            let uids = try await remote.restore(entries, note: RestoreNote(name: "file", value: [0, 255], before: nil))
            #expect(uids == (1...1000).map { UID($0) })
        }
        #expect(desk.state.withLock(\.restored) == entries)
        #expect(desk.state.withLock(\.note) == [0, 255])
    }

    @Test("Notifications arrive as they were given, and so do their receipts")
    func submits() async throws {
        let folder = try Folder()
        let desk = StubDesk()
        let token = try #require(DeviceToken(bytes: [0, 255]))
        let payload = Array(#"{"aps":{"alert":"ü"}}"#.utf8)
        var samples = [
            PushNotification(
                token: token, topic: "a", payload: payload, pushType: .alert, priority: .immediate, expiration: .at(7),
                collapseID: "c", id: NotificationID(), guarantee: .atMostOnce, tag: [1]),
            PushNotification(
                channel: try BroadcastChannel("AAAA"), topic: "a", payload: payload,
                expiration: .unstored(until: 1_800_000_000)),
            PushNotification(token: token, topic: "a", payload: payload),
        ]
        samples[2].environment = .sandbox
        samples[1].id = NotificationID()
        samples[1].hasAssignedID = true
        let notifications = samples
        let entry = BlacklistEntry(token: token, reason: .unregistered, since: now, learntAt: now, route: "r")
        let receipts: [Receipt] =
            [
                .accepted(.max), .refused(Refusal(.blacklisted, "no", blacklistEntry: entry)),
                .refused(Refusal(.badTopic, "no such topic")), .undetermined(JournalError(.undetermined, "at its end")),
            ]
            + [.confirmed, .rejected(Reason(rawValue: "Ünknown")), .expired, .unknown, .withdrawn]
            .map { .repeated(UID(3), $0) }
        try await serving(desk, in: folder) { _ in
            let remote = try await RemoteDesk(journal: folder.path)
            for start in stride(from: 0, to: receipts.count, by: 3) {
                desk.state.withLock { $0.receipts = Array(receipts[start..<start + 3]) }
                let arrived = try await remote.submit(notifications)
                #expect(arrived.map { "\($0)" } == receipts[start..<start + 3].map { "\($0)" })
                for case .refused(let refusal) in arrived where refusal.reason == .blacklisted {
                    #expect(refusal.blacklistEntry == entry)
                }
            }
            // The same with a note, which says in what commit it is to be.
            desk.state.withLock { $0.receipts = Array(receipts[0..<3]) }
            let note = RestoreNote(name: "file/1", value: [0, 255], before: [7])
            let noted = try await remote.submit(notifications, as: "campaign", note: note)
            #expect(noted.map { "\($0)" } == receipts[0..<3].map { "\($0)" })
            #expect(desk.state.withLock(\.note) == [0, 255])
            #expect(desk.state.withLock(\.submitted).suffix(3) == notifications[...])
            // A receipt for each, or none can be told from another.
            desk.state.withLock { $0.receipts = [.accepted(UID(1))] }
            let error = await #expect(throws: ControlError.self) { try await remote.submit(notifications) }
            #expect(error?.code == .malformed)
        }
        #expect(Array(desk.state.withLock(\.submitted).prefix(3)) == notifications)
    }

    @Test("An error of the owner's is the same error here")
    func errorsCross() async throws {
        let folder = try Folder()
        let desk = StubDesk()
        try await serving(desk, in: folder) { _ in
            let remote = try await RemoteDesk(journal: folder.path)
            for code in [
                JournalError.Code.notFound, .diskFull, .limitReached, .mustBeReopened, .undetermined, .inUse,
                .ownedByAnotherProcess, .closed, .invalidEntry, .readOnly,
            ] {
                desk.state.withLock { $0.failure = JournalError(code, "the message") }
                let error = await #expect(throws: JournalError.self) { try await remote.resume(lane) }
                #expect(error?.code == code && error?.message == "the message")
            }
            desk.state.withLock { $0.failure = Refusal(.badTopic, "the detail") }
            let refusal = await #expect(throws: Refusal.self) { try await remote.status() }
            #expect(refusal == Refusal(.badTopic, "the detail"))
            desk.state.withLock { $0.failure = CancellationError() }
            let other = await #expect(throws: ControlError.self) { try await remote.status() }
            #expect(other?.code == .failed)
            desk.state.withLock { $0.failure = nil }
            try await remote.resume(lane)
        }
    }

    @Test("More items than one request may have are refused, and nothing is done")
    func boundsItems() async throws {
        let folder = try Folder()
        let desk = StubDesk()
        try await serving(desk, in: folder) { _ in
            let remote = try await RemoteDesk(journal: folder.path)
            let error = await #expect(throws: ControlError.self) {
                try await remote.withdraw((1...1001).map { UID($0) })
            }
            #expect(error?.code == .tooLarge)
            _ = try await remote.status()
        }
        #expect(desk.state.withLock(\.asked) == ["status"])
    }

    @Test("What has more lanes than an answer may have bytes is a clear error")
    func boundsAnswers() async throws {
        let folder = try Folder()
        let desk = StubDesk()
        desk.state.withLock { state in
            state.status.lanes = Array(
                repeating: .init(
                    key: lane, state: .stopped(reason: String(repeating: "x", count: 2000), since: now), unconfirmed: 0,
                    deferred: 0, isServed: false),
                count: 5000)
        }
        try await serving(desk, in: folder) { _ in
            let remote = try await RemoteDesk(journal: folder.path)
            let error = await #expect(throws: ControlError.self) { try await remote.status() }
            #expect(error?.code == .tooLarge)
        }
    }

    private let now = WallTime(milliseconds: 1_763_000_000_123)
}
