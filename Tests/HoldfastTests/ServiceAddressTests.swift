import Testing

@testable import Holdfast

@Suite("An address at another service than Apple's")
struct ServiceAddressTests {
    private typealias Kind = ServiceAddress.Kind

    private static let texts = [
        "x", "cXy1", "dX8Gk0nQSm:APA91bH_-x", "https://push.example:8443/send/a?b=c#d", "a b", "Grüße", "日本",
        "'a' in topics",
        // As its colon's accent it makes one character with it.
        "\u{301}accent", "\u{200D}joined", "#", ":", "1#",
        String(repeating: "x", count: ServiceAddress.maximumByteCount),
    ]

    @Test("that is text is written as KIND:TEXT, and read again", arguments: texts)
    func text(_ text: String) throws {
        for kind in [Kind.firebaseInstallation, .firebaseToken, .firebaseTopic, .firebaseCondition, .webPush] {
            let address = try ServiceAddress(kind, text)
            #expect(address.text == text)
            #expect(address.notation == "\(kind.name):\(text)")
            #expect(try ServiceAddress(notation: address.notation) == address)
            #expect(try Recipient(notation: address.notation) == .service(address))
        }
    }

    @Test(
        "that is no text is written as KIND#HEX, and read again",
        arguments: [
            [0], [0xFF], [0x20, 0x61], [0x61, 0x20], [0x61, 0x0A, 0x62], [0xC2, 0x9B, 0x31], [0x7F], [0xC3],
        ]
            as [[UInt8]])
    func hex(_ bytes: [UInt8]) throws {
        let address = try ServiceAddress(.webPush, bytes: bytes)
        #expect(address.notation == "web-push#\(Hex.string(bytes))")
        #expect(try ServiceAddress(notation: address.notation) == address)
        #expect(try ServiceAddress(notation: "web-push#\(Hex.string(bytes).uppercased())") == address)
        #expect(try Recipient(notation: address.notation) == .service(address))
    }

    @Test("is read again from its notation, whatever its bytes and its kind", arguments: 0..<500 as Range<UInt64>)
    func anything(seed: UInt64) throws {
        var random = Xoshiro256(seed: seed)
        let bytes = (0..<Int.random(in: 1...40, using: &random)).map { _ in
            UInt8.random(in: .min ... .max, using: &random)
        }
        let kind = Kind(rawValue: UInt8.random(in: 1 ... .max, using: &random))
        let address = try ServiceAddress(kind, bytes: bytes)
        #expect(try Recipient(notation: address.notation) == .service(address))
    }

    private func refusal(_ body: () throws(Refusal) -> Void) -> Reason? {
        do throws(Refusal) {
            try body()
            return nil
        } catch {
            return error.reason
        }
    }

    @Test("has 1 to 2048 bytes") func limits() throws {
        let most = ServiceAddress.maximumByteCount
        #expect(most == 2048)
        #expect(refusal { () throws(Refusal) in _ = try ServiceAddress(.webPush, "") } == .badAddress)
        #expect(refusal { () throws(Refusal) in _ = try ServiceAddress(.webPush, bytes: []) } == .badAddress)
        let long = String(repeating: "x", count: most + 1)
        #expect(refusal { () throws(Refusal) in _ = try ServiceAddress(.webPush, long) } == .badAddress)
        #expect(
            refusal { () throws(Refusal) in _ = try ServiceAddress(.webPush, bytes: Array(long.utf8)) } == .badAddress)
        #expect(try ServiceAddress(.webPush, bytes: [UInt8](repeating: 0, count: most)).bytes.count == most)
        #expect(refusal { () throws(Refusal) in _ = try ServiceAddress(Kind(rawValue: 0), "x") } == .badAddress)
    }

    @Test(
        "as text has no control characters, and no space at its ends",
        arguments: [
            " x", "x ", " ", "a\nb", "a\r\nHost: b", "\0", "a\tb", "a\u{7F}", "a\u{1B}[2J", "a\u{9B}2J", "\u{85}",
        ])
    func controls(_ text: String) {
        #expect(refusal { () throws(Refusal) in _ = try ServiceAddress(.firebaseToken, text) } == .badAddress)
        #expect(
            refusal { () throws(Refusal) in _ = try ServiceAddress(notation: "fcm-token:\(text)") } == .badAddress)
    }

    @Test(
        "is read from no other form",
        arguments: [
            "", "fid", "fid:", "fid#", "fid#0", "fid#0g", "fid#00 ", ":x", "#00", "nobody:x", "0:x", "256:x", "-1:x",
            "+5:x",
            "05:x", "FID:x", " fid:x",
        ])
    func notations(_ text: String) {
        #expect(refusal { () throws(Refusal) in _ = try ServiceAddress(notation: text) } == .badAddress)
    }

    @Test("of a kind that is not known is kept by its number, and is no broadcast") func unknownKinds() throws {
        let address = try ServiceAddress(notation: "200:x")
        #expect(address.kind == Kind(rawValue: 200))
        #expect(address.notation == "200:x")
        #expect(address.kind.name == "200" && !address.kind.isBroadcast)
        #expect(Kind(name: "1") == .firebaseInstallation)
        #expect(try ServiceAddress(notation: "1:x").notation == "fid:x")
    }

    @Test("of each kind has a word of its own, and topics and conditions name no device") func kinds() {
        let words = ["fid", "fcm-token", "fcm-topic", "fcm-condition", "web-push"]
        for (number, word) in zip(1...5, words) {
            let kind = Kind(rawValue: UInt8(number))
            #expect(kind.name == word)
            #expect(Kind(name: word) == kind)
            #expect(kind.isBroadcast == [3, 4].contains(number))
        }
        #expect(Kind(name: "") == nil && Kind(name: "0") == nil)
    }

    @Test("is another one under another kind") func equality() throws {
        let (one, other) = (try ServiceAddress(.firebaseToken, "x"), try ServiceAddress(.firebaseInstallation, "x"))
        #expect(one != other && Set([one, other]).count == 2)
        #expect(Recipient.service(one) != .service(other))
    }

    @Test("does not reach a log whole by accident, where it names a device") func description() throws {
        let token = "dX8Gk0nQSm:APA91bHcdefgh"
        #expect("\(try ServiceAddress(.firebaseToken, token))" == "fcm-token:…efgh")
        #expect("\(try ServiceAddress(.firebaseToken, "short"))" == "fcm-token:…t")
        #expect("\(try ServiceAddress(.firebaseToken, "abc"))" == "fcm-token:…")
        #expect("\(try ServiceAddress(.firebaseInstallation, "device-17"))" == "fid:…17")
        #expect("\(try ServiceAddress(.firebaseInstallation, "𝒶𝒷𝒸𝒹𝑒𝒻"))" == "fid:…𝒻")
        #expect("\(try ServiceAddress(.webPush, bytes: [0, 1, 2, 0xFF]))" == "web-push#…ff")
        #expect("\(try ServiceAddress(.webPush, bytes: [0, 1]))" == "web-push#…")
        #expect("\(try ServiceAddress(.webPush, bytes: [UInt8](0...20)))" == "web-push#…1314")
        #expect("\(try ServiceAddress(.firebaseTopic, "weather"))" == "fcm-topic:weather")
        #expect("\(Recipient.service(try ServiceAddress(.firebaseToken, token)))" == "fcm-token:…efgh")
        // A character may be as long as the whole address.
        let accents = try ServiceAddress(.webPush, String(repeating: "x\u{301}\u{301}\u{301}\u{301}\u{301}", count: 20))
        #expect("\(accents)".unicodeScalars.count < 20)
        let one = try ServiceAddress(.webPush, "secret" + String(repeating: "\u{301}", count: 900))
        #expect(!"\(one)".unicodeScalars.contains("t"))
    }

    @Test("is a recipient that is neither device nor channel") func recipient() throws {
        let recipient = Recipient.service(try ServiceAddress(.firebaseInstallation, "cXy1"))
        #expect(recipient.token == nil && recipient.channel == nil && !recipient.isBroadcast)
        #expect(recipient.device == recipient)
        #expect(recipient.noun == "address" && recipient.text == "cXy1" && recipient.notation == "fid:cXy1")
        #expect(recipient.addressByteCount == recipient.address.count)
        let topic = Recipient.service(try ServiceAddress(.firebaseTopic, "weather"))
        #expect(topic.isBroadcast && topic.device == nil)
    }

    @Test("is told from a device token in the notation of recipients") func recipients() throws {
        #expect(try Recipient(notation: "deadbeef") == .device(try DeviceToken("deadbeef")))
        #expect(refusal { () throws(Refusal) in _ = try Recipient(notation: "deadbeeg") } == .badDeviceToken)
        #expect(refusal { () throws(Refusal) in _ = try Recipient(notation: "") } == .missingDeviceToken)
        #expect(refusal { () throws(Refusal) in _ = try Recipient(notation: "dead:beef") } == .badAddress)
    }
}

@Suite("The identity of a notification")
struct ServiceIdentityTests {
    @Test("is another one for the same bytes as an address of another kind, as a token and as a channel")
    func identities() throws {
        let bytes = Array("dHN0LXNyY2gtY2hubA==".utf8)
        let recipients = [
            Recipient.device(try #require(DeviceToken(bytes: bytes))),
            .channel(BroadcastChannel(checked: "dHN0LXNyY2gtY2hubA==")),
            .service(ServiceAddress(checked: .firebaseInstallation, bytes)),
            .service(ServiceAddress(checked: .webPush, bytes)),
            .service(ServiceAddress(checked: ServiceAddress.Kind(rawValue: 255), bytes)),
        ]
        let identities = recipients.map { recipient in
            Identity(
                PushNotification(recipient: recipient, topic: "t", payload: Array("{}".utf8)),
                id: NotificationID(high: 1, low: 2), submitter: "s", key: IdentityKey(first: 1, second: 2))
        }
        #expect(Set(identities).count == recipients.count)
    }
}

@Suite("The word of another service")
struct ServiceWordTests {
    @Test(
        "is kept where it is a constant",
        arguments: [
            "UNREGISTERED", "SENDER_ID_MISMATCH", "THIRD_PARTY_AUTH_ERROR", "UNAUTHENTICATED", "QUOTA_EXCEEDED",
        ])
    func constants(_ word: String) {
        #expect(Reason(said: word).rawValue == word)
        var labels = ReasonLabels()
        #expect(labels.label(for: Reason(said: word)) == word)
    }

    @Test(
        "is not kept where it may be anything else",
        arguments: [
            "_UNREGISTERED", "DEADBEEFDEADBEEF", "QUOTA EXCEEDED", "QUOTA-EXCEEDED", "A_B_1234", "lower_case",
            String(repeating: "X", count: 49),
        ])
    func others(_ text: String) { #expect(Reason(said: text) == .other) }
}
