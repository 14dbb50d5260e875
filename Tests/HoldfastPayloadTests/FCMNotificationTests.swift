import Foundation
import Holdfast
import HoldfastPayload
import Testing

@Suite("Notifications from messages for Firebase Cloud Messaging")
struct FCMNotificationTests {
    private let address: ServiceAddress
    private let now = WallTime(seconds: 1_800_000_000)

    init() throws { address = try ServiceAddress(.firebaseInstallation, "cXy1") }

    private func notification(_ payload: FCMPayload, expiration: Expiration? = nil) throws -> PushNotification {
        try PushNotification(
            address: address, project: "my-app-1a2b3", payload: payload, expiration: expiration, at: now)
    }

    @Test("The target, the project and the bytes are those that were given")
    func plain() throws {
        let payload = FCMPayload(title: "Hi", body: nil)
        let notification = try notification(payload)
        #expect(notification.recipient == .service(address) && notification.topic == "my-app-1a2b3")
        #expect(try notification.payload == payload.encoded())
        #expect(notification.expiration == nil && notification.priority == nil)
    }

    @Test("The time to live says until when it is tried, unless an expiration is given")
    func expiration() throws {
        var payload = FCMPayload(data: ["a": "b"])
        payload.android = .init(timeToLive: .seconds(60))
        #expect(try notification(payload).expiration == .at(1_800_000_060))
        #expect(try notification(payload, expiration: .once).expiration == .once)
        payload.android?.timeToLive = .milliseconds(999)
        #expect(try notification(payload).expiration == .once)
    }

    @Test("The priority follows from what is shown, and from what Android is told")
    func priority() throws {
        #expect(FCMPayload(data: ["a": "b"]).priority == .considerate)
        var payload = FCMPayload(data: ["a": "b"])
        payload.android = .init(priority: .high)
        #expect(payload.priority == .immediate)
        payload = FCMPayload(title: "Hi", body: nil)
        payload.android = .init(priority: .normal)
        #expect(payload.priority == .considerate)
        #expect(FCMPayloadSamples.version2().priority == nil)
        #expect(FCMPayloadSamples.backgroundSync().priority == .considerate)
        payload = FCMPayload()
        payload.android = .init(notification: .init(title: "Hi"))
        #expect(payload.priority == nil)
        payload = FCMPayload()
        payload.apple = .init(payload: APNsPayload(alert: "Hi"))
        #expect(payload.priority == nil)
    }

    @Test("An address of another service is refused")
    func foreign() throws {
        let address = try ServiceAddress(.webPush, "https://push.example.com/1")
        let error = #expect(throws: FCMPayloadError.self) {
            try PushNotification(address: address, project: "p", payload: FCMPayload(title: "Hi", body: nil))
        }
        #expect(error?.message.contains("web-push") == true)
    }
}
