import Foundation
import HoldfastPayload

/// Messages with every field that there is, and the JSON that they are to be, written by hand from Google's reference.
enum FCMPayloadSamples {
    static func everything() throws -> FCMPayload {
        var payload = FCMPayload(title: "T", body: "B", image: "https://example.com/i.png")
        payload.data = ["table": "12", "a": "\"quoted\""]
        payload.analyticsLabel = "spring-1"
        payload.android = android()
        payload.android?.notification = notification()
        payload.android?.notification?.proxy = .ifPriorityLowered
        payload.android?.notification?.bypassesProxy = true
        payload.android?.priority = .high
        payload.apple = .init(payload: APNsPayload(alert: "Hi"), headers: ["apns-priority": "5"])
        payload.apple?.liveActivityToken = "abcd"
        payload.apple?.image = "https://example.com/a.png"
        payload.apple?.analyticsLabel = "ios"
        payload.webPush = .init(
            notification: ["icon": "/i.png", "requireInteraction": true], link: "https://example.com/")
        payload.webPush?.headers = ["TTL": "60"]
        payload.webPush?.data = ["w": "1"]
        payload.webPush?.analyticsLabel = "web"
        return payload
    }

    static let everythingJSON =
        flat(
            ##"""
            {"notification":{"title":"T","body":"B","image":"https://example.com/i.png"},
            "data":{"a":"\"quoted\"","table":"12"},
            "android":{"collapseKey":"c","priority":"HIGH","ttl":"3600s","restrictedPackageName":"com.example",
            "data":{"d":"1"},"fcmOptions":{"analyticsLabel":"android"},"directBootOk":true,
            "bandwidthConstrainedOk":true,"restrictedSatelliteOk":true,
            "notification":{\##(notificationJSON),"proxy":"IF_PRIORITY_LOWERED","bypassProxyNotification":true}},
            "apns":{"headers":{"apns-priority":"5"},"payload":{"aps":{"alert":"Hi"}},"liveActivityToken":"abcd",
            "fcmOptions":{"image":"https://example.com/a.png","analyticsLabel":"ios"}},
            "webpush":{"headers":{"TTL":"60"},"data":{"w":"1"},
            "notification":{"icon":"/i.png","requireInteraction":true},
            "fcmOptions":{"link":"https://example.com/","analyticsLabel":"web"}},
            "fcmOptions":{"analyticsLabel":"spring-1"}}
            """##)

    /// What of version 2 there is beside a background sync.
    static func version2() -> FCMPayload {
        var payload = FCMPayload()
        payload.android = android()
        payload.android?.version2 = .remoteNotification(isMutable: true, isDataForVersion1: true)
        payload.android?.notification = notification()
        payload.android?.notification?.id = 7
        return payload
    }

    static let version2JSON =
        flat(
            ##"""
            {"androidV2":{"collapseKey":"c","ttl":"3600s","restrictedPackageName":"com.example","data":{"d":"1"},
            "fcmOptions":{"analyticsLabel":"android"},"directBootOk":true,"bandwidthConstrainedOk":true,
            "restrictedSatelliteOk":true,"remoteNotification":{"mutableContent":true,"useAsV1DataMessage":true,
            "notification":{\##(notificationJSON),"id":7}}}}
            """##)

    static func backgroundSync() -> FCMPayload {
        var payload = FCMPayload(data: ["sync": "1"])
        payload.android = .init()
        payload.android?.version2 = .backgroundSync
        return payload
    }

    static let backgroundSyncJSON = flat(
        ##"""
        {"data":{"sync":"1"},"androidV2":{"backgroundSync":{}}}
        """##)

    /// Without the ends of lines.
    private static func flat(_ text: String) -> String { text.replacing("\n", with: "") }

    private static func android() -> FCMPayload.Android {
        // Rounded down to seconds.
        var android = FCMPayload.Android(timeToLive: .milliseconds(3_600_900))
        android.collapseKey = "c"
        android.restrictedPackageName = "com.example"
        android.data = ["d": "1"]
        android.analyticsLabel = "android"
        android.isAllowedInDirectBoot = true
        android.isAllowedOverConstrainedBandwidth = true
        android.isAllowedOverRestrictedSatellite = true
        return android
    }

    private static func notification() -> FCMPayload.AndroidNotification {
        var shown = FCMPayload.AndroidNotification(title: "t", body: "b", image: "https://example.com/n.png")
        shown.localizedTitle = .init("TITLE", "x", "y")
        shown.localizedBody = .init("BODY", arguments: ["z"])
        (shown.ticker, shown.icon, shown.color, shown.sound) = ("k", "bell", "#00fF7a", "default")
        (shown.tag, shown.clickAction, shown.channelID) = ("g", "OPEN", "news")
        (shown.isSticky, shown.isLocalOnly) = (true, true)
        shown.eventTime = Date(timeIntervalSince1970: 1_800_000_000.25)
        (shown.priority, shown.visibility, shown.notificationCount) = (.max, .secret, 3)
        (shown.hasDefaultSound, shown.hasDefaultVibration, shown.hasDefaultLight) = (true, true, true)
        shown.vibrateTimings = [.zero, .milliseconds(250), .nanoseconds(3_000_000_001)]
        shown.lightSettings = .init(red: 1, green: 0.5, blue: 0, alpha: 0.25, on: .seconds(1), off: .milliseconds(50))
        return shown
    }

    private static let notificationJSON =
        flat(
            ##"""
            "title":"t","body":"b","titleLocKey":"TITLE","titleLocArgs":["x","y"],"bodyLocKey":"BODY",
            "bodyLocArgs":["z"],"ticker":"k","image":"https://example.com/n.png","icon":"bell","color":"#00fF7a",
            "visibility":"SECRET","notificationCount":3,"defaultLightSettings":true,"lightSettings":{
            "color":{"red":1.0,"green":0.5,"blue":0.0,"alpha":0.25},"lightOnDuration":"1s","lightOffDuration":"0.05s"},
            "sound":"default","defaultSound":true,"tag":"g","clickAction":"OPEN","channelId":"news","sticky":true,
            "eventTime":"2027-01-15T08:00:00.250Z","localOnly":true,"notificationPriority":"PRIORITY_MAX",
            "defaultVibrateTimings":true,"vibrateTimings":["0s","0.25s","3.000000001s"]
            """##)
}
