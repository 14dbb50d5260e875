import Holdfast
import Testing

@testable import HoldfastTool

@Suite("A line of notifications")
struct NotificationLineTests {
    static let token = String(repeating: "ab", count: 32)

    @Test("Every field of a line reaches the notification, and the payload byte for byte")
    func readsEverything() throws {
        let payload = #"{ "aps" : {"alert":"Gr\u00fc\u00dfe 😀"} ,"n":1.50}"#
        let line = try parse(
            """
            {"token":"\(Self.token)","apns-topic":"com.example.app","apns-push-type":"alert","apns-priority":5,\
            "apns-expiration":1798761600,"apns-collapse-id":"c","apns-id":"123E4567-e89b-12d3-a456-4266554400a0",\
            "payload":\(payload),"tag":"t\\u00e9g","producer":"billing","token-registered-at":"2026-11-21T01:24:38.250+01:00",\
            "guarantee":"at-most-once","environment":"sandbox"}
            """)
        let notification = try #require(line.notifications.first)
        #expect(line.notifications.count == 1)
        #expect(notification.recipient.text == Self.token)
        #expect(notification.topic == "com.example.app")
        #expect(notification.pushType == .alert)
        #expect(notification.priority == .considerate)
        #expect(notification.expiration == .at(1_798_761_600))
        #expect(notification.collapseID == "c")
        #expect(notification.id == NotificationID("123e4567-e89b-12d3-a456-4266554400a0"))
        #expect(notification.payload == Array(payload.utf8))
        #expect(notification.tag == Array("tég".utf8))
        #expect(notification.tokenRegisteredAt == WallTime(milliseconds: 1_795_220_678_250))
        #expect(notification.guarantee == .atMostOnce)
        #expect(notification.environment == .sandbox)
        #expect(line.producer == "billing")
    }

    @Test("When it may go, the context and newest wins are members, also under the names of header fields")
    func choices() throws {
        for prefix in ["", "holdfast-"] {
            let line = try parse(
                """
                {"token":"ab","payload":{},"\(prefix)deliver-after":"2027-01-15T10:00:00+02:00",\
                "\(prefix)deliver-within":"22:00-06:30 Europe/Berlin","\(prefix)context":"c\\u00e9 \\" 7",\
                "\(prefix)newest-wins":true,"\(prefix)tag":"t","\(prefix)producer":"p",\
                "\(prefix)environment":"sandbox"}
                """, topic: "x")
            let notification = line.notifications[0]
            #expect(notification.deliverAfter == WallTime(seconds: 1_800_000_000))
            #expect(notification.deliveryHours?.description == "22:00-06:30 Europe/Berlin")
            #expect(notification.context == Array("cé \" 7".utf8))
            #expect(notification.newestWins)
            #expect(notification.tag == Array("t".utf8) && line.producer == "p")
            #expect(notification.environment == .sandbox)
        }
        let plain = try parse(
            #"{"token":"ab","payload":{},"deliver-after":1800000000,"newest-wins":false}"#, topic: "x")
        #expect(plain.notifications[0].deliverAfter == WallTime(seconds: 1_800_000_000))
        #expect(!plain.notifications[0].newestWins)
        for (member, words) in [
            (#""deliver-after":"tomorrow""#, "deliver-after"), (#""deliver-after":-1"#, "deliver-after"),
            (#""deliver-after":true"#, "deliver-after"), (#""deliver-within":"9-18""#, "HH:MM-HH:MM ZONE"),
            (#""deliver-within":"09:00-18:00 Nowhere/None""#, "no time zone"), (#""context":7"#, "context"),
            (#""newest-wins":"true""#, "newest-wins"), (#""tag":"a","holdfast-tag":"b""#, "comes twice"),
        ] {
            do {
                _ = try parse(#"{"token":"ab","payload":{},\#(member)}"#, topic: "x")
                Issue.record("\(member) was taken")
            } catch {
                #expect("\(error)".contains(words), "\(member): \(error)")
            }
        }
    }

    @Test("Token and payload are enough when a topic is given")
    func needsLittle() throws {
        let notification = try parse(#"{"token":"ab","payload":{}}"#, topic: "com.example").notifications[0]
        #expect(notification.topic == "com.example")
        #expect(notification.expiration == nil)
        #expect(notification.id == nil)
        #expect(notification.guarantee == .atLeastOnce)
        #expect(
            try parse(#"{"token":"ab","payload":{},"apns-topic":"x","tag":null,"apns-id":null}"#).notifications[0].topic
                == "x")
        #expect(
            try parse(#"{"token":"ab","payload":{},"apns-expiration":0}"#, topic: "x").notifications[0].expiration
                == .once)
        #expect(
            try parse(#"{"token":"ab","payload":{},"token-registered-at":1700000000}"#, topic: "x").notifications[0]
                .tokenRegisteredAt
                == WallTime(seconds: 1_700_000_000))
    }

    @Test("A recipient that is null is absent, beside one that is not")
    func nullRecipients() throws {
        let channel = #""channel":"dHN0LXNyY2gtY2hubA==","payload":{}"#
        let token = #""token":"ab","payload":{}"#
        let broadcast = try parse(#"{"token":null,"tokens":null,\#(channel)}"#, topic: "x").notifications[0]
        #expect(broadcast.pushType == .liveactivity)
        let single = try parse(#"{"channel":null,"tokens":null,\#(token)}"#, topic: "x").notifications[0]
        #expect(single.recipient.text == "ab")
        let several = #"{"token":null,"channel":null,"tokens":["ab","cd"],"payload":{}}"#
        #expect(try parse(several, topic: "x").notifications.map(\.recipient.text) == ["ab", "cd"])
        let none = #expect(throws: LineFault.self) { try parse(#"{"token":null,"payload":{}}"#, topic: "x") }
        #expect(none?.reason == .missingDeviceToken)
        #expect(throws: LineFault.self) { try parse(#"{"token":null,"token":"ab","payload":{}}"#, topic: "x") }
    }

    @Test("An empty tag is refused, as over HTTP/2")
    func emptyTag() throws {
        let fault = #expect(throws: LineFault.self) { try parse(#"{"token":"ab","payload":{},"tag":""}"#, topic: "x") }
        #expect(fault?.detail == #""tag" is empty: leave it out for none"#)
    }

    @Test("A channel makes it a broadcast, whose expiration 0 is not one attempt")
    func channel() throws {
        let line = try parse(#"{"channel":"dHN0LXNyY2gtY2hubA==","apns-expiration":0,"payload":{"a":1}}"#, topic: "x")
        let broadcast = try #require(line.notifications.first)
        #expect(broadcast.recipient == .channel(try BroadcastChannel("dHN0LXNyY2gtY2hubA==")))
        #expect(broadcast.pushType == .liveactivity)
        #expect(broadcast.expiration == nil)
        let stored = try parse(#"{"channel":"AAAA","apns-expiration":4000000000,"payload":{}}"#, topic: "x")
        #expect(stored.notifications.map(\.expiration) == [.at(4_000_000_000)])
    }

    @Test("try-until bounds the trying of what the service is to store nothing of, or is told nothing of")
    func tryUntil() throws {
        for (said, kind) in [
            ("", Expiration.unstated(until: 4_000_000_000)),
            (#""apns-expiration":0,"#, .unstored(until: 4_000_000_000)),
        ] {
            let line = try parse(#"{"token":"01",\#(said)"try-until":4000000000,"payload":{}}"#, topic: "x")
            #expect(line.notifications.map(\.expiration) == [kind])
        }
        for bad in [#""apns-expiration":5,"try-until":6"#, #""try-until":0"#, #""try-until":"soon""#] {
            #expect(throws: LineFault.self) { try parse(#"{"token":"01",\#(bad),"payload":{}}"#, topic: "x") }
        }
    }

    @Test(
        "A channel that is none, or beside a token, is refused",
        arguments: [
            (#""channel":"no base64""#, "BadChannelId"), (#""channel":"""#, "MissingChannelId"),
            (#""channel":7"#, "must be a string"), (#""channel":"AAAA","token":"01""#, "has both"),
            (#""tokens":["01"],"channel":"AAAA""#, "has both"),
        ])
    func badChannel(members: String, word: String) throws {
        let fault = #expect(throws: LineFault.self) { try parse(#"{\#(members),"payload":{}}"#, topic: "x") }
        #expect(fault?.description.contains(word) == true, "\(fault as Any)")
    }

    @Test("Several tokens are as many notifications, each with an apns-id of its own")
    func manyTokens() throws {
        let line = try parse(#"{"tokens":["01","02","03"],"payload":{"a":1}}"#, topic: "x")
        #expect(line.notifications.map(\.recipient.text) == ["01", "02", "03"])
        #expect(line.notifications.allSatisfy { $0.id == nil && $0.payload == Array(#"{"a":1}"#.utf8) })
    }

    @Test(
        "A bad line is refused with a reason that names what is wrong",
        arguments: [
            (#"{"token":"ab","payload":{},"apns-topicc":"x"}"#, #"unknown key "apns-topicc""#),
            (#"{"token":"ab","payload":{},"\u001b[31m\u0007":"x"}"#, "unknown key \"\u{FFFD}[31m\u{FFFD}\""),
            (#"{"token":"ab","token":"cd","payload":{}}"#, #""token" comes twice"#),
            (#"{"token":"ab","tokens":["cd"],"payload":{}}"#, #"has both "token" and "tokens""#),
            (#"{"payload":{}}"#, #"MissingDeviceToken: has no "token""#),
            (#"{"tokens":[],"payload":{}}"#, #"MissingDeviceToken: has no "token""#),
            (#"{"token":"","payload":{}}"#, "MissingDeviceToken: the device token is empty"),
            (
                #"{"token":"abc","payload":{}}"#,
                "BadDeviceToken: a device token has an even number of hex digits, 2 to 200; this one has 3"
            ),
            (#"{"token":"zz","payload":{}}"#, "BadDeviceToken: a device token has hex digits only"),
            (#"{"token":7,"payload":{}}"#, #""token" must be a string"#),
            (#"{"tokens":"ab","payload":{}}"#, #""tokens" must be an array of strings"#),
            (#"{"tokens":["ab",1],"payload":{}}"#, #""tokens" must be a string"#),
            (#"{"token":"ab"}"#, #"PayloadEmpty: has no "payload""#),
            (#"{"token":"ab","payload":"{}"}"#, #"PayloadNotJSON: "payload" must be an object"#),
            (#"{"token":"ab","payload":{},"apns-priority":9}"#, #"BadPriority: "apns-priority" must be 10, 5 or 1"#),
            (#"{"token":"ab","payload":{},"apns-priority":"10"}"#, #"BadPriority: "apns-priority" must be 10, 5 or 1"#),
            (#"{"token":"ab","payload":{},"apns-priority":266}"#, #"BadPriority: "apns-priority" must be 10, 5 or 1"#),
            (
                #"{"token":"ab","payload":{},"apns-expiration":-1}"#,
                #"BadExpirationDate: "apns-expiration" must be whole Unix seconds, or 0"#
            ),
            (
                #"{"token":"ab","payload":{},"apns-expiration":1.5}"#,
                #"BadExpirationDate: "apns-expiration" must be whole Unix seconds, or 0"#
            ),
            (
                #"{"token":"ab","payload":{},"apns-id":"x"}"#,
                #"BadMessageId: "apns-id" must be a UUID of 36 characters"#
            ),
            (
                #"{"tokens":["ab","cd"],"payload":{},"apns-id":"123e4567-e89b-12d3-a456-4266554400a0"}"#,
                #"BadMessageId: one "apns-id" cannot name the notifications of several tokens"#
            ),
            (
                #"{"token":"ab","payload":{},"guarantee":"maybe"}"#,
                #""guarantee" must be at-least-once or at-most-once"#
            ),
            (
                #"{"token":"ab","payload":{},"environment":"staging"}"#,
                #""environment" must be production or sandbox"#
            ),
            (
                #"{"token":"ab","payload":{},"token-registered-at":"yesterday"}"#,
                #""token-registered-at" must be whole Unix seconds or a time as 2026-11-21T01:24:38Z"#
            ),
            (#"{"token":"ab","payload":{},"tag":1}"#, #""tag" must be a string"#),
            (#"{"token":"ab","payload":{},"apns-collapse-id":"\ud800"}"#, "half of a surrogate pair, at byte 48"),
            (#"{"token":"ab","payload":{"#, "ends in the middle, at byte 26"),
            (#"{"token":"ab","payload":{}} x"#, "something follows the value, at byte 29"),
            ("[]", "not a JSON object, at byte 1"), ("hello", "not a JSON object, at byte 1"),
        ])
    func namesWhatIsWrong(_ text: String, _ reason: String) {
        let fault = #expect(throws: LineFault.self) { try parse(text, topic: "com.example") }
        #expect(fault?.description == reason)
    }

    @Test("A line without a topic needs one from the command line")
    func needsTopic() {
        let fault = #expect(throws: LineFault.self) { try parse(#"{"token":"ab","payload":{}}"#) }
        #expect(fault?.reason == .missingTopic)
    }

    @Test("Google's own form is a message for FCM, with Holdfast's members beside it")
    func messages() throws {
        let line = try parse(
            """
            {"project":"my-app","message":{"data":{ "a":"b" },"fid":"cXy1","android":{"ttl":"60s"}},"tag":"t",\
            "apns-id":"123E4567-e89b-12d3-a456-4266554400a0","producer":"p","guarantee":"at-most-once","context":"c",\
            "token-registered-at":1700000000,"deliver-after":1800000010,"deliver-within":"09:00-18:00 Europe/Berlin"}
            """)
        let notification = try #require(line.notifications.first)
        #expect(line.notifications.count == 1 && line.producer == "p")
        #expect(notification.recipient.notation == "fid:cXy1" && notification.topic == "my-app")
        #expect(notification.payload == Array(#"{"data":{"a":"b"},"android":{"ttl":"60s"}}"#.utf8))
        #expect(notification.expiration == .at(1_800_000_060) && notification.priority == .considerate)
        #expect(notification.guarantee == .atMostOnce && notification.tag == Array("t".utf8))
        #expect(notification.id == NotificationID("123e4567-e89b-12d3-a456-4266554400a0"))
        #expect(notification.tokenRegisteredAt == WallTime(seconds: 1_700_000_000))
        #expect(notification.deliverAfter == WallTime(seconds: 1_800_000_010) && notification.deliveryHours != nil)
        #expect(notification.context == Array("c".utf8))
        let short = try parse(#"{"message":{"topic":"news"},"try-until":1800000500}"#, topic: "com.x", project: "q")
        #expect(short.notifications[0].topic == "q" && short.notifications[0].recipient.notation == "fcm-topic:news")
        #expect(short.notifications[0].expiration == .unstated(until: 1_800_000_500))
    }

    @Test(
        "A line is for Apple's services or for Google's, and says what a message lacks",
        arguments: [
            (#"{"message":{"fid":"a"},"token":"ab"}"#, "is for one"),
            (#"{"message":{"fid":"a"},"payload":{}}"#, "is for one"),
            (#"{"message":{"fid":"a"},"apns-priority":5}"#, "is for one"),
            (#"{"project":"p"}"#, "has no \"message\""),
            (#"{"message":{"fid":"a"}}"#, "has no \"project\""),
            (#"{"project":"p","message":[]}"#, "must be an object"),
            (#"{"project":"p","message":{"data":{}}}"#, "is not set"),
            (#"{"project":"p","message":{"fid":"a","topic":"b"}}"#, "Exactly one of the fields"),
        ])
    func contradictsMessages(text: String, words: String) {
        let fault = #expect(throws: LineFault.self) { try parse(text, topic: "x") }
        #expect("\(fault.map { "\($0)" } ?? "")".contains(words))
    }

    @Test("Lines full of tokens are bounded")
    func boundsTokens() throws {
        let limit = NotificationLine.maximumTokenCount
        func line(_ count: Int) -> String {
            #"{"payload":{},"tokens":[\#(Array(repeating: #""ab""#, count: count).joined(separator: ","))]}"#
        }
        #expect(try parse(line(limit), topic: "x").notifications.count == limit)
        #expect(throws: LineFault.self) { try parse(line(limit + 1), topic: "x") }
    }

    @Test(
        "Damaged lines are refused or taken, and never crash", arguments: [UInt64(1), 2, UInt64.random(in: 3 ... .max)])
    func survivesDamage(seed: UInt64) {
        var state = seed
        func random(_ bound: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % bound
        }
        let good = Array(
            #"{"tokens":["ab","cd"],"apns-topic":"x","apns-priority":10,"apns-expiration":17,"payload":{"a":"\u00e9"},"tag":"é"}"#
                .utf8)
        for _ in 0..<5000 {
            var line = good
            for _ in 0...random(3) {
                switch random(3) {
                case 0: line[random(line.count)] = UInt8(random(256))
                case 1: line.remove(at: random(line.count))
                default: line.insert(line[random(line.count)], at: random(line.count))
                }
            }
            _ = try? NotificationLine(line, in: 0..<line.count)
        }
    }

    private func parse(_ text: String, topic: String? = nil, project: String? = nil) throws -> NotificationLine {
        // In the middle of other bytes, as in a file.
        let before = Array("{}\n".utf8)
        let line = Array(text.utf8)
        return try NotificationLine(
            before + line + Array("\n]".utf8), in: before.count..<before.count + line.count,
            defaults: LineDefaults(topic: topic, project: project), now: WallTime(seconds: 1_800_000_000))
    }
}

@Suite("Times")
struct TimestampTests {
    @Test(
        "RFC 3339 is read",
        arguments: [
            ("1970-01-01T00:00:00Z", 0), ("1970-01-01t00:00:01z", 1000), ("1970-01-01 00:00:00.5Z", 500),
            ("1970-01-01T00:00:00.123456Z", 123), ("1970-01-01T01:00:00+01:00", 0), ("1969-12-31T19:00:00-05:00", 0),
            ("2000-02-29T12:00:00Z", 951_825_600_000), ("2026-11-21T01:24:38Z", 1_795_224_278_000),
            ("1969-12-31T23:59:59Z", -1000),
            ("2016-12-31T23:59:60Z", 1_483_228_799_000),
        ])
    func reads(_ text: String, _ milliseconds: Int64) {
        #expect(Timestamp.parse(text) == WallTime(milliseconds: milliseconds))
    }

    @Test(
        "What is no RFC 3339 is not read",
        arguments: [
            "", "2026", "2026-11-21", "2026-11-21T01:24:38", "2026-13-01T00:00:00Z", "2026-02-29T00:00:00Z",
            "1900-02-29T00:00:00Z",
            "2026-11-21T24:00:00Z", "2026-11-21T01:60:00Z", "2026-11-21T01:24:61Z", "2026-11-21T01:24:38.Z",
            "2026-11-21T01:24:38+1:00",
            "2026-11-21T01:24:38Z ", "2026-00-01T00:00:00Z", "2026-01-00T00:00:00Z", "２０26-11-21T01:24:38Z",
        ])
    func refuses(_ text: String) {
        #expect(Timestamp.parse(text) == nil)
    }

    @Test("What is written is read again as it was")
    func roundTrips() {
        for day in stride(from: -800_000, through: 2_000_000, by: 997) {
            let time = WallTime(milliseconds: Int64(day) * 86_400_000 + 45_296_007)
            let text = Timestamp.format(time)
            // Years before 0 or after 9999 cannot be written.
            guard (-719_000..<2_900_000).contains(day) else { continue }
            #expect(Timestamp.parse(text) == time, "\(text)")
        }
        #expect(Timestamp.format(WallTime(seconds: 1_795_224_278)) == "2026-11-21T01:24:38Z")
        #expect(Timestamp.format(WallTime(milliseconds: .max)) == "9999-12-31T23:59:59Z")
        #expect(Timestamp.format(WallTime(milliseconds: .min)) == "0001-01-01T00:00:00Z")
        #expect([0, -1, -1000, -1001, 999].map { WallTime(milliseconds: $0).seconds } == [0, -1, -1, -2, 0])
    }
}
