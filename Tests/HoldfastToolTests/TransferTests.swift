import Foundation
import Holdfast
import HoldfastAPNsAnswers
import HoldfastControl
import HoldfastJournal
import Scratch
import Testing

@testable import HoldfastTool

@Suite("Export and import")
struct TransferTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private static let acceptance = WallTime(milliseconds: 1_795_300_000_123)

    /// Entries of every kind, with all that is hard to carry over.
    private static func awkward() throws -> [RestoredEntry] {
        let plain = PushNotification(token: try DeviceToken("00fc13ad"), topic: "com.example.app", payload: "{}")
        var full = PushNotification(
            token: try #require(DeviceToken(bytes: Array(repeating: 0xEE, count: 100))), topic: "t\"\\\u{1}é\u{2028}",
            payload: Array("{ \"a\" :\t[1, \"\\u00e9\"] }".utf8), pushType: .voip, priority: .low, expiration: .once,
            collapseID: "c\"\n", id: NotificationID(high: .max, low: 1),
            tokenRegisteredAt: WallTime(milliseconds: -5), guarantee: .atMostOnce, tag: [0xFF, 0x00, 0x22])
        var entries = [
            RestoredEntry(
                lane: LaneKey(route: "a/b", urgency: .considerate, guarantee: .atMostOnce), producer: "é\"",
                notification: full, acceptedAt: WallTime(milliseconds: -1),
                history: EntryHistory(
                    place: .rejected(
                        RejectionCause(
                            reason: Reason(rawValue: "No\"Word\n"), status: 410, timestamp: WallTime(milliseconds: 1),
                            rejectedAt: acceptance)), attempts: .max, isPossiblySent: true, lastReason: .noAnswer),
                retryOf: UID(.max)),
            RestoredEntry(
                lane: LaneKey(route: "default", urgency: .immediate, guarantee: .atLeastOnce), producer: "default",
                notification: plain, acceptedAt: acceptance,
                history: EntryHistory(
                    place: .rejected(RejectionCause(reason: .tooManyAttempts, rejectedAt: acceptance)))),
        ]
        full.guarantee = .atLeastOnce
        // Payloads that are not one line of JSON are carried in another way.
        for payload in ["", "{\n}", " {}", "{} ", "{\"a\":1}\r", "not JSON", "[1]", "{\"a\":\"\u{2028}é\"}"] {
            full.payload = Array(payload.utf8)
            full.tag = Array("tag \(payload)".utf8)
            full.expiration = .at(.max)
            if payload == "not JSON" {
                full.recipient = .channel(try BroadcastChannel("dHN0LXNyY2gtY2hubA=="))
                full.expiration = .unstored(until: .max)
            }
            if payload == "{} " { full.expiration = .unstated(until: .max) }
            if payload == "[1]" {
                (full.context, full.newestWins) = ([0xFF, 0, 0x22], true)
                full.deliverAfter = WallTime(milliseconds: 1_795_300_000_001)
                full.deliveryHours = try DeliveryHours("22:00-06:30 America/St_Johns")
            }
            entries.append(
                RestoredEntry(
                    lane: LaneKey(route: "default", urgency: .immediate, guarantee: .atLeastOnce), producer: "p",
                    notification: full, acceptedAt: acceptance,
                    history: EntryHistory(
                        place: .deferred(until: WallTime(milliseconds: -9)), attempts: 2,
                        lastReason: .tooManyRequests)))
        }
        full.payload = [0xFF, 0xFE]
        for isPossiblySent in [true, false] {
            entries.append(
                RestoredEntry(
                    lane: LaneKey(route: "default", urgency: .considerate, guarantee: .atLeastOnce), producer: "p",
                    notification: full, acceptedAt: acceptance, history: EntryHistory(isPossiblySent: isPossiblySent)))
        }
        return entries
    }

    /// Entries for other services than Apple's.
    private static func ofServices() throws -> [RestoredEntry] {
        let longest = "web-push:https://push.example/" + String(repeating: "x", count: 2000)
        let notations: [(String, [UInt8], PayloadKind)] = [
            ("fid:cXy1", Array("{}".utf8), .json), ("fcm-token:a:b\"#é", Array("{}".utf8), .json),
            ("fcm-topic:\u{301}weather", Array("{}".utf8), .json),
            ("fcm-condition:'a' in topics", Array("{}".utf8), .json), (longest, [0, 0xFF], .sealed),
            ("web-push#00ff20", [], .none), ("200:x", [7], PayloadKind(rawValue: 77)),
        ]
        return try notations.enumerated().map { index, item in
            let (notation, payload, payloadKind) = item
            let notification = PushNotification(
                address: try ServiceAddress(notation: notation), topic: "project", payload: payload,
                payloadKind: payloadKind, priority: .considerate, expiration: .unstated(until: 1_900_000_000),
                collapseID: "c", id: NotificationID(high: 5, low: UInt64(index)),
                registeredAt: WallTime(milliseconds: 7), tag: [1])
            return RestoredEntry(
                lane: LaneKey(route: "service", urgency: .considerate, guarantee: .atLeastOnce), producer: "p",
                notification: notification, acceptedAt: acceptance,
                history: EntryHistory(place: .deferred(until: WallTime(milliseconds: 9)), attempts: 1))
        }
    }

    private func restore(_ entries: [RestoredEntry], into journal: String) async throws {
        let opened = try LMDBJournal(directory: journal)
        defer { opened.close() }
        for start in stride(from: 0, to: entries.count, by: 1000) {
            _ = try await JournalDesk(journal: opened).restore(Array(entries[start...].prefix(1000)), note: nil)
        }
    }

    /// Its lines without their UIDs.
    private func export(_ journal: String, _ name: String) async throws -> [Substring] {
        let result = try await Tool.run("journal", "export", "--journal", folder(journal), "-o", folder(name))
        #expect(result.status == 0, "\(result.errors)")
        return try folder.read(name).split(separator: "\n").map { line in
            line.drop { $0 != "," }
        }
    }

    @Test("Exported, imported into a new journal and exported again, entries of every kind are what they were")
    func roundTrip() async throws {
        try await restore(try Self.awkward(), into: folder("a"))
        let first = try await export("a", "first")
        #expect(first.count == 12)
        let mode = try FileManager.default.attributesOfItem(atPath: folder("first"))[.posixPermissions] as? Int
        #expect(mode == 0o600)
        #expect(!FileManager.default.fileExists(atPath: folder("first.partial")))
        let imported = try await Tool.run("journal", "import", folder("first"), "--journal", folder("b"), "--json")
        #expect(imported.status == 0, "\(imported.errors)")
        #expect(try imported.count("imported") == 12 && imported.count("lines") == 12)
        #expect(try await export("b", "second") == first)
        // What was read back from the lines is what went into the journal.
        let bytes = Array(try folder.read("first").utf8)
        var start = 0
        for entry in try Self.awkward() {
            let end = try #require(bytes[start...].firstIndex(of: UInt8(ascii: "\n")))
            var expected = entry
            expected.notification.id = expected.notification.id ?? NotificationID(high: 0, low: 0)
            var read = try ImportLine(bytes, in: start..<end).entry
            if entry.notification.id == nil { read.notification.id = NotificationID(high: 0, low: 0) }
            if entry.notification.expiration == nil { expected.notification.expiration = read.notification.expiration }
            #expect(read == expected)
            start = end + 1
        }
    }

    @Test("Exported, imported into a new journal and exported again, entries for other services are what they were")
    func services() async throws {
        let entries = try Self.ofServices()
        try await restore(entries, into: folder("a"))
        let first = try await export("a", "first")
        #expect(first.count == entries.count)
        let imported = try await Tool.run("journal", "import", folder("first"), "--journal", folder("b"), "--json")
        #expect(imported.status == 0, "\(imported.errors)")
        #expect(try await export("b", "second") == first)
        for (line, entry) in zip(try folder.read("first").split(separator: "\n"), entries) {
            let bytes = Array(line.utf8)
            #expect(try ImportLine(bytes, in: 0..<bytes.count).entry == entry)
        }
    }

    @Test("A line with more than a record holds is refused, whatever of it is too long")
    func tooLong() throws {
        func line(_ recipient: String, payloadByteCount: Int) -> [UInt8] {
            let payload = String(repeating: "0", count: 2 * payloadByteCount)
            return Array(
                (#"{"uid":7,"lane":"default/immediate/at-least-once","producer":"d","state":"waiting","accepted-at":5,"#
                    + #""possibly-sent":false,"attempts":0,"apns-id":"00000000-0000-0001-0000-000000000002",\#(recipient),"#
                    + #""apns-topic":"t","apns-expiration":9,"guarantee":"at-least-once","payload-hex":"\#(payload)"}"#)
                    .utf8)
        }
        let room = PackedNotification.maximumByteCount - 1024 - PackedNotification.maximumContextByteCount - 1
        let address = #""address":"web-push:"# + String(repeating: "x", count: ServiceAddress.maximumByteCount) + "\""
        for (recipient, count) in [(#""token":"00fc""#, room - 2), (address, room - ServiceAddress.maximumByteCount)] {
            let (whole, beyond) = (
                line(recipient, payloadByteCount: count), line(recipient, payloadByteCount: count + 1)
            )
            let entry = try ImportLine(whole, in: 0..<whole.count).entry
            var packed: [UInt8] = []
            PackedNotification.append(
                entry.notification, id: NotificationID(high: 1, low: 2), expiration: .once, acceptedAt: Self.acceptance,
                producer: "d", to: &packed)
            #expect(packed.count <= PackedNotification.maximumByteCount)
            #expect(throws: LineFault.self) { try ImportLine(beyond, in: 0..<beyond.count) }
        }
    }

    @Test("A file is taken once; a file that is there is not written over; filters choose")
    func once() async throws {
        try await restore(try Self.awkward(), into: folder("a"))
        _ = try await export("a", "first")
        #expect(try await Tool.run("journal", "export", "--journal", folder("a"), "-o", folder("first")).status == 73)
        for (run, count) in [("first", 12), ("again", 12), ("--restart", 24)] {
            let flags = run.hasPrefix("--") ? [run] : []
            let result = try await Tool.start(
                ["journal", "import", folder("first"), "--journal", folder("b"), "--json"] + flags
            ).result()
            #expect(result.status == 0, "\(result.errors)")
            #expect(try result.json()["wasTakenBefore"] as? Bool == (run == "again"))
            let list = try await Tool.run("journal", "list", "--journal", folder("b"), "--json")
            #expect(list.output.split(separator: "\n").count == count, "\(run)")
        }
        let rejected = try await Tool.run("journal", "export", "--journal", folder("a"), "--state", "rejected")
        #expect(rejected.output.split(separator: "\n").count == 2)
        #expect(rejected.errors.contains("2 entries exported"))
    }

    @Test("Killed in the middle and run again, an import takes each entry once")
    func killed() async throws {
        var entries: [RestoredEntry] = []
        let template = try #require(try Self.awkward().first { $0.history.place == .waiting })
        for number in 0..<5000 {
            var entry = template
            entry.notification.tag = Array("n\(number)".utf8)
            entries.append(entry)
        }
        try await restore(entries, into: folder("a"))
        let first = try await export("a", "first")
        let arguments = ["journal", "import", folder("first"), "--journal", folder("b"), "--json"]
        var kills = 0
        for moment in [1, 1000, 3000] {
            let tool = try Tool.start(arguments)
            let isThere = await waitUntil(limit: .seconds(60)) { accepted(folder("b")) >= moment || !tool.isRunning }
            #expect(isThere)
            kills += tool.isRunning ? 1 : 0
            tool.kill(SIGKILL)
            _ = try await tool.result()
        }
        // On a machine that is fast at the wrong moment it may end before it is killed; not each time.
        #expect(kills > 0)
        let rest = try await Tool.start(arguments).result()
        #expect(rest.status == 0, "\(rest.errors)")
        #expect(try await export("b", "second") == first)
    }

    /// 0 as long as there is no journal to be read.
    private func accepted(_ journal: String) -> Int {
        do {
            let reader = try JournalReader(directory: journal)
            defer { reader.close() }
            // At rest nobody imports, and a reader would keep it from being opened.
            return reader.owner == nil ? 0 : try Int(reader.status().totals.accepted)
        } catch {
            return 0
        }
    }

    @Test("What was accepted while the clock was wrong is imported as accepted now, with a time to live")
    func goodFor() async throws {
        try await restore(try Self.awkward(), into: folder("a"))
        let before = try await objects("a", "first")
        let begin = Int(Date().timeIntervalSince1970)
        let result = try await Tool.run(
            "journal", "import", folder("first"), "--good-for", "1h", "--journal", folder("b"))
        #expect(result.status == 0, "\(result.errors)")
        let after = try await objects("b", "second")
        let now = begin...(begin + 600)
        #expect(before.count == after.count)
        for (old, new) in zip(before, after) {
            if old["state"] as? String == "rejected" {
                #expect(old["accepted-at"] as? Int == new["accepted-at"] as? Int)
                continue
            }
            #expect(new["state"] as? String == "waiting" && new["due-at"] == nil)
            #expect(new["possibly-sent"] as? Bool == old["possibly-sent"] as? Bool)
            #expect(new["attempts"] as? Int == old["attempts"] as? Int)
            #expect(now.contains(try #require(new["accepted-at"] as? Int) / 1000))
            for key in ["apns-expiration", "try-until"] {
                guard let time = old[key] as? Int, time > 0 else {
                    #expect(old[key] as? Int == new[key] as? Int)
                    continue
                }
                #expect(now.contains(try #require(new[key] as? Int) - 3600))
            }
        }
        let short = try await Tool.run(
            "journal", "import", folder("first"), "--good-for", "0s", "--journal", folder("b"))
        #expect(short.status == 64 && short.errors.contains("--good-for must be 1s to 30d"))
    }

    private func objects(_ journal: String, _ name: String) async throws -> [[String: Any]] {
        _ = try await export(journal, name)
        return try folder.read(name).split(separator: "\n").map { line in
            try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        }
    }

    @Test("What is exported from a copy that nobody uses is possibly sent, which is said")
    func leftCopy() async throws {
        try await restore(try Self.awkward(), into: folder("a"))
        let before = try await objects("a", "before").map { $0["possibly-sent"] as? Bool }
        #expect(before.contains(false))
        // The note that a host has beside its copy, and that moves with it.
        try folder.write("a/copy", "epoch 1\n")
        let behind = try await objects("a", "behind").map { $0["possibly-sent"] as? Bool }
        #expect(behind == Array(repeating: true, count: before.count))
        let told = try await Tool.run("journal", "export", "--journal", folder("a"))
        #expect(told.errors.contains("all of it is exported as possibly sent"), "\(told.errors)")
        #expect(told.errors.contains("Hosts deliver it without an import"), "\(told.errors)")
        let aside = folder("a.aside-2")
        try FileManager.default.moveItem(atPath: folder("a"), toPath: aside)
        let left = try await Tool.run("journal", "export", "--journal", aside)
        #expect(left.errors.contains("no host delivers what the database lacks: import"), "\(left.errors)")
    }

    @Test("A bad line is named with its file and number, and nothing is taken, unless bad lines are to be skipped")
    func badLines() async throws {
        try await restore(try Self.awkward(), into: folder("a"))
        _ = try await export("a", "first")
        let good = try folder.read("first")
        try folder.write("mixed", good + "{\"uid\":1}\n\n" + good + "nonsense\n")
        let refused = try await Tool.run("journal", "import", folder("mixed"), "--journal", folder("b"))
        #expect(refused.status == 65)
        #expect(refused.errors.contains("\(folder("mixed")):13: has no \"lane\""))
        #expect(refused.errors.contains("\(folder("mixed")):27: not a JSON object, at byte 1"))
        #expect(!FileManager.default.fileExists(atPath: folder("b")))
        let skipped = try await Tool.run(
            "journal", "import", folder("mixed"), "--skip-bad", "--json", "--journal", folder("b"))
        #expect(skipped.status == 65)
        #expect(try skipped.count("imported") == 24 && skipped.count("malformed") == 2 && skipped.count("lines") == 27)
        let pipe = try await Tool.run("journal", "import", "-", "--journal", folder("c"), input: good)
        #expect(pipe.status == 64)
        let streamed = try await Tool.run("journal", "import", "-", "--skip-bad", "--journal", folder("c"), input: good)
        #expect(streamed.status == 0, "\(streamed.errors)")
        #expect(try await Tool.run("journal", "import", folder("none"), "--journal", folder("b")).status == 66)
    }

    @Test(
        "What is wrong with a line is said",
        arguments: [
            (
                #""lane":"default/immediate/at-least-once""#, #""lane":"default/at-least-once""#,
                "\"lane\" must be ROUTE/URGENCY/GUARANTEE"
            ),
            (#""lane":"#, #""laen":"#, "unknown key \"laen\""),
            (#""uid":7"#, #""uid":7,"uid":8"#, "\"uid\" comes twice"),
            (#""producer":"default""#, #""producer":"""#, "1 to 64 bytes"),
            (#""state":"waiting""#, #""state":"deferred""#, "\"due-at\" goes with a deferred entry"),
            (#""state":"waiting""#, #""state":"rejected""#, "\"rejection\" goes with a rejected entry"),
            (#""state":"waiting""#, #""state":"sent""#, "must be waiting, deferred, scheduled or rejected"),
            (#""attempts":0"#, #""attempts":65536"#, "whole number of 0 to 65535"),
            (#""attempts":0"#, #""attempts":1.0"#, "whole number"),
            (#""attempts":0"#, #""attempts":"0""#, "whole number"),
            (#""possibly-sent":false"#, #""possibly-sent":0"#, "true or false"),
            (#""token":"00fc13ad""#, #""token":"00fc13a""#, "BadDeviceToken"),
            (#""payload":{}"#, #""payload":[]"#, "\"payload\" must be an object"),
            (#""payload":{}"#, #""payload":{},"payload-hex":"7b7d""#, "one of \"payload\" and \"payload-hex\""),
            (#""payload":{}"#, #""payload-hex":"7b7""#, "hex digits"),
            (#""payload":{}"#, #""tag":"a""#, "one of \"payload\""),
            (#""payload":{}"#, #""payload":{},"tag":"a","tag-hex":"61""#, "both \"tag\" and \"tag-hex\""),
            (#""apns-priority":5"#, #""apns-priority":7"#, "10, 5 or 1"),
            (#""guarantee":"at-least-once""#, #""guarantee":"exactly-once""#, "at-least-once or at-most-once"),
            (#""apns-id":"00000000-0000-0001-0000-000000000002","#, "", "has no \"apns-id\""),
            (#""payload":{}"#, #""payload":{"#, "at byte"),
            (
                #""guarantee":"at-least-once""#, #""guarantee":"at-most-once""#,
                "contradicts itself: its guarantee is at-most-once, and its lane default/immediate/at-least-once sends again"
            ),
            (
                #""apns-expiration":9"#, #""apns-expiration":0"#,
                "contradicts itself: its expiration 0 allows one attempt"
            ),
        ])
    func faults(part: String, instead: String, message: String) throws {
        let line =
            #"{"uid":7,"lane":"default/immediate/at-least-once","producer":"default","state":"waiting","accepted-at":5,"#
            + #""possibly-sent":false,"attempts":0,"apns-id":"00000000-0000-0001-0000-000000000002","token":"00fc13ad","#
            + #""apns-topic":"t","apns-priority":5,"apns-expiration":9,"guarantee":"at-least-once","payload":{}}"#
        _ = try ImportLine(Array(line.utf8), in: 0..<line.utf8.count)
        #expect(line.contains(part))
        let bad = Array(line.replacing(part, with: instead).utf8)
        let fault = #expect(throws: LineFault.self) { try ImportLine(bad, in: 0..<bad.count) }
        #expect(fault?.description.contains(message) == true, "\(String(describing: fault))")
    }

    @Test("Google's own form is imported in place of address, topic and payload")
    func googlesForm() throws {
        func read(_ parts: String) throws -> PushNotification {
            let line =
                #"{"lane":"r/considerate/at-least-once","producer":"d","state":"waiting","accepted-at":1800000000000,"#
                + #""apns-id":"00000000-0000-0001-0000-000000000002","guarantee":"at-least-once",\#(parts)}"#
            return try ImportLine(Array(line.utf8), in: 0..<line.utf8.count).entry.notification
        }
        let message = #""message":{"fid":"cXy1","data":{"a":"b"},"android":{"ttl":"60s"}}"#
        let notification = try read(#""project":"my-app",\#(message)"#)
        #expect(notification.recipient.notation == "fid:cXy1" && notification.topic == "my-app")
        #expect(notification.payload == Array(#"{"data":{"a":"b"},"android":{"ttl":"60s"}}"#.utf8))
        #expect(notification.expiration == .at(1_800_000_060) && notification.priority == .considerate)
        #expect(try read(#""project":"p","apns-expiration":7,\#(message)"#).expiration == .at(7))
        for (parts, words) in [
            (message, "has no \"project\""), (#""project":"p""#, "goes with \"message\""),
            (#""project":"p","apns-topic":"t",\#(message)"#, "both \"message\" and \"apns-topic\""),
            (#""project":"p","payload":{},\#(message)"#, "both \"message\" and \"payload\""),
            (#""project":"p","message":{"fid":"a"}"#, "has no \"apns-expiration\""),
        ] {
            let fault = #expect(throws: LineFault.self) { try read(parts) }
            #expect(fault?.description.contains(words) == true, "\(parts): \(String(describing: fault))")
        }
    }

    @Test("Lines that are cut, or have a byte changed, never crash, and what is taken of them can be written again")
    func garbage() throws {
        var random = Xoshiro256(seed: 3)
        let line =
            #"{"uid":7,"lane":"r/immediate/at-least-once","producer":"d","state":"deferred","accepted-at":5,"due-at":1,"#
            + #""apns-id":"00000000-0000-0001-0000-000000000002","token":"00fc","apns-topic":"t","apns-expiration":9,"#
            + #""guarantee":"at-least-once","tag":"\u00e9","payload":{"a":[1]}}"#
        for round in 0..<5000 {
            var bytes = Array(line.utf8)
            if round % 3 == 0 { bytes.removeLast(Int.random(in: 1..<bytes.count, using: &random)) }
            for _ in 0..<round % 4 {
                bytes[Int.random(in: 0..<bytes.count, using: &random)] = .random(in: 0...255, using: &random)
            }
            do throws(LineFault) {
                let entry = try ImportLine(bytes, in: 0..<bytes.count).entry
                #expect((1...64).contains(entry.lane.route.utf8.count) && !entry.notification.token!.bytes.isEmpty)
            } catch { #expect(!error.description.isEmpty) }
        }
    }

    @Test("A lane's name is read as it is written, whatever its route is called")
    func laneNames() throws {
        for route in ["default", "a/b", "a//b", "immediate/at-most-once", String(repeating: "r", count: 64)] {
            let lane = LaneKey(route: route, urgency: .considerate, guarantee: .atMostOnce)
            #expect(try LaneKey.read(lane.description) == lane)
        }
        for text in [
            "", "default", "/immediate/at-least-once", "default/soon/at-least-once", "default/immediate/",
            "immediate/at-least-once",
        ] {
            #expect(throws: ControlError.self, "\(text)") { try LaneKey.read(text) }
        }
    }
}
