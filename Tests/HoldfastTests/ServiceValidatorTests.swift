import Testing

@testable import Holdfast

@Suite("What goes to another service than Apple's")
struct ServiceValidatorTests {
    private let now = WallTime(seconds: 1_800_000_000)
    private static let limits = NotificationLimits.service(
        ServiceLimits(kinds: [.firebaseInstallation, .firebaseTopic], payloadKinds: [.json, .sealed, .none]),
        payload: 4000, collapseID: 32)

    private func reason(
        _ limits: NotificationLimits = limits, _ change: (inout PushNotification) -> Void = { _ in }
    ) -> Reason? {
        var notification = PushNotification(
            address: ServiceAddress(checked: .firebaseInstallation, Array("cXy1".utf8)), topic: "project-1",
            payload: Array("{}".utf8))
        change(&notification)
        do throws(Refusal) {
            try NotificationValidator(limits: limits).validate(notification, now: now)
            return nil
        } catch {
            return error.reason
        }
    }

    private func address(_ kind: ServiceAddress.Kind) -> Recipient {
        .service(ServiceAddress(checked: kind, Array("x".utf8)))
    }

    @Test("passes, with all that the service has") func sound() {
        #expect(reason() == nil)
        #expect(reason { $0.recipient = address(.firebaseTopic) } == nil)
        #expect(reason { $0.collapseID = String(repeating: "x", count: 32) } == nil)
        #expect(reason { $0.payload = Array(repeating: 0x20, count: 3998) + Array("{}".utf8) } == nil)
        #expect(reason { ($0.payload, $0.payloadKind) = ([0, 0xFF], .sealed) } == nil)
        #expect(reason { ($0.payload, $0.payloadKind) = ([], .none) } == nil)
        #expect(reason { $0.priority = .low } == nil)
    }

    @Test("has an address of a kind that the service takes") func recipients() throws {
        for recipient in [
            address(.firebaseToken), address(.webPush), address(ServiceAddress.Kind(rawValue: 200)),
            .device(Sample.token), .channel(BroadcastChannel(checked: "dHN0LXNyY2gtY2hubA==")),
        ] {
            #expect(reason { $0.recipient = recipient } == .recipientUnsupported)
        }
        var unknown = Self.limits
        unknown = .service(ServiceLimits(kinds: [ServiceAddress.Kind(rawValue: 200)]), payload: 10, collapseID: 0)
        #expect(reason(unknown) { $0.recipient = address(ServiceAddress.Kind(rawValue: 200)) } == nil)
    }

    @Test("is refused by each of the other rules") func refusals() {
        #expect(reason { $0.pushType = .alert } == .invalidPushType)
        #expect(reason { $0.payloadKind = PayloadKind(rawValue: 77) } == .payloadUnsupported)
        #expect(reason { $0.payloadKind = .none } == .payloadUnsupported)
        #expect(reason { $0.payload = [] } == .payloadEmpty)
        #expect(reason { ($0.payload, $0.payloadKind) = ([], .sealed) } == .payloadEmpty)
        #expect(reason { $0.payload = Array("[]".utf8) } == .payloadNotJSON)
        #expect(reason { $0.payload = Array(repeating: 0x20, count: 3999) + Array("{}".utf8) } == .payloadTooLarge)
        #expect(
            reason { ($0.payload, $0.payloadKind) = (Array(repeating: 0, count: 4001), .sealed) } == .payloadTooLarge)
        #expect(reason { $0.collapseID = String(repeating: "x", count: 33) } == .badCollapseID)
        #expect(reason { $0.collapseID = "" } == .badCollapseID)
        #expect(reason { $0.topic = "" } == .missingTopic)
        #expect(reason { $0.topic = "a b" } == .badTopic)
        #expect(reason { $0.topic = String(repeating: "x", count: 256) } == .badTopic)
        #expect(reason { $0.expiration = .at(now.seconds) } == .badExpirationDate)
        #expect(reason { $0.tag = Array(repeating: 0, count: 257) } == .tagTooLong)
    }

    @Test("has no collapse id where the service has none, and no topic but its credentials'") func scarce() {
        let limits = NotificationLimits.service(
            ServiceLimits(kinds: [.firebaseInstallation]), payload: 4000, collapseID: 0, topics: ["project-1"])
        #expect(reason(limits) == nil)
        #expect(reason(limits) { $0.collapseID = "x" } == .badCollapseID)
        #expect(reason(limits) { ($0.payload, $0.payloadKind) = ([1], .sealed) } == .payloadUnsupported)
        #expect(reason(limits) { $0.topic = "project-2" } == .topicDisallowed)
    }

    @Test("has no more than a record holds, whatever its connector allows") func room() throws {
        let limits = NotificationLimits.service(
            ServiceLimits(kinds: [.webPush], payloadKinds: [.sealed]), payload: .max, collapseID: .max)
        var notification = PushNotification(
            address: ServiceAddress(checked: .webPush, Array(repeating: 0x78, count: ServiceAddress.maximumByteCount)),
            topic: String(repeating: "x", count: 255),
            payload: Array(repeating: 0, count: PackedNotification.maximumPayloadByteCount), payloadKind: .sealed,
            collapseID: String(repeating: "x", count: 64), registeredAt: now, tag: Array(repeating: 0, count: 256),
            context: Array(repeating: 0, count: PackedNotification.maximumContextByteCount),
            deliverAfter: now.advanced(by: .seconds(60)), newestWins: true)
        notification.deliveryHours = DeliveryHours(
            checkedFrom: 0, until: 1439, timeZone: "America/Argentina/" + String(repeating: "x", count: 46))
        #expect(reason(limits) { $0 = notification } == nil)
        var bytes: [UInt8] = []
        PackedNotification.append(
            notification, id: NotificationID(high: 1, low: 2), expiration: .once, acceptedAt: now,
            producer: String(repeating: "p", count: 255), retryOf: UID(7), to: &bytes)
        #expect(bytes.count <= PackedNotification.maximumByteCount)
        #expect(try PackedNotification.Fields(bytes.span, in: 0..<bytes.count).payload.upperBound == bytes.count)
        notification.payload.append(0)
        #expect(reason(limits) { $0 = notification } == .payloadTooLarge)
        notification.payload.removeLast()
        notification.collapseID = String(repeating: "x", count: 300)
        #expect(reason(limits) { $0 = notification } == .badCollapseID)
    }

    @Test("is refused by Apple's routes, and by those payloads that are sealed or none") func apple() {
        #expect(reason(.http2) == .recipientUnsupported)
        for kind in [PayloadKind.sealed, .none, PayloadKind(rawValue: 77)] {
            #expect(
                reason(.http2) { ($0.recipient, $0.payloadKind) = (.device(Sample.token), kind) } == .payloadUnsupported
            )
        }
    }
}
