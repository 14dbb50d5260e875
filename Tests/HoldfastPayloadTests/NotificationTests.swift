import Foundation
import Holdfast
import HoldfastPayload
import HoldfastTesting
import Testing

@Suite("Notifications from payloads")
struct NotificationTests {
    private let token: DeviceToken

    init() throws { token = try DeviceToken(String(repeating: "ab", count: 32)) }

    private func notification(_ payload: APNsPayload, pushType: PushType? = nil, priority: Priority? = nil) throws
        -> PushNotification
    {
        try PushNotification(
            token: token, topic: "com.example.app", payload: payload, pushType: pushType, priority: priority)
    }

    @Test("Push type and priority follow from what is in it")
    func derived() throws {
        func check(_ payload: APNsPayload, _ type: PushType, _ priority: Priority?) throws {
            let notification = try notification(payload)
            #expect(notification.pushType == type)
            #expect(notification.priority == priority)
        }
        try check(APNsPayload(alert: "Hi"), .alert, nil)
        try check(APNsPayload(badge: 0), .alert, nil)
        try check(APNsPayload(sound: .default), .alert, nil)
        try check(.background, .background, .considerate)
        var both = APNsPayload(alert: "Hi")
        both.isContentAvailable = true
        try check(both, .alert, nil)
        var silent = APNsPayload()
        silent.threadID = "t"
        try check(silent, .alert, .considerate)
        try check(.mdm(pushMagic: "x"), .mdm, nil)
        try check(try .liveActivity(.update, contentState: ["a": 1]), .liveactivity, .considerate)
        var widget = APNsPayload()
        widget.isContentChanged = true
        try check(widget, .widgets, .considerate)
        // Each of these three alone is a Live Activity's.
        var activity = APNsPayload()
        activity.event = .end
        try check(activity, .liveactivity, .considerate)
        activity.event = nil
        activity.attributes = [:]
        try check(activity, .liveactivity, .considerate)
        activity.alert = "Hi"
        try check(activity, .liveactivity, nil)
    }

    @Test("The priority follows from what is in it for a push type that is given, too")
    func priorities() throws {
        for type in PushType.known {
            let silent: Priority? =
                [.alert, .background, .liveactivity, .widgets, .controls].contains(type) ? .considerate : nil
            #expect(try notification(APNsPayload(), pushType: type).priority == silent, "\(type.rawValue)")
            let seen: Priority? = type == .background ? .considerate : nil
            #expect(try notification(APNsPayload(badge: 1), pushType: type).priority == seen, "\(type.rawValue)")
        }
    }

    @Test("What is given goes before what follows")
    func given() throws {
        let notification = try notification(.background, pushType: .pushtotalk, priority: .immediate)
        #expect(notification.pushType == .pushtotalk)
        #expect(notification.priority == .immediate)
    }

    @Test("A payload for voip may be larger, and no other")
    func voip() throws {
        var payload = APNsPayload()
        payload["call"] = JSONFragment(String(repeating: "x", count: 5000))
        #expect(throws: APNsPayloadError.self) { try notification(payload) }
        #expect(try notification(payload, pushType: .voip).payload.count == 5020)
    }

    @Test("A broadcast may be as large, and has its push type whatever is in it")
    func broadcast() throws {
        let channel = try BroadcastChannel("dHN0LXNyY2gtY2hubA==")
        var payload = try APNsPayload.liveActivity(.update, contentState: ["score": 1])
        payload["x"] = JSONFragment(String(repeating: "x", count: 4500))
        let notification = try PushNotification(channel: channel, topic: "com.example.app", payload: payload)
        #expect(notification.recipient == .channel(channel) && notification.pushType == .liveactivity)
        #expect(notification.priority == .considerate && notification.payload.count > APNsPayload.limit)
        payload.alert = "Goal"
        let seen = try PushNotification(channel: channel, topic: "com.example.app", payload: payload)
        #expect(seen.priority == nil)
        payload["y"] = JSONFragment(String(repeating: "x", count: 1000))
        let error = #expect(throws: APNsPayloadError.self) {
            try PushNotification(channel: channel, topic: "com.example.app", payload: payload)
        }
        #expect(error?.message.contains("5120 is the limit") == true)
    }

    @Test("What is built is taken by the engine, each kind of it")
    func accepted() async throws {
        let engine = try PushEngine(
            journal: InMemoryJournal(), routes: [Route(connector: InMemoryConnector())])
        var widget = APNsPayload()
        widget.isContentChanged = true
        let payloads: [APNsPayload] = [
            APNsPayload(alert: "Hi", badge: 1, sound: .critical()), .background, .mdm(pushMagic: "x"), widget,
            try .liveActivity(.end, contentState: ["score": 3]),
        ]
        for payload in payloads { try await engine.producer.submit(try notification(payload)) }
        #expect(engine.producer.backlog == payloads.count)
    }
}
