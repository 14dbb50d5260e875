import Foundation
import Holdfast
import HoldfastAPNsAnswers
import Testing

@testable import HoldfastControl

/// Outcomes, as they are asked for and told on the socket.
@Suite("Outcomes on the control socket")
struct OutcomeTests {
    private static let token = String(repeating: "ab", count: 32)

    private func outcome(
        _ cursor: UInt64, _ terminal: TerminalOutcome = .confirmed, status: Int? = nil, tag: [UInt8] = [],
        context: [UInt8] = [], sentAt: WallTime? = WallTime(milliseconds: 1_795_300_000_123), payload: [UInt8] = []
    ) throws -> Outcome {
        var cause: RejectionCause?
        if case .rejected(let reason) = terminal {
            cause = RejectionCause(
                reason: reason, status: status, timestamp: status.map { _ in WallTime(seconds: 1_795_200_000) },
                rejectedAt: WallTime(milliseconds: 1_795_300_000_456))
        }
        return Outcome(
            cursor: OutcomeCursor(cursor), uid: UID(cursor + 100), terminal: terminal, cause: cause,
            history: DeliveryHistory(
                acceptedAt: WallTime(milliseconds: 1_795_300_000_001), sentAt: sentAt,
                settledAt: WallTime(milliseconds: 1_795_300_000_456), attempts: 2),
            id: NotificationID(high: 1, low: cursor), recipient: .device(try DeviceToken(Self.token)),
            topic: "com.example.app", producer: "p", tag: tag, context: context, uniqueID: status == nil ? "u-1" : nil,
            payload: payload)
    }

    private var each: [Outcome] {
        get throws {
            [
                try outcome(1), try outcome(2, .rejected(.unregistered), status: 410, tag: Array("täg".utf8)),
                try outcome(3, .rejected(.blacklisted), tag: [0xFF, 0x00]), try outcome(4, .expired, sentAt: nil),
                try outcome(5, .unknown, context: Array("{\"a\":1}".utf8)),
                try outcome(6, .withdrawn, context: [0xC3], payload: Array("{}".utf8)),
            ]
        }
    }

    @Test("Every kind of outcome arrives as it was, in both ways of asking")
    func arrive() async throws {
        let folder = try Folder()
        let desk = StubDesk()
        let outcomes = try each
        let listing = OutcomeListing(
            outcomes: outcomes, end: OutcomeCursor(9), missed: 4, wasOff: true, newest: OutcomeCursor(.max),
            isKept: false)
        let log = OutcomeLogStatus(
            deleted: OutcomeCursor(3), newest: OutcomeCursor(9), oldestAt: WallTime(seconds: 5), bytes: 77,
            isKept: false,
            readers: [OutcomeReader(name: "r", cursor: OutcomeCursor(1), isWaitedFor: true)])
        desk.state.withLock { state in
            state.found = OutcomePage(outcomes: outcomes.reversed(), end: OutcomeCursor(2))
            (state.listing, state.log) = (listing, log)
        }
        var query = OutcomeQuery()
        query.uid = UID(7)
        query.id = NotificationID(high: 1, low: 2)
        query.recipient = .service(try ServiceAddress(notation: "fid:c+X/ y%&=ü"))
        query.tag = Array("a b+c&d=é%".utf8)
        query.producer = "p/1"
        query.topic = "com.example"
        query.since = WallTime(milliseconds: 1_795_300_000_001)
        query.until = WallTime(seconds: 1_795_300_009)
        query.ending = "rejected"
        let asked = query
        try await serving(desk, in: folder) { _ in
            let remote = try await RemoteDesk(journal: folder.path)
            let page = try await remote.findOutcomes(asked, before: OutcomeCursor(50), limit: 10)
            #expect(page.outcomes == outcomes.reversed() && page.end == OutcomeCursor(2))
            #expect(
                try await remote.outcomes(
                    after: OutcomeCursor(3), limit: 5, of: ["b", "a c"], waitingAtMost: .seconds(900)) == listing)
            _ = try await remote.outcomes(after: nil, limit: 5, of: nil, waitingAtMost: .zero)
            #expect(try await remote.outcomeLog() == log)
            #expect(try await remote.openOutcomeReader("x") == OutcomeCursor(7))
            try await remote.moveOutcomeReader("x", to: OutcomeCursor(8))
            try await remote.forgetOutcomeReader("x y")
        }
        let state = desk.state.withLock { $0 }
        #expect(state.queries == [asked])
        #expect(
            state.asked == [
                "find before 50 10", "log", "list 3 5 [\"a c\", \"b\"] 20.0 seconds", "list - 5 [] 0.0 seconds", "log",
                "open x", "move x 8",
                "forget x y",
            ])
    }

    @Test("Rejections that the log does not have come behind those that it has, and go on by UID")
    func rejections() async throws {
        let folder = try Folder()
        let desk = StubDesk()
        let logged = try outcome(7, .rejected(.unregistered), status: 410)
        let apart = Outcome(
            uid: UID(3), terminal: .rejected(.unregistered), cause: logged.cause, history: logged.history,
            id: logged.id, recipient: logged.recipient, topic: logged.topic)
        desk.state.withLock { state in
            state.found = OutcomePage(outcomes: [logged], end: .start)
            state.foundRejections = RejectionPage(outcomes: [apart], end: UID(9))
            state.log.isKept = false
        }
        try await serving(desk, in: folder) { _ in
            let remote = try await RemoteDesk(journal: folder.path)
            #expect(try await remote.findOutcomes(OutcomeQuery(), before: nil, limit: 5).outcomes == [logged])
            let page = try await remote.findRejections(OutcomeQuery(), after: UID(2), limit: 5)
            #expect(page.outcomes.map(\.uid) == [UID(3)] && page.outcomes[0].cursor == .start && page.end == UID(9))
            #expect(page.outcomes[0].cause?.status == 410)
            _ = try await remote.findOutcomes(OutcomeQuery(), before: nil, limit: 1)
            var confirmed = OutcomeQuery()
            confirmed.ending = "confirmed"
            _ = try await remote.findOutcomes(confirmed, before: nil, limit: 5)
        }
        #expect(
            desk.state.withLock(\.asked) == [
                "find before - 5", "log", "rejections after 0 4", "log", "rejections after 2 5", "find before - 1",
                "log", "find before - 5", "log",
            ])
        // The admin listener tells them with the history off, too.
        let answer = OutcomeAnswer(desk: desk, places: WaitPlaces(limit: 1))
        let (status, body) = await answer.answer("limit=5")
        let text = String(decoding: body, as: UTF8.self)
        #expect(status == 200 && text.contains("\"isKept\":false") && text.contains("\"rejectionsAfter\":9"))
        #expect(text.contains("\"uid\":3"))
        #expect(await answer.answer("after=0").status == 404)
        #expect(await answer.answer("before=7&rejections-after=3").status == 400)
    }

    @Test("The JSON of an outcome has these keys and no others, with text where bytes are text")
    func keys() throws {
        func object(_ outcome: Outcome, tellsStory: Bool = false) throws -> [String: Any] {
            let line = try Form.line(OutcomeForm(outcome, tellsStory: tellsStory))
            return try #require(try JSONSerialization.jsonObject(with: Data(line)) as? [String: Any])
        }
        let always: Set = [
            "cursor", "uid", "apns-id", "token", "apns-topic", "producer", "outcome", "acceptedAt", "endedAt",
            "attempts",
            "meaning",
        ]
        let outcomes = try each
        #expect(Set(try object(outcomes[0]).keys) == always.union(["sentAt", "apns-unique-id"]))
        let rejected = try object(outcomes[1], tellsStory: true)
        #expect(Set(rejected.keys) == always.union(["sentAt", "reason", "status", "timestamp", "tag", "words"]))
        #expect(rejected["tag"] as? String == "täg" && rejected["status"] as? Int == 410)
        #expect(rejected["reason"] as? String == "Unregistered" && rejected["outcome"] as? String == "rejected")
        #expect(rejected["sentAt"] as? String == "2026-11-21T22:26:40.123Z")
        #expect(try object(outcomes[2])["tag-base64"] as? String == "/wA=")
        #expect(try object(outcomes[3])["sentAt"] == nil)
        #expect(try object(outcomes[4])["context"] as? String == "{\"a\":1}")
        let last = try object(outcomes[5])
        #expect(last["context-base64"] as? String == "ww==" && last["payload-base64"] as? String == "e30=")
    }

    @Test("The story says when it was accepted and sent, what was answered, and what that means")
    func story() throws {
        let outcomes = try each
        #expect(
            OutcomeStory(outcomes[1]).text()
                == "Accepted at 2026-11-21T22:26:40.001Z, sent at 2026-11-21T22:26:40.123Z (attempt 2), and the service "
                + "answered 410 Unregistered at 2026-11-21T22:26:40.456Z: the app is not on the device any more, or takes no "
                + "notifications. The service says so of its token since 2026-11-20T18:40:00Z. What to do: delete the token "
                + "where your tokens are kept, until the app registers again.")
        #expect(OutcomeStory(outcomes[0]).text().contains("and the push service took it at 2026-11-21T22:26:40.456Z."))
        #expect(OutcomeStory(outcomes[2]).text().contains("and rejected with Blacklisted at"))
        #expect(
            !OutcomeStory(outcomes[3]).text().contains("sent at")
                && OutcomeStory(outcomes[3]).text().contains("expired at"))
        #expect(OutcomeStory(outcomes[4]).text().contains("nobody knows whether it was taken"))
        #expect(OutcomeStory(outcomes[5]).text().contains("and taken back at"))
        let cause = RejectionCause(reason: .withdrawn, rejectedAt: outcomes[4].settledAt)
        let inFlight = Outcome(
            uid: UID(1), terminal: .unknown, cause: cause, history: outcomes[4].history, id: outcomes[4].id,
            recipient: outcomes[4].recipient, topic: "a")
        let words = OutcomeStory(inFlight).text()
        #expect(words.contains("and taken back at 2026-11-21T22:26:40.456Z: it was taken back while it was in flight"))
        #expect(!words.contains("no answer came"), "\(words)")
        let form = OutcomeForm(inFlight)
        #expect(form.reason == "Withdrawn" && form.outcome == .unknown)
        #expect(try form.value() == inFlight)
    }

    @Test(
        "A question that is none gets an answer that says which part and why",
        arguments: [
            ("find?token=xyz", 400, "token: "),
            ("find?uid=0", 400, "uid: \\\"0\\\" is no UID: a whole number from 1 on"),
            ("find?uid=-1", 400, "uid: "),
            ("find?apns-id=7", 400, "apns-id: \\\"7\\\" is no UUID"), ("find?tokens=1", 400, "can't be asked for"),
            ("find?token=ab&channel=YQ==", 400, "one of token, channel and address"), ("find?uid", 400, "NAME=VALUE"),
            ("find?uid=%zz", 400, "NAME=VALUE"), ("find?uid=1&uid=2", 400, "uid is given twice"),
            ("find?since=yesterday", 400, "since: \\\"yesterday\\\" is no time: RFC 3339"),
            ("find?limit=0", 400, "limit: "),
            ("find?since=1700000000&until=1600000000", 400, "since is not before until"),
            ("find?limit=1001", 400, "from 1 to 1000"), ("find?before=x", 400, "before: \\\"x\\\" is no cursor"),
            ("find?outcome=gone", 400, "one of confirmed, rejected"),
            ("list?after=1e3", 400, "after: \\\"1e3\\\" is no cursor"),
            ("list?after=99999999999999999999", 400, "after: "), ("list?wait=21s", 400, "wait: "),
            ("list?until=1", 400, "after, limit, producer, wait can"), ("list?after=", 400, "after: "),
        ])
    func wrong(path: String, status: Int, words: String) async throws {
        let folder = try Folder()
        let desk = StubDesk()
        try await serving(desk, in: folder) { _ in
            let client = try await RawClient(folder)
            client.get("/v1/outcomes/\(path)")
            #expect(await waitUntil { client.text.hasSuffix("}\n") })
            #expect(client.statuses == [status])
            #expect(client.text.contains(words), "\(client.text)")
        }
        #expect(desk.state.withLock { $0.asked } == [])
    }

    @Test("Times are RFC 3339 in any zone, Unix seconds, or how long ago")
    func times() async throws {
        let folder = try Folder()
        let desk = StubDesk()
        try await serving(desk, in: folder) { _ in
            let client = try await RawClient(folder)
            for since in [
                "2026-11-22T03:26:40+01:00", "2026-11-22T03:26:40%2B01:00", "1795314400", "2026-11-22T02:26:40Z",
            ] {
                client.get("/v1/outcomes/find?since=\(since)&producer=a+b")
            }
            client.get("/v1/outcomes/find?since=10m")
            #expect(await waitUntil { client.statuses.count == 5 })
            #expect(client.statuses == Array(repeating: 200, count: 5), "\(client.text)")
        }
        let queries = desk.state.withLock { $0.queries }
        #expect(queries.prefix(4).map(\.since) == Array(repeating: WallTime(seconds: 1_795_314_400), count: 4))
        #expect(queries.first?.producer == "a b")
        let ago = EngineClock.system.wall().since(try #require(queries.last?.since))
        #expect(ago >= .seconds(600) && ago < .seconds(660))
    }

    @Test(
        "Names that are empty or too long are called so, and which",
        arguments: [
            ("producer=", "producer: it is empty: the name of a producer has 1 to 64 bytes; leave it out for any."),
            (
                "producer=\(String(repeating: "p", count: 65))",
                "producer: the name of a producer has 1 to 64 bytes, and this has 65."
            ),
            ("topic=", "topic: it is empty: a topic has 1 to 255 bytes; leave it out for any."),
            ("topic=\(String(repeating: "t", count: 256))", "topic: a topic has 1 to 255 bytes, and this has 256."),
            ("tag=", "tag: it is empty: a tag has 1 to 256 bytes; leave it out for any."),
        ])
    func names(_ query: String, _ message: String) {
        func told(_ body: () throws -> Void) -> String? {
            do { try body() } catch { return (error as? ControlError)?.message }
            return nil
        }
        #expect(told { _ = try OutcomeQuestion.find(query, now: WallTime(seconds: 1)) } == message)
        if query.hasPrefix("producer") { #expect(told { _ = try OutcomeQuestion.list(query) } == message) }
        guard !query.hasPrefix("tag") else { return }
        #expect(told { _ = try OutcomeStreamQuestion(query, lastEventID: nil) } == message)
    }
}
