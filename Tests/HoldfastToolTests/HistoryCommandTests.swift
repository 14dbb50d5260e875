import Foundation
import Holdfast
import HoldfastAPNsAnswers
import HoldfastControl
import HoldfastJournal
import HoldfastTesting
import Scratch
import Testing

@testable import HoldfastTool

/// What became of notifications, asked with the tool.
@Suite("Finding what became of notifications", .timeLimit(.minutes(3)))
struct HistoryCommandTests {
    private static let id = "6f2f7b0e-6d1c-4d3b-9c38-6a2c2a0b2f0e"

    private func words(_ result: Tool.Result) -> String {
        result.output.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }.joined(separator: " ")
    }

    /// One of each end: 1 to 3 confirmed, 4 rejected, 5 unknown, 6 withdrawn, 7 expired, 8 waits.
    private func fill(_ world: OperatorWorld) async throws {
        world.connector.answer { notification in
            switch notification.recipient.text {
            case OperatorWorld.token(4):
                SendResult(apnsStatus: 410, reason: "Unregistered", timestamp: WallTime(seconds: 1_700_000_000))
            case OperatorWorld.token(5): .unknown("nothing came")
            default: .confirmed
            }
        }
        try await world.withEngine { engine in
            let lane = LaneKey(route: "default", urgency: .considerate, guarantee: .atLeastOnce)
            try await engine.desk.pause(lane, reason: "incident")
            let now = EngineClock.system.wall().seconds
            let notifications = try (1...8).map { number in
                PushNotification(
                    token: try DeviceToken(OperatorWorld.token(number)), topic: number == 2 ? "b" : "a",
                    payload: Array(#"{"n":1}"#.utf8), priority: number > 5 ? .considerate : .immediate,
                    expiration: number == 7 ? .at(now + 2) : nil, id: number == 4 ? NotificationID(Self.id) : nil,
                    guarantee: number == 5 ? .atMostOnce : .atLeastOnce, tag: Array("tag-\(number)".utf8))
            }
            for receipt in await engine.producer.submit(notifications) { _ = try receipt.get() }
            #expect(await waitUntil { engine.status().settled == 5 })
            #expect(try await engine.desk.withdraw([UID(6)]).withdrawn == 1)
            // Past its expiration only the seventh goes, and the eighth is held again.
            #expect(await waitUntil { EngineClock.system.wall().seconds > now + 2 })
            world.connector.answer { _ in SendResult(apnsStatus: 503, reason: "ServiceUnavailable") }
            try await engine.desk.resume(lane)
            #expect(await waitUntil { engine.status().settled == 7 })
            try await engine.desk.pause(lane, reason: "incident")
        }
    }

    @Test("Each kind of end is found and told in words, live and at rest", arguments: [false, true])
    func eachEnd(live: Bool) async throws {
        let world = try OperatorWorld()
        try await fill(world)
        try await world.using(live: live) {
            for (uid, outcome, words) in [
                (1, "confirmed", "and the push service took it at"),
                (4, "rejected", "and the service answered 410 Unregistered at"),
                (5, "unknown", "nobody knows whether it was taken"), (6, "withdrawn", "and taken back at"),
                (7, "expired", "its expiration came before it was taken"),
            ] {
                let found = try await world.tool("journal", "find", "--uid", "\(uid)")
                #expect(found.status == 0 && self.words(found).contains(words), "\(found.output)")
                #expect(found.output.hasPrefix("entry \(uid): \(outcome)"), "\(found.output)")
                let line = try await world.tool("journal", "find", "--uid", "\(uid)", "--json").lines()
                #expect(line.map { $0["outcome"] as? String } == [outcome] && line[0]["state"] as? String == "settled")
                let shown = try await world.tool("journal", "show", "\(uid)")
                #expect(self.words(shown).contains(words), "\(shown.output)")
                let byWord = try await world.tool("journal", "find", "--outcome", outcome, "--json").lines()
                #expect(
                    byWord.contains { $0["uid"] as? Int == uid }
                        && byWord.allSatisfy { $0["outcome"] as? String == outcome })
            }
            // One command for what waits as well.
            let waiting = try await world.tool("journal", "find", "--tag", "tag-8")
            #expect(waiting.status == 0 && waiting.output.hasPrefix("entry 8: "), "\(waiting.output)")
            let all = try await world.tool("journal", "find", "--json").lines()
            #expect(all.compactMap { $0["uid"] as? Int }.sorted() == Array(1...8))
            #expect(all.first?["uid"] as? Int == 8 && all.first?["outcome"] == nil)
        }
    }

    @Test("By token, apns-id, tag, topic, producer and time, each alone and together")
    func byEach() async throws {
        let world = try OperatorWorld()
        try await fill(world)
        func uids(_ flags: String...) async throws -> [Int] {
            let result = try await Tool.start(
                ["journal", "find", "--journal", world.journal, "--json"] + flags, input: nil
            ).result()
            #expect(result.status == (result.output.isEmpty ? 1 : 0), "\(flags): \(result.errors)")
            return try result.lines().compactMap { $0["uid"] as? Int }.sorted()
        }
        let token = OperatorWorld.token(4)
        #expect(try await uids("--token", token) == [4])
        #expect(try await uids("--token", token.uppercased()) == [4])
        #expect(try await uids("--token", "0000…0004") == [4])
        #expect(try await uids("--token", "000000") == Array(1...8))
        #expect(try await uids("--apns-id", Self.id.uppercased()) == [4])
        #expect(try await uids("--tag", "tag-3") == [3])
        #expect(try await uids("--tag", "tag-*") == Array(1...8))
        #expect(try await uids("--topic", "b") == [2])
        #expect(try await uids("--producer", "default", "--topic", "b") == [2])
        #expect(try await uids("--producer", "nobody") == [])
        #expect(try await uids("--topic", "b", "--token", token) == [])
        #expect(try await uids("--since", "1h", "--topic", "b") == [2])
        #expect(try await uids("--until", "1h") == [])
        #expect(try await uids("--since", "2020-01-01T00:00:00Z", "--until", "1900000000") == Array(1...8))
        #expect(try await uids("--since", "1900000000") == [])
        #expect(try await uids("--limit", "3").count == 3)
        #expect(try await uids("--limit", "3", "--all").count == 8)
        // Whether there are more is said, and only then.
        let one = try await world.tool("journal", "find", "--limit", "1")
        #expect(one.output.hasPrefix("entry ") && one.errors.contains("more match: --all prints"), "\(one.errors)")
        let last = try await world.tool("journal", "find", "--limit", "7", "--json").lines()
        #expect(last.count == 8 && last.last?["more"] as? Bool == true && last.last?.count == 1)
        let whole = try await world.tool("journal", "find", "--limit", "8", "--json")
        #expect(!whole.output.contains("\"more\":") && !whole.errors.contains("more match"))
    }

    @Test(
        "Without a history rejections are found, whatever an earlier one has left, and every command says that it is off"
    )
    func offAfterOn() async throws {
        let world = try OperatorWorld()
        let token = OperatorWorld.token(4)
        world.connector.answer { notification in
            notification.recipient.text == token
                ? SendResult(apnsStatus: 410, reason: "Unregistered", timestamp: WallTime(seconds: 1_700_000_000))
                : .confirmed
        }
        var off = EngineConfiguration()
        off.history = .none
        for (number, configuration) in [(1, EngineConfiguration()), (4, off)] {
            try await world.withEngine(configuration) { engine in
                let notification = PushNotification(
                    token: try DeviceToken(OperatorWorld.token(number)), topic: "a", payload: Array("{}".utf8))
                for receipt in await engine.producer.submit([notification]) { _ = try receipt.get() }
                #expect(await waitUntil { engine.status().settled == 1 })
                guard number == 4 else { return }
                #expect(try await world.tool("journal", "find", "--token", token).status == 0)
                // By the control socket as well, and once.
                let remote = try await RemoteDesk(journal: world.journal)
                var query = OutcomeQuery()
                query.recipient = .device(try DeviceToken(token))
                let found = try await remote.findRejections(query, after: .none, limit: 10)
                #expect(found.outcomes.map(\.terminal) == [.rejected(.unregistered)] && found.end == nil)
                #expect(found.outcomes.first?.history.attempts == 1)
                #expect(try await remote.findRejections(query, after: UID(2), limit: 10).outcomes == [])
                query.uid = UID(1)
                #expect(try await remote.findRejections(query, after: .none, limit: 10).outcomes == [])
            }
        }
        let found = try await world.tool("journal", "find", "--token", token)
        #expect(found.status == 0 && found.output.contains("Unregistered"), "\(found.output)")
        let rejected = try await world.tool("journal", "find", "--outcome", "rejected", "--all", "--json").lines()
        #expect(rejected.count == 1)
        let all = try await world.tool("journal", "find", "--all", "--json").lines()
        #expect(all.count == 2)
        let words = "since journal.history is off"
        let list = try await world.tool("outcomes", "list")
        #expect(list.errors.contains(words), "\(list.errors)")
        let last = try await world.tool("outcomes", "list", "--json").lines().last
        #expect(last?["isKept"] as? Bool == false)
        #expect(try await world.tool("outcomes", "readers").errors.contains(words))
        #expect(try await world.tool("outcomes", "readers", "--json").output == #"{"isKept":false}"# + "\n")
    }

    @Test("Nothing found is code 1, and says how far the history reaches") func nothing() async throws {
        let world = try OperatorWorld()
        try await fill(world)
        let nothing = try await world.tool("journal", "find", "--topic", "elsewhere")
        #expect(nothing.status == 1 && nothing.output.isEmpty)
        #expect(
            nothing.errors.contains("its history has 7 notifications, the oldest of which ended at"),
            "\(nothing.errors)")
        let none = try await world.tool("journal", "find", "--outcome", "superseded")
        #expect(none.status == 1)
        let gone = try await Tool.run("journal", "find", "--journal", world.folder("none"), "--uid", "1")
        #expect(gone.status == 66)
    }

    @Test(
        "Wrong input is code 64, and says which flag and why",
        arguments: [
            (["--uid", "x"], "\"x\" is no UID"), (["--uid", "0"], "is no UID"), (["--apns-id", "7"], "is no UUID"),
            (["--token", "xyz"], "hex digits"), (["--token", String(repeating: "g", count: 64)], "--token"),
            (["--since", "yesterday"], "is no time"), (["--until", "10x"], "is no time"),
            (["--since", "1h", "--until", "2h"], "--since is not before --until"),
            (["--outcome", "lost"], "is no outcome: one of confirmed"),
            (["--limit", "0"], "--limit must be 1 or more"),
            (["--token", "00", "--channel", "YQ=="], "exclude each other"), (["--channel", "?"], "--channel"),
            (["--address", "x"], "--address"),
        ])
    func wrong(flags: [String], words: String) async throws {
        let result = try await Tool.start(["journal", "find", "--journal", "none"] + flags).result()
        #expect(result.status == 64 && result.output.isEmpty && result.errors.contains(words), "\(result.errors)")
    }

    @Test("Of 2,000 that a mock answered, one is found by its name, and a reader of a pipe may go away")
    func manySent() async throws {
        let folder = try TemporaryFolder()
        let bad = OperatorWorld.token(1234)
        let mock = try await MockProcess("--reject", "\(bad)=Unregistered", in: folder)
        let lines = (1...2000).map { number in
            #"{"token":"\#(OperatorWorld.token(number))","apns-topic":"com.example.app","tag":"camp-\#(number % 2)","payload":{"aps":{}}}"#
        }
        try folder.write("in", lines.joined(separator: "\n"))
        let journal = folder("j")
        let sent = try await Tool.run(
            "send", folder("in"), "--journal", journal, "--endpoint", mock.endpoint, "--trust", folder("certs/ca.pem"),
            "--key", folder("certs/AuthKey.p8"), "--key-id", "MOCKKEYID1", "--team-id", "MOCKTEAMID")
        #expect(sent.status == 1, "\(sent.errors)")
        let one = try await Tool.run("journal", "find", "--journal", journal, "--token", bad)
        #expect(one.status == 0 && words(one).contains("answered 410 Unregistered at"), "\(one.output)")
        #expect(words(one).contains("The token is on the blacklist since"))
        let keys: Set = [
            "cursor", "uid", "state", "apns-id", "token", "apns-topic", "producer", "tag", "outcome", "reason",
            "status",
            "timestamp", "acceptedAt", "sentAt", "endedAt", "attempts", "meaning", "words", "blacklisted",
        ]
        let json = try await Tool.run("journal", "find", "--journal", journal, "--token", bad, "--json", "--reveal")
        #expect(try json.keys() == keys && json.lines()[0]["token"] as? String == bad)
        let camp = try await Tool.run("journal", "find", "--journal", journal, "--tag", "camp-1", "--all", "--json")
        #expect(try camp.lines().count == 1000)
        let table = try await Tool.run("journal", "find", "--journal", journal, "--tag", "camp-1")
        #expect(table.output.split(separator: "\n").count == 101 && table.errors.contains("--all prints all of them"))
        let run = try RunningTool(
            ["-c", #""$1" journal find --journal "$2" --all | head -n 3"#, "sh", Tool.path, journal],
            program: "/bin/sh")
        let piped = try await run.result()
        #expect(
            piped.status == 0 && piped.output.split(separator: "\n").count == 3 && piped.errors.isEmpty,
            "\(piped.errors)")
    }

    @Test("Outcomes are listed from cursor to cursor, each once, and wrong cursors are told") func listed() async throws
    {
        let world = try OperatorWorld()
        try await fill(world)
        var (cursor, seen) = (0, [Int]())
        for _ in 0..<4 {
            let page = try await world.tool("outcomes", "list", "--after", "\(cursor)", "--limit", "3", "--json")
            let lines = try page.lines()
            #expect(page.status == 0)
            seen += lines.compactMap { $0["cursor"] as? Int }
            cursor = try #require(lines.last?["next"] as? Int)
        }
        #expect(seen == Array(1...7) && cursor == 7)
        let table = try await world.tool("outcomes", "list", "--limit", "2")
        #expect(table.output.hasPrefix("CURSOR") && table.errors.contains("the next cursor: --after 2"))
        let beyond = try await world.tool("outcomes", "list", "--after", "8")
        #expect(beyond.status == 65 && beyond.errors.contains("whose newest is 7"), "\(beyond.errors)")
        #expect(try await world.tool("outcomes", "list", "--after", "x").status == 64)
        #expect(try await world.tool("outcomes", "list", "--producer", "nobody", "--json").output == "{\"next\":7}\n")
        let idle = try await world.tool("outcomes", "follow", "--after", "3")
        #expect(idle.status == 75 && idle.output.isEmpty)
        #expect(try await world.tool("outcomes", "readers").errors.contains("knows no readers"))
        #expect(try await world.tool("outcomes", "readers", "--forget", "x").status == 66)
        #expect(try await world.tool("outcomes", "readers", "--move", "x").status == 64)
        #expect(try await world.tool("outcomes", "follow", "--reader", "engine").status == 64)
        let status = try await world.tool("journal", "status", "--json").json()
        #expect((status["history"] as? [String: Any])?["count"] as? Int == 7)
    }
}
