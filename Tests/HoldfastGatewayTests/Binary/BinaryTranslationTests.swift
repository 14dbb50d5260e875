import Holdfast
import HoldfastLegacyAPNs
import HoldfastTesting
import Testing

@testable import HoldfastGateway

@Suite("From the binary protocol to HTTP/2") struct BinaryTranslationTests {
    private static let now = WallTime(seconds: 1_700_000_000)

    private func translate(
        _ payload: String = #"{"aps":{"alert":"a"}}"#, topic: String = "com.example.app", expiration: UInt32? = nil,
        priority: UInt8? = nil, lifetime: Duration = .seconds(3600)
    ) throws -> PushNotification {
        try BinaryTranslation(topic: topic, unstoredLifetime: lifetime).notification(
            BinaryRequest(
                command: 2, identifier: 1, token: SampleNotification.token(1).bytes, payload: Array(payload.utf8),
                expiration: expiration, priority: priority), now: Self.now)
    }

    @Test(
        "The push type is what the topic stands for, or what the payload is",
        arguments: [
            ("com.example.app", #"{"aps":{"alert":"a"}}"#, PushType.alert),
            ("com.example.app", #"{"aps":{"content-available":1}}"#, .background),
            ("com.example.app", #"{"x":{},"aps":{"content-available" : 1 ,"category":"c"}}"#, .background),
            ("com.example.app", #"{"aps":{"content-available":true}}"#, .background),
            ("com.example.app", #"{"aps":{"content-available":0}}"#, .alert),
            ("com.example.app", #"{"aps":{"content-available":10}}"#, .alert),
            ("com.example.app", #"{"aps":{"content-available":1,"alert":"a"}}"#, .alert),
            ("com.example.app", #"{"aps":{"badge":1,"content-available":1}}"#, .alert),
            ("com.example.app", #"{"aps":{"content-available":1,"sound":""}}"#, .alert),
            ("com.example.app", #"{"content-available":1,"aps":{}}"#, .alert),
            ("com.example.app", #"{"mdm":"magic"}"#, .mdm),
            ("com.example.app", #"{"mdm":"magic","aps":{}}"#, .alert),
            ("com.example.app", "no JSON", .alert),
            ("com.apple.mgmt.External.1", #"{"aps":{}}"#, .mdm),
            ("com.example.app.voip", #"{"aps":{}}"#, .voip),
            ("com.example.app.complication", #"{"aps":{"content-available":1}}"#, .complication),
            ("com.example.app.pushkit.fileprovider", #"{}"#, .fileprovider),
            ("com.example.app.location-query", #"{}"#, .location),
            ("com.example.app.voip-ptt", #"{}"#, .pushtotalk),
            ("com.example.app.push-type.liveactivity", #"{}"#, .liveactivity),
        ])
    func pushType(topic: String, payload: String, type: PushType) throws {
        #expect(try translate(payload, topic: topic).pushType == type)
    }

    @Test("Background notifications have priority 5, whatever was written, and Apple's validation takes them")
    func background() throws {
        for priority in [nil, 10, 5] as [UInt8?] {
            let one = try translate(#"{"aps":{"content-available":1}}"#, priority: priority)
            #expect(one.priority == .considerate)
            try NotificationValidator().validate(one, now: Self.now)
        }
    }

    @Test(
        "Priorities are the client's; a number that is none is none",
        arguments: [(nil, nil), (10, .immediate), (5, .considerate), (7, nil), (0, nil)] as [(UInt8?, Priority?)])
    func priority(number: UInt8?, priority: Priority?) throws {
        #expect(try translate(priority: number).priority == priority)
    }

    @Test(
        "0 is tried for its hour, what is past once, and nothing is the engine's default",
        arguments: [
            (nil, nil), (0, .unstored(until: 1_700_003_600)), (1, .once), (86_400, .once), (1_700_000_000, .once),
            (1_700_000_001, .at(1_700_000_001)), (.max, .at(4_294_967_295)),
        ] as [(UInt32?, Expiration?)])
    func expiration(seconds: UInt32?, expiration: Expiration?) throws {
        #expect(try translate(expiration: seconds).expiration == expiration)
        #expect(try translate(expiration: 0, lifetime: .zero).expiration == .once)
    }

    @Test(
        "What is missing or of no possible size has its status, the token's before the payload's",
        arguments: [
            (nil, [1], .missingToken), ([], [], .missingToken),
            ([UInt8](repeating: 1, count: 101), [1], .invalidTokenSize),
            ([1], nil, .missingPayload), ([1], [], .missingPayload),
        ] as [([UInt8]?, [UInt8]?, BinaryStatus)])
    func faults(token: [UInt8]?, payload: [UInt8]?, status: BinaryStatus) {
        let request = BinaryRequest(command: 2, identifier: 1, token: token, payload: payload)
        #expect(throws: BinaryTranslation.Fault(status)) {
            try BinaryTranslation(topic: "a", unstoredLifetime: .zero).notification(request, now: Self.now)
        }
    }

    @Test(
        "What the engine refuses has the status that does right by token and payload",
        arguments: [
            (.blacklisted, 8), (.badDeviceToken, 5), (.missingDeviceToken, 2), (.payloadTooLarge, 7),
            (.payloadNotJSON, 7),
            (.payloadEmpty, 4), (.missingTopic, 3), (.badTopic, 6), (.topicDisallowed, 1), (Reason(rawValue: "New"), 1),
        ] as [(Reason, UInt8)])
    func refusals(reason: Reason, status: UInt8) {
        #expect(BinaryStatus(Refusal(reason, "no")).rawValue == status)
    }
}
