import Foundation
import Holdfast
import HoldfastPayload
import Testing

/// A change that Google would refuse, and the field that the error names.
struct FCMFault: Sendable, CustomTestStringConvertible {
    let field: String
    let change: @Sendable (inout FCMPayload) -> Void

    init(_ field: String, _ change: @escaping @Sendable (inout FCMPayload) -> Void) {
        (self.field, self.change) = (field, change)
    }

    init(shown field: String, _ change: @escaping @Sendable (inout FCMPayload.AndroidNotification) -> Void) {
        self.init("android.notification.\(field)") { payload in
            var shown = FCMPayload.AndroidNotification()
            change(&shown)
            payload.android = .init(notification: shown)
        }
    }

    var testDescription: String { field }

    static let all: [FCMFault] = [
        FCMFault("data has the key from,") { $0.data["from"] = "me" },
        FCMFault("data has the key message_type,") { $0.data["message_type"] = "x" },
        FCMFault("data has the key google.x,") { $0.data["google.x"] = "x" },
        FCMFault("data has the key gcm.notification.x,") { $0.data["gcm.notification.x"] = "x" },
        FCMFault("android.data") {
            $0.android = .init()
            $0.android?.data = ["from": "me"]
        },
        FCMFault("webpush.data") {
            $0.webPush = .init()
            $0.webPush?.data = ["from": "me"]
        },
        FCMFault("fcmOptions.analyticsLabel") { $0.analyticsLabel = "" },
        FCMFault("fcmOptions.analyticsLabel") { $0.analyticsLabel = "two words" },
        FCMFault("apns.fcmOptions.analyticsLabel") {
            $0.apple = .init()
            $0.apple?.analyticsLabel = String(repeating: "x", count: 51)
        },
        FCMFault("android.ttl") { $0.android = .init(timeToLive: .seconds(-1)) },
        FCMFault("android.ttl") { $0.android = .init(timeToLive: .seconds(28 * 86_400 + 1)) },
        FCMFault("androidV2.priority") {
            $0.android = .init(priority: .high)
            $0.android?.version2 = .remoteNotification()
        },
        FCMFault("androidV2.backgroundSync") {
            $0.android = .init(notification: .init(title: "Hi"))
            $0.android?.version2 = .backgroundSync
        },
        FCMFault("androidV2.remoteNotification.notification.proxy") {
            $0.android = .init(notification: .init())
            $0.android?.notification?.proxy = .deny
            $0.android?.version2 = .remoteNotification()
        },
        FCMFault("androidV2.remoteNotification.notification.bypassProxyNotification") {
            $0.android = .init(notification: .init())
            $0.android?.notification?.bypassesProxy = false
            $0.android?.version2 = .remoteNotification()
        },
        FCMFault(shown: "id") { $0.id = 1 },
        FCMFault(shown: "color") { $0.color = "red" },
        FCMFault(shown: "color") { $0.color = "#12345" },
        FCMFault(shown: "color") { $0.color = "#12345g" },
        FCMFault(shown: "notificationCount") { $0.notificationCount = -1 },
        FCMFault(shown: "vibrateTimings") { $0.vibrateTimings = [.seconds(1), .milliseconds(-1)] },
        FCMFault(shown: "eventTime") { $0.eventTime = Date(timeIntervalSince1970: 253_402_300_800) },
        FCMFault(shown: "eventTime") { $0.eventTime = Date(timeIntervalSince1970: -1) },
        FCMFault(shown: "eventTime") { $0.eventTime = Date(timeIntervalSince1970: .nan) },
        FCMFault(shown: "lightSettings.color.green") {
            $0.lightSettings = .init(red: 0, green: 1.1, blue: 0, on: .zero, off: .zero)
        },
        FCMFault(shown: "lightSettings.color.alpha") {
            $0.lightSettings = .init(red: 0, green: 0, blue: 0, alpha: .nan, on: .zero, off: .zero)
        },
        FCMFault(shown: "lightSettings.lightOffDuration") {
            $0.lightSettings = .init(red: 0, green: 0, blue: 0, on: .zero, off: .seconds(-1))
        },
        FCMFault("webpush.fcmOptions.link") { $0.webPush = .init(link: "http://example.com/") },
        FCMFault("apns.payload") { $0.apple = .init(payload: APNsPayload(badge: -1)) },
    ]
}

@Suite("Messages that Google would refuse")
struct FCMPayloadFaultTests {
    @Test("The error names the field", arguments: FCMFault.all)
    func refused(fault: FCMFault) throws {
        var payload = FCMPayload(title: "Hi", body: nil)
        fault.change(&payload)
        let error = #expect(throws: FCMPayloadError.self) { try payload.encoded() }
        #expect(
            error?.kind == .invalid && error?.message.hasPrefix(fault.field) == true, "\(String(describing: error))")
    }

    @Test("Values at the edge of what Google takes are taken")
    func edges() throws {
        var payload = FCMPayload(data: ["fromage": "x", "googlex": "x", "": ""])
        payload.analyticsLabel = String(repeating: "~", count: 50)
        payload.android = .init(timeToLive: .seconds(28 * 86_400), notification: .init())
        payload.android?.notification?.notificationCount = .max
        payload.android?.notification?.eventTime = Date(timeIntervalSince1970: 0)
        payload.webPush = .init(link: "HTTPS://example.com/")
        let bytes = try payload.encoded()
        #expect(try FCMSchema().judge(bytes).faults == [])
        let text = String(decoding: bytes, as: UTF8.self)
        #expect(text.contains(#""ttl":"2419200s""#) && text.contains(#""eventTime":"1970-01-01T00:00:00Z""#))
        payload.android?.timeToLive = .zero
        #expect(String(decoding: try payload.encoded(), as: UTF8.self).contains(#""ttl":"0s""#))
    }

    @Test("A message that is too large names its size and the limit, and is shortened in its body alone")
    func size() throws {
        let payload = FCMPayload(title: "T", body: String(repeating: "ż\"", count: 2000))
        let count = try payload.byteCount()
        let error = #expect(throws: FCMPayloadError.self) { try payload.encoded() }
        #expect(error?.kind == .tooLarge(bytes: count, limit: 4096))
        let shortened = try payload.shortened()
        #expect((4093...4096).contains(try shortened.byteCount()))
        #expect(shortened.notification?.body?.hasSuffix("…") == true && shortened.notification?.title == "T")
        #expect(try shortened.shortened() == shortened)
        #expect(throws: FCMPayloadError.self) { try payload.shortened(to: 20) }
        #expect(throws: FCMPayloadError.self) { try payload.shortened(to: .min) }
        let data = FCMPayload(data: ["x": String(repeating: "x", count: 5000)])
        let noBody = #expect(throws: FCMPayloadError.self) { try data.shortened() }
        #expect(noBody?.message.contains("no body") == true)
    }
}
