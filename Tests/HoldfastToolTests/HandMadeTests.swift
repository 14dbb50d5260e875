import ArgumentParser
import Foundation
import Holdfast
import HoldfastAPNsAnswers
import HoldfastControl
import HoldfastTesting
import Scratch
import Testing

@testable import HoldfastTool

/// What flags make of one notification by hand, and what they refuse.
@Suite("A notification by hand")
struct HandMadeTests {
    private static let token = "00fc13adff785122b4ad28809a3420982341241421348097878e577c991de8f0"

    private static let broadcast = ["--channel", "AAAA", "--event", "end"]

    private func notifications(_ flags: String...) async throws -> [PushNotification] {
        let recipient = flags.contains("--channel") ? [] : ["--token", Self.token]
        let draft = try await NotificationDraft.read(try NotificationOptions.parse(recipient + flags))
        return try #require(draft).notifications(topic: "com.example.app")
    }

    private func payload(_ flags: String...) async throws -> String {
        let draft = try await NotificationDraft.read(try NotificationOptions.parse(["--token", Self.token] + flags))
        let notifications = try #require(draft).notifications(topic: "t")
        return String(decoding: try #require(notifications.first).payload, as: UTF8.self)
    }

    @Test("Each flag of a payload is in it, with Apple's name")
    func payloads() async throws {
        #expect(try await payload("--alert", "Hi") == #"{"aps":{"alert":"Hi"}}"#)
        #expect(
            try await payload("--alert", "Hi", "--title", "T", "--subtitle", "S")
                == #"{"aps":{"alert":{"title":"T","subtitle":"S","body":"Hi"}}}"#)
        #expect(
            try await payload("--title", "T", "--badge", "0", "--sound", "default", "--category", "C", "--thread", "X")
                == #"{"aps":{"alert":{"title":"T"},"badge":0,"sound":"default","category":"C","thread-id":"X"}}"#)
        #expect(
            try await payload("--alert", "é \"1\"", "--content-available", "--mutable-content")
                == #"{"aps":{"alert":"é \"1\"","content-available":1,"mutable-content":1}}"#)
        #expect(try await payload("--alert=-5°") == #"{"aps":{"alert":"-5°"}}"#)
        #expect(try await payload("--payload", "\n {\"n\" : 1} \n") == #"{"n" : 1}"#)
    }

    @Test("What is about it is as given, or follows from what is in it")
    func attributes() async throws {
        let seen = try #require(try await notifications("--alert", "Hi").first)
        #expect(seen.topic == "com.example.app" && seen.pushType == .alert && seen.priority == nil)
        #expect(seen.id != nil && seen.expiration == nil && seen.collapseID == nil)
        let silent = try #require(try await notifications("--content-available").first)
        #expect(silent.pushType == .background && silent.priority == .considerate)
        let given = try #require(
            try await notifications(
                "--payload", "{}", "--push-type", "voip", "--priority", "1", "--expiration", "1800000000",
                "--collapse-id", "c", "--id", "123E4567-E89B-12D3-A456-426655440000"
            ).first)
        #expect(given.pushType == .voip && given.priority == .low && given.expiration == .at(1_800_000_000))
        #expect(given.collapseID == "c" && given.id == NotificationID("123e4567-e89b-12d3-a456-426655440000"))
        let raw = try #require(try await notifications("--payload", "{}").first)
        #expect(raw.pushType == nil && raw.priority == nil)
    }

    @Test("Each token gets one of its own, with its own apns-id")
    func tokens() async throws {
        let all = try await notifications("--token", "<ab cd>", "--token", "0xEF01", "--alert", "Hi")
        #expect(all.map(\.recipient.text) == [Self.token, "abcd", "ef01"])
        #expect(Set(all.map(\.id)).count == 3)
    }

    @Test("A broadcast goes to channels, with what Live Activities need")
    func broadcasts() async throws {
        let start = WallTime(milliseconds: Int64(Date().timeIntervalSince1970 * 1000))
        let all = try await notifications(
            "--channel", "dHN0LXNyY2gtY2hubA==", "--channel", "AAAA", "--event", "update", "--content-state",
            #"{"score": [1, 0]}"#, "--alert", "Goal", "--sound", "cheer.caf")
        #expect(all.map(\.recipient.channel?.id) == ["dHN0LXNyY2gtY2hubA==", "AAAA"])
        #expect(all.allSatisfy { $0.pushType == .liveactivity && $0.priority == nil && $0.topic == "com.example.app" })
        let text = String(decoding: all[0].payload, as: UTF8.self)
        let timestamp = try #require(text.split(separator: #""timestamp":"#).last?.prefix { $0.isNumber })
        #expect(try #require(Int64(timestamp)) >= start.seconds)
        #expect(
            text == #"{"aps":{"alert":{"body":"Goal","sound":"cheer.caf"},"event":"update","timestamp":\#(timestamp),"#
                + #""content-state":{"score": [1, 0]}}}"#)
        let quiet = try await notifications("--channel", "AAAA", "--event", "end", "--expiration", "0")
        #expect(quiet[0].priority == .considerate && quiet[0].expiration == nil)
        let whole = try await notifications("--channel", "AAAA", "--payload", "{}", "--expiration", "1800000000")
        #expect(whole[0].pushType == .liveactivity && whole[0].expiration == .at(1_800_000_000))
        await #expect(throws: ToolError.self) { try await notifications("--event", "end") }
    }

    @Test(
        "--try-until bounds the trying, and the service is told what --expiration says of it, or nothing",
        arguments: [["--badge", "0"], broadcast])
    func tryUntil(what: [String]) async throws {
        func expiration(_ flags: String...) async throws -> Expiration? {
            let recipient = what == Self.broadcast ? [] : ["--token", Self.token]
            let draft = try await NotificationDraft.read(try NotificationOptions.parse(recipient + what + flags))
            return try draft?.notifications(topic: "t").first?.expiration
        }
        #expect(try await expiration("--try-until", "1800000000") == .unstated(until: 1_800_000_000))
        #expect(
            try await expiration("--try-until", "1800000000", "--expiration", "0") == .unstored(until: 1_800_000_000))
        let start = EngineClock.system.wall().seconds
        let until = try #require(try await expiration("--try-until", "10m"))
        #expect(until.unixSeconds == nil && (start + 600...start + 660).contains(until.deadline ?? 0))
    }

    @Test("An expiration is a span from now, a time, or Unix seconds")
    func expirations() throws {
        let now = WallTime(seconds: 1_700_000_000)
        func seconds(_ text: String) throws -> Int64? { try ExpirationArgument.parse(text).expiration(now).unixSeconds }
        #expect(try seconds("0") == 0)
        #expect(try seconds("1800000000") == 1_800_000_000)
        #expect(try seconds("10m") == 1_700_000_600)
        #expect(try seconds("7d") == 1_700_604_800)
        #expect(try seconds("2026-11-21T12:00:00Z") == 1_795_262_400)
        for text in ["", "-1", "soon", "10 m", "0m", "1970-01-01T00:00:00Z"] {
            #expect(throws: ValidationError.self) { try ExpirationArgument.parse(text) }
            #expect(throws: ValidationError.self) { try ExpirationArgument.parseDeadline(text) }
        }
        // Which would be never.
        #expect(throws: ValidationError.self) { try ExpirationArgument.parseDeadline("0") }
    }

    @Test(
        "What contradicts is refused, and both are named",
        arguments: [
            (["in", "--token", "ab", "--alert", "x"], ["\"in\"", "--token"]),
            (["in", "--alert", "x"], ["\"in\"", "--alert"]),
            (["--alert", "x"], ["--alert", "--token"]), (["--priority", "5"], ["--priority", "--token"]),
            (["--token", "ab"], ["--token", "--alert"]),
            (["--token", "ab", "--payload", "{}", "--badge", "1"], ["--payload", "--badge"]),
            (["--token", "ab", "--token", "cd", "--alert", "x", "--id", id], ["--id", "--token"]),
            (["--token", "ab", "--alert", "x", "--resume"], ["--resume", "--token"]),
            (["--token", "ab", "--alert", "x", "--restart"], ["--restart", "--token"]),
            (["--token", "ab", "--alert", "x", "--strict"], ["--strict", "--token"]),
            (
                ["--token", "ab", "--sound", "x", "--push-type", "background"],
                ["--push-type background", "--sound"]
            ),
            (
                ["--token", "ab", "--category", "x", "--push-type", "background"],
                ["background", "--content-available"]
            ),
            (["--token", "ab", "--content-available", "--priority", "10"], ["--content-available", "--priority 10"]),
            (
                ["--token", "ab", "--payload", "{}", "--push-type", "background", "--priority", "1"],
                ["--push-type background", "--priority 1"]
            ),
            (["--token", "ab", "--channel", "AAAA", "--alert", "x"], ["--token", "--channel"]),
            (["--channel", "AAAA", "--alert", "x"], ["--channel", "--event"]),
            (["--channel", "AAA", "--payload", "{}"], ["--channel", "base64"]),
            (["--channel", "AAAA", "--payload", "{}", "--collapse-id", "x"], ["--channel", "--collapse-id"]),
            (["--channel", "AAAA", "--payload", "{}", "--push-type", "alert"], ["--channel", "--push-type alert"]),
            (["--channel", "AAAA", "--channel", "BBBB", "--payload", "{}", "--id", id], ["--id", "--channel"]),
            (["--token", "ab", "--event", "update", "--alert", "x"], ["--event update", "--content-state"]),
            (["--token", "ab", "--event", "end", "--badge", "1"], ["--event", "--badge"]),
            (["--token", "ab", "--event", "end", "--push-type", "alert"], ["--event", "--push-type alert"]),
            (["--token", "ab", "--event", "start"], ["start", "update or end"]),
            (["--token", "ab", "--alert", "x", "--content-state", "{}"], ["--content-state", "--event"]),
            (["--token", "ab", "--payload", "{}", "--event", "end"], ["--payload", "--event"]),
            (["--token", "ab", "--alert", "x", "--push-type", "alarm"], ["alarm", "background, location, voip"]),
            (
                ["--token", "ab", "--alert", "x", "--try-until", "1h", "--expiration", "2h"],
                ["--try-until", "--expiration"]
            ),
            (["--try-until", "1h"], ["--try-until", "--token"]),
            (["--token", "ab", "--alert", "x", "--priority", "7"], ["7", "10, 5 or 1"]),
            (["--token", "ab", "--alert", "x", "--id", "7"], ["--id", "UUID"]),
        ])
    func contradictions(arguments: [String], words: [String]) {
        let error = #expect(throws: (any Error).self) {
            try SendCommand.parse(arguments + ["--journal", "j", "--endpoint", "https://h"])
        }
        guard let error else { return }
        let message = SendCommand.message(for: error)
        for word in words { #expect(message.contains(word), "\(message)") }
    }

    private static let id = "123e4567-e89b-12d3-a456-426655440000"

    @Test("A token that is none is not repeated in what is said of it")
    func badToken() {
        let error = #expect(throws: (any Error).self) {
            try SendCommand.parse(["--token", "abcdefgh12345678", "--alert", "x", "--journal", "j"])
        }
        guard let error else { return }
        #expect(SendCommand.message(for: error).contains("hex digits only"))
        #expect(!SendCommand.message(for: error).contains("abcdefgh"))
    }

    @Test("A payload that is too large, or none, says so and ends with 65")
    func badPayload() async throws {
        func failure(_ flags: String...) async -> ToolError? {
            do {
                _ = try await NotificationDraft.read(try NotificationOptions.parse(["--token", "ab"] + flags))
                return nil
            } catch {
                return error as? ToolError
            }
        }
        let long = String(repeating: "x", count: 5000)
        let channel = ["--channel", "AAAA", "--event", "end", "--alert", String(repeating: "x", count: 5100)]
        let error = await #expect(throws: ToolError.self) {
            try await NotificationDraft.read(try NotificationOptions.parse(channel))
        }
        #expect(error?.message.contains("5120 is the limit") == true)
        #expect(await failure("--event", "end", "--content-state", "[1]")?.message.contains("--content-state") == true)
        let tooLarge = ToolError(.badInput, "the payload has 5020 bytes; 4096 is the limit")
        #expect(await failure("--alert", long) == tooLarge)
        #expect(await failure("--alert", long, "--push-type", "voip") == nil)
        #expect(await failure("--alert", "x", "--badge=-1")?.status == .badInput)
        #expect(
            await failure("--payload", "[1]")
                == ToolError(.badInput, "--payload must be a JSON object: not a JSON object, at byte 1"))
        #expect(await failure("--payload", "@/nowhere") == ToolError(.noInput, "/nowhere does not exist"))
        #expect(await failure("--payload", "@/dev/zero")?.message.contains("more than 1.0 MB") == true)
    }
}

/// What is said of notifications by hand when they have met their end.
@Suite("What became of a notification by hand")
struct NotificationReportTests {
    private func notification(_ number: Int, topic: String = "com.example") throws -> PushNotification {
        try PushNotification(
            token: DeviceToken("\(number)0\(number)0\(number)0\(number)0\(number)0"), topic: topic,
            payload: Array("{}".utf8),
            id: NotificationID(high: 0, low: UInt64(number)))
    }

    @Test("The text names the outcome of each, and explains each reason once")
    func text() {
        var confirmed = NotificationReport(channel: "AAAA", id: "ID1", .confirmed)
        confirmed.receipt.uid = 1
        var rejected = NotificationReport(token: "ab", id: "ID2", .rejected)
        (rejected.receipt.reason, rejected.status) = ("Unregistered", 410)
        rejected.timestamp = Timestamp.parse("2026-11-21T12:00:00Z").map(ExactTime.init)
        var refused = NotificationReport(token: "cd", id: "ID3", .refused)
        (refused.receipt.reason, refused.receipt.detail) = ("BadTopic", "a topic has 1 to 255 visible ASCII characters")
        let full = NotificationReport(refusedFor: .journalFull)
        #expect(
            full.status(isQueueOnly: false) == .inputOutput, "nothing is wrong with what the journal has no room for")
        #expect(NotificationReport(refusedFor: .badDeviceToken).status(isQueueOnly: false) == .badInput)
        var repeated = NotificationReport(token: "ef", id: "ID4", .confirmed)
        repeated.receipt.repeated = true
        #expect(
            NotificationReport.text([confirmed, rejected, rejected, refused, repeated]) == """
                AAAA  confirmed  apns-id ID1
                ab    rejected: Unregistered, status 410, since 2026-11-21T12:00:00Z  apns-id ID2
                ab    rejected: Unregistered, status 410, since 2026-11-21T12:00:00Z  apns-id ID2
                cd    refused: BadTopic: a topic has 1 to 255 visible ASCII characters
                ef    confirmed before, and not sent again  apns-id ID4
                  Unregistered: the app is not on the device any more, or takes no notifications. What to do:
                  delete the token where your tokens are kept, until the app registers again.
                """)
    }

    @Test("In JSON each is one object, with the names that the control socket gives its receipts")
    func json() throws {
        var rejected = NotificationReport(token: "ab", id: "ID2", .rejected)
        (rejected.receipt.uid, rejected.receipt.reason, rejected.status) = (7, "Unregistered", 410)
        rejected.timestamp = Timestamp.parse("2026-11-21T12:00:00.5Z").map(ExactTime.init)
        #expect(
            try JSONOutput.line(rejected)
                == #"{"apns-id":"ID2","outcome":"rejected","reason":"Unregistered","status":410,"#
                + #""timestamp":"2026-11-21T12:00:00.500Z","token":"ab","uid":7}"#)
        #expect(
            try JSONOutput.line(NotificationReport(channel: "AAAA", .settled))
                == #"{"channel":"AAAA","outcome":"settled"}"#)
    }

    @Test("Whatever became of it, the journal knows; the gravest is the exit code")
    func fates() async throws {
        let world = try HandMadeWorld { token in
            switch token.bytes[0] {
            case 0x10: .confirmed
            case 0x20: SendResult(apnsStatus: 410, reason: "Unregistered", timestamp: WallTime(seconds: 1_900_000_000))
            default: SendResult(apnsStatus: 400, reason: "BadCollapseId")
            }
        }
        var badType = try notification(4)
        badType.pushType = PushType(rawValue: "alarm")
        let sent = [try notification(1), try notification(2), badType]
        let outcome = await world.run(sent)
        let reports = try #require(outcome.summary.notifications)
        #expect(reports.map(\.outcome) == [.confirmed, .rejected, .refused])
        #expect(reports.map(\.receipt.uid) == [1, 2, nil])
        #expect(reports.map(\.receipt.reason) == [nil, "Unregistered", "InvalidPushType"])
        #expect(reports[1].status == 410 && reports[1].timestamp?.text == "2030-03-17T17:46:40Z")
        #expect(outcome.status == .badInput)
        #expect(outcome.summary.accepted == 2 && outcome.summary.refused == ["InvalidPushType": 1])
        #expect(outcome.summary.file == nil && outcome.summary.inputFinished)
        // Nothing is left, so the lines say all of it.
        #expect(!outcome.summary.text().contains("elapsed"))
    }

    @Test("That silence alone has confirmed it is said below")
    func silence() {
        var summary = DeliverySummary(notifications: [NotificationReport(token: "ab", .confirmed)])
        summary.confirmed = 1
        summary.confirmedByBarrier = 1
        #expect(summary.text() == "ab  confirmed")
        (summary.confirmedByBarrier, summary.confirmedByQuiet) = (0, 1)
        #expect(summary.text().contains("no error came in the quiet period: a guess"))
    }

    @Test("The same again under its apns-id is not sent twice, and keeps its exit code")
    func repeats() async throws {
        let journal = InMemoryJournal()
        let sent = [try notification(1), try notification(2)]
        func run() async throws -> (outcome: DeliveryRun.Outcome, sent: Int) {
            let world = try HandMadeWorld(journal: journal) {
                $0.bytes[0] == 0x10 ? .confirmed : SendResult(apnsStatus: 400, reason: "BadCollapseId")
            }
            return (await world.run(sent), world.connector.sent.count)
        }
        let first = try await run()
        #expect(first.sent == 2 && first.outcome.status == .notAllConfirmed)
        let second = try await run()
        #expect(second.sent == 0 && second.outcome.summary.repeated == 2)
        let reports = try #require(second.outcome.summary.notifications)
        #expect(
            reports.map(\.outcome) == [.confirmed, .rejected] && reports.allSatisfy { $0.receipt.repeated == true })
        #expect(reports[1].receipt.reason == "BadCollapseId" && reports[1].status == 400)
        #expect(second.outcome.status == .notAllConfirmed)
    }

    @Test("One that waits is told as what it waits for, and the journal keeps it")
    func waits() async throws {
        let world = try HandMadeWorld { _ in SendResult(apnsStatus: 403, reason: "InvalidProviderToken") }
        let outcome = await world.run([try notification(1)])
        // Deferred when it was tried once more: an entry that was tried in vain goes behind the others.
        let stopped = try #require(outcome.summary.notifications?.first)
        #expect([.unconfirmed, .deferred].contains(stopped.outcome))
        #expect(outcome.status == .configuration && outcome.summary.left == 1)
        #expect(outcome.summary.text().contains("`holdfast recover` delivers them"))

        let later = try HandMadeWorld { _ in SendResult(apnsStatus: 429, reason: "TooManyRequests") }
        let sent = [try notification(1)]
        let task = Task { await later.run(sent) }
        let isDeferred = await waitUntil { later.engine.status().deferrals > 0 }
        #expect(isDeferred)
        task.cancel()
        let report = try #require(await task.value.summary.notifications?.first)
        #expect(report.outcome == .deferred && report.receipt.reason == "TooManyRequests" && report.dueAt != nil)
    }

    @Test("What waits for a topic that is set aside is not said to be delivered by recover, and what to do is said")
    func topicAside() async throws {
        let world = try HandMadeWorld { _ in SendResult(apnsStatus: 400, reason: "TopicDisallowed") }
        let outcome = await world.run([try notification(1)])
        #expect(outcome.status == .configuration && outcome.summary.left == 1)
        #expect(outcome.summary.topicsSetAside?.map(\.topic) == ["com.example"])
        let text = outcome.summary.text()
        #expect(!text.contains("`holdfast recover` delivers them"))
        #expect(text.contains("topic com.example") && text.contains("`holdfast journal drop UID`"))
        #expect(try JSONOutput.line(outcome.summary).contains(#""topicsSetAside":[{"#))
    }

    @Test("More bad tokens at the head than are held do not end it while the topic is still being tried")
    func badHead() async throws {
        let world = try HandMadeWorld(pauses: .milliseconds(20)) {
            $0.bytes[0] == 0xBA ? SendResult(apnsStatus: 400, reason: "BadDeviceToken") : .confirmed
        }
        _ = await world.engine.producer.submit(
            try (1000..<2100).map { number in
                try PushNotification(
                    token: DeviceToken("BA\(number)00"), topic: "com.example", payload: Array("{}".utf8))
            })
        let outcome = await world.run([try notification(1)])
        #expect(outcome.status == .ok, "\(outcome.summary.text())")
        #expect(outcome.summary.notifications?.map(\.outcome) == [.confirmed])
    }

    @Test("One that was confirmed exits with 0, whatever else the journal holds", arguments: [true, false])
    func othersAside(isConfirmed: Bool) async throws {
        let world = try HandMadeWorld {
            switch $0.bytes[0] {
            case 0x50: SendResult(apnsStatus: 400, reason: "TopicDisallowed")
            case 0x10 where !isConfirmed: SendResult(apnsStatus: 410, reason: "Unregistered")
            default: .confirmed
            }
        }
        _ = await world.engine.producer.submit([try notification(5, topic: "com.b")])
        let outcome = await world.run([try notification(1), try notification(2)])
        #expect(outcome.status == (isConfirmed ? .ok : .notAllConfirmed))
        #expect(outcome.summary.exitCode == outcome.status.rawValue && outcome.summary.error == nil)
        #expect(outcome.summary.left == 1 && outcome.summary.topicsSetAside?.map(\.topic) == ["com.b"])
        #expect(outcome.summary.text().contains("topic com.b"))
    }

    @Test("What the service's console knows it by is told, and of a backlog beside it is not kept")
    func uniqueIDs() async throws {
        let world = try HandMadeWorld { _ in SendResult(.confirmed, uniqueID: "console-1") }
        _ = await world.engine.producer.submit([try notification(5)])
        let outcome = await world.run([try notification(1), try notification(2)])
        let reports = try #require(outcome.summary.notifications)
        #expect(reports.map(\.uniqueID) == ["console-1", "console-1"])
        #expect(outcome.summary.text().contains("apns-unique-id console-1"))
        #expect(try JSONOutput.line(reports[0]).contains(#""apns-unique-id":"console-1""#))
    }

    @Test("A journal that fails has taken nothing, and says why")
    func journalFails() async throws {
        let journal = InMemoryJournal()
        let world = try HandMadeWorld(journal: journal) { _ in .confirmed }
        journal.failWrites(with: JournalError(.inputOutput, "the disk is gone"))
        let outcome = await world.run([try notification(1)])
        #expect(outcome.status == .inputOutput)
        #expect(outcome.error?.message.contains("nothing was taken") == true)
        #expect(outcome.summary.notifications?.map(\.outcome) == [.refused])
    }

    @Test("What was in the journal before goes with it, and is counted beside it")
    func backlog() async throws {
        let world = try HandMadeWorld { _ in .confirmed }
        _ = await world.engine.producer.submit([try notification(5), try notification(6)])
        let outcome = await world.run([try notification(1)])
        #expect(outcome.status == .ok && outcome.summary.leftFromBefore == 2 && outcome.summary.confirmed == 3)
        #expect(outcome.summary.notifications?.map(\.outcome) == [.confirmed])
        #expect(outcome.summary.text().contains("left before"))
    }
}

/// A journal, a connector and an engine for notifications by hand.
private struct HandMadeWorld: Sendable {
    let journal: InMemoryJournal
    let connector = InMemoryConnector()
    let engine: PushEngine
    private let console = Console(isInteractive: false, usesColor: false)

    /// - Parameter pauses: the first before a topic is tried again.
    init(
        journal: InMemoryJournal = InMemoryJournal(), pauses: Duration = .seconds(1),
        answer: @escaping @Sendable (DeviceToken) -> SendResult
    ) throws {
        self.journal = journal
        var configuration = EngineConfiguration()
        configuration.probes.minimum = pauses
        engine = try PushEngine(
            journal: journal, routes: [Route(connector: connector)], configuration: configuration)
        connector.answer { answer($0.token!) }
    }

    func run(_ notifications: [PushNotification]) async -> DeliveryRun.Outcome {
        let run = DeliveryRun(
            journal: journal, engine: engine, console: console,
            logger: ConsoleLogHandler.logger(console, isVerbose: false), options: .init(handlesSignals: false))
        return await run.run(.notifications(notifications))
    }
}

extension NotificationReport {
    fileprivate init(token: String? = nil, channel: String? = nil, id: String? = nil, _ outcome: OutcomeWord) {
        self.init(
            recipient: RecipientForm(token: token, channel: channel), id: id, receipt: ReceiptForm(outcome: outcome))
    }

    fileprivate init(refusedFor reason: Reason) {
        self.init(token: "cd", .refused)
        receipt.reason = reason.rawValue
    }
}
