import Testing

@testable import Holdfast

@Suite struct NotificationValidatorTests {
    let now = WallTime(seconds: 1_800_000_000)

    private func reason(_ change: (inout PushNotification) -> Void) -> Reason? {
        var notification = Sample.notification()
        change(&notification)
        do throws(Refusal) {
            try NotificationValidator().validate(notification, now: now)
            return nil
        } catch {
            return error.reason
        }
    }

    @Test("A sound notification passes") func sound() {
        #expect(reason { _ in } == nil)
        #expect(reason { $0.payload = Array(repeating: 0x20, count: 4094) + Array("{}".utf8) } == nil)
        #expect(reason { $0.collapseID = String(repeating: "x", count: 64) } == nil)
        #expect(reason { $0.expiration = .once } == nil)
    }

    @Test("What Apple would refuse is refused in Apple's words") func apple() {
        #expect(reason { $0.payload = [] } == .payloadEmpty)
        #expect(reason { $0.payload = Array(repeating: 0x20, count: 4095) + Array("{}".utf8) } == .payloadTooLarge)
        #expect(reason { $0.collapseID = String(repeating: "x", count: 65) } == .badCollapseID)
        #expect(reason { $0.collapseID = String(repeating: "é", count: 33) } == .badCollapseID)
        #expect(reason { $0.collapseID = "" } == .badCollapseID)
        #expect(reason { $0.topic = "" } == .missingTopic)
        #expect(reason { $0.topic = "com.example app" } == .badTopic)
        #expect(reason { $0.topic = "com.example\r\nx" } == .badTopic)
        #expect(reason { $0.pushType = PushType(rawValue: "loud") } == .invalidPushType)
        // Some senders write 10 unless they are told: Apple judges that.
        for priority in [.immediate, .considerate, .low] as [Priority] {
            #expect(reason { ($0.pushType, $0.priority) = (.background, priority) } == nil)
        }
        #expect(reason { $0.expiration = .at(1_799_999_999) } == .badExpirationDate)
        #expect(reason { $0.expiration = .at(-5) } == .badExpirationDate)
    }

    private func broadcastReason(_ change: (inout PushNotification) -> Void = { _ in }) -> Reason? {
        reason { notification in
            notification = PushNotification(
                channel: BroadcastChannel(checked: "dHN0LXNyY2gtY2hubA=="), topic: "com.example.app",
                payload: Array("{}".utf8))
            change(&notification)
        }
    }

    @Test("A broadcast has the bundle identifier for its topic, push type liveactivity and no collapse id")
    func broadcast() {
        #expect(broadcastReason() == nil)
        #expect(broadcastReason { $0.priority = .low } == nil)
        for type in [nil, .alert, .background] as [PushType?] {
            #expect(broadcastReason { $0.pushType = type } == .invalidPushType)
        }
        for topic in [
            "com.example.app.push-type.liveactivity", "com.example/app", "com.example.app?x", "com.example%2Fapp",
            "..\u{2F}x",
        ] {
            #expect(broadcastReason { $0.topic = topic } == .badTopic)
        }
        #expect(broadcastReason { $0.topic = "" } == .missingTopic)
        #expect(broadcastReason { $0.collapseID = "a" } == .badCollapseID)
        #expect(broadcastReason { $0.expiration = .unstored(until: 1_799_999_999) } == .badExpirationDate)
        #expect(broadcastReason { $0.expiration = .unstored(until: 1_800_000_001) } == nil)
    }

    @Test("A broadcast may have 5120 bytes, and no more") func broadcastSize() {
        let largest = Array(repeating: UInt8(0x20), count: 5118) + Array("{}".utf8)
        #expect(broadcastReason { $0.payload = largest } == nil)
        #expect(broadcastReason { $0.payload = largest + [0x20] } == .payloadTooLarge)
    }

    @Test("VoIP may have 5120 bytes, and no more") func voip() {
        let largest = Array(repeating: UInt8(0x20), count: 5118) + Array("{}".utf8)
        #expect(reason { ($0.pushType, $0.payload) = (.voip, largest) } == nil)
        #expect(reason { ($0.pushType, $0.payload) = (.voip, largest + [0x20]) } == .payloadTooLarge)
    }

    @Test(
        "A payload that is not a JSON object is refused before it is journaled",
        arguments: [
            "[]", "1", "{", "{}x", "{'a':1}", "{\"a\":NaN}", "\u{FEFF}{}", "null",
        ])
    func payloadNotJSON(_ text: String) {
        #expect(reason { $0.payload = Array(text.utf8) } == .payloadNotJSON)
    }

    @Test("A payload that is not UTF-8 is refused") func notUTF8() {
        #expect(reason { $0.payload = Array("{\"a\":\"".utf8) + [0xFF] + Array("\"}".utf8) } == .payloadNotJSON)
    }

    @Test("A tag of 256 bytes passes, one of 257 does not") func tag() {
        #expect(reason { $0.tag = Array(repeating: 1, count: 256) } == nil)
        #expect(reason { $0.tag = Array(repeating: 1, count: 257) } == .tagTooLong)
    }

    @Test("A context of 4096 bytes passes, one of 4097 does not") func context() {
        #expect(reason { $0.context = Array(repeating: 1, count: 4096) } == nil)
        #expect(reason { $0.context = Array(repeating: 1, count: 4097) } == .contextTooLong)
    }

    @Test("The newest wins among those with one collapse id, so it needs one") func newestWins() {
        #expect(reason { $0.newestWins = true } == .newestWinsUnsupported)
        #expect(reason { ($0.newestWins, $0.collapseID) = (true, "score") } == nil)
    }

    @Test("A delivery time is past, or before the expiration, and at most 366 days ahead") func deliveryTime() throws {
        let later = now.advanced(by: .seconds(60))
        #expect(reason { $0.deliverAfter = WallTime(seconds: 0) } == nil)
        #expect(reason { $0.deliverAfter = WallTime(milliseconds: .min) } == nil)
        #expect(reason { $0.deliverAfter = later } == nil)
        #expect(reason { ($0.deliverAfter, $0.expiration) = (later, .at(later.seconds + 1)) } == nil)
        #expect(reason { ($0.deliverAfter, $0.expiration) = (later, .once) } == nil)
        #expect(reason { ($0.deliverAfter, $0.expiration) = (later, .at(later.seconds)) } == .badDeliveryTime)
        #expect(
            reason { ($0.deliverAfter, $0.expiration) = (later, .unstored(until: later.seconds)) } == .badDeliveryTime)
        #expect(reason { $0.deliverAfter = now.advanced(by: .seconds(366 * 86400)) } == nil)
        #expect(reason { $0.deliverAfter = now.advanced(by: .seconds(366 * 86400 + 1)) } == .badDeliveryTime)
        // A time in milliseconds where seconds are meant.
        #expect(reason { $0.deliverAfter = WallTime(seconds: 1_800_000_000_000) } == .badDeliveryTime)
        // Now it is 08:00 in UTC.
        let hours = try DeliveryHours("09:00-18:00 UTC")
        #expect(reason { ($0.deliveryHours, $0.expiration) = (hours, .at(now.seconds + 3601)) } == nil)
        #expect(reason { ($0.deliveryHours, $0.expiration) = (hours, .at(now.seconds + 3600)) } == .badDeliveryHours)
        func both(_ seconds: Int64) -> Reason? {
            reason {
                ($0.deliverAfter, $0.deliveryHours, $0.expiration) = (later, hours, .at(now.seconds + seconds))
            }
        }
        #expect(both(60) == .badDeliveryTime && both(61) == .badDeliveryHours && both(3601) == nil)
    }

    @Test("A token was registered before, or within a day by a clock that differs") func registration() {
        let day = Duration.seconds(86400)
        #expect(reason { $0.tokenRegisteredAt = WallTime(seconds: 0) } == nil)
        #expect(reason { $0.tokenRegisteredAt = now.advanced(by: day) } == nil)
        #expect(
            reason { $0.tokenRegisteredAt = now.advanced(by: day + .milliseconds(1)) } == .badRegistrationTime)
        // Milliseconds where seconds are meant.
        #expect(reason { $0.tokenRegisteredAt = WallTime(seconds: now.milliseconds) } == .badRegistrationTime)
    }

    @Test("A header cannot be smuggled in through a collapse id", arguments: ["a\r\nb", "a\u{0}b", " a", "a "])
    func injection(_ text: String) {
        #expect(reason { $0.collapseID = text } == .badCollapseID)
    }
}
