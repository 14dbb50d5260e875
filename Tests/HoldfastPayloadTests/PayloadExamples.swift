import Foundation
import Holdfast
import HoldfastPayload

struct Order: Encodable {
    var number: Int
    var items: [String]
}

struct Delivery: Codable {
    var driver: String
    var arrives: Date
}

/// What Docs/Guide/Payload.md shows.
enum PayloadExamples {
    static func alert() -> APNsPayload {
        APNsPayload(alert: "Your table is ready", badge: 1, sound: .default)
    }

    static func everything(order: Order) throws -> APNsPayload {
        var payload = APNsPayload()
        payload.alert = .init(title: "Reservation", subtitle: "Tonight", body: "Your table is ready")
        payload.badge = 0
        payload.sound = .critical("siren.caf", volume: 0.8)
        payload.interruptionLevel = .timeSensitive
        payload.threadID = "reservations"
        payload.isMutableContent = true
        payload["table"] = 12
        payload["order"] = try .encoding(order)
        return payload
    }

    static func localized() -> APNsPayload {
        var payload = APNsPayload(alert: .init())
        payload.alert?.localizedTitle = .init("RESERVATION")
        payload.alert?.localizedBody = .init("TABLE_READY", "Anna", "12")
        return payload
    }

    static func liveActivity(_ delivery: Delivery) throws -> APNsPayload {
        var payload = try APNsPayload.liveActivity(.update, contentState: delivery)
        payload.staleDate = delivery.arrives
        payload.alert = .init(title: "Nearly there", body: "\(delivery.driver) is around the corner")
        return payload
    }

    static func broadcast(_ delivery: Delivery, on channel: BroadcastChannel) throws -> PushNotification {
        let payload = try APNsPayload.liveActivity(.update, contentState: delivery)
        return try PushNotification(channel: channel, topic: "com.example.app", payload: payload)
    }

    static func send(_ text: String, to token: DeviceToken, with producer: Producer) async throws -> UID {
        let payload = try APNsPayload(alert: .init(text), sound: .default).shortened()
        let notification = try PushNotification(token: token, topic: "com.example.app", payload: payload)
        return try await producer.submit(notification)
    }

    static func android(to fid: String) throws -> PushNotification {
        var payload = FCMPayload(title: "Reservation", body: "Your table is ready")
        payload.data["table"] = "12"
        payload.android = .init(priority: .high, timeToLive: .seconds(3600))
        payload.android?.notification = .init()
        payload.android?.notification?.channelID = "reservations"
        payload.apple = .init(payload: APNsPayload(alert: "Your table is ready", sound: .default))
        payload.webPush = .init(link: "https://example.com/reservations")
        let address = try ServiceAddress(.firebaseInstallation, fid)
        return try PushNotification(address: address, project: "my-app-1a2b3", payload: payload)
    }
}
