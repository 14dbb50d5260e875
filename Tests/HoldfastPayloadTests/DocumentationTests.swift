import Foundation
import Holdfast
import HoldfastPayload
import HoldfastTesting
import Testing

@Suite("The page on payloads")
struct DocumentationTests {
    private static func text(_ path: String) throws -> String {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        return try String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
    }

    @Test("Its examples are code that compiles, to the letter")
    func quotes() throws {
        let page = try Self.text("Docs/Guide/Payload.md")
        let example = try Self.text("Tests/HoldfastPayloadTests/PayloadExamples.swift")
        let blocks = page.components(separatedBy: "```swift\n").dropFirst().compactMap {
            $0.components(separatedBy: "```").first
        }
        #expect(blocks.count >= 4)
        // A member of the example's type is shown without its indentation.
        let flat = example.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            line.hasPrefix("    ") ? String(line.dropFirst(4)) : String(line)
        }.joined(separator: "\n")
        for block in blocks { #expect(flat.contains(block), "\(block)") }
    }

    @Test("Its examples make what they say")
    func examples() async throws {
        func json(_ payload: APNsPayload) throws -> String { String(decoding: try payload.encoded(), as: UTF8.self) }
        #expect(
            try json(PayloadExamples.alert()) == #"{"aps":{"alert":"Your table is ready","badge":1,"sound":"default"}}"#
        )
        #expect(
            try json(PayloadExamples.everything(order: Order(number: 4711, items: ["Soup"])))
                == #"{"aps":{"alert":{"title":"Reservation","subtitle":"Tonight","body":"Your table is ready"},"badge":0,"#
                + #""sound":{"critical":1,"name":"siren.caf","volume":0.8},"thread-id":"reservations","#
                + #""interruption-level":"time-sensitive","mutable-content":1},"#
                + #""order":{"items":["Soup"],"number":4711},"table":12}"#)
        #expect(
            try json(PayloadExamples.localized())
                == #"{"aps":{"alert":{"title-loc-key":"RESERVATION","loc-key":"TABLE_READY","loc-args":["Anna","12"]}}}"#
        )
        let delivery = Delivery(driver: "Bo", arrives: Date(timeIntervalSince1970: 1_800_000_000))
        #expect(
            try json(PayloadExamples.liveActivity(delivery))
                .contains(#""content-state":{"arrives":821692800,"driver":"Bo"},"stale-date":1800000000"#))
        let broadcast = try PayloadExamples.broadcast(delivery, on: BroadcastChannel("AAAA"))
        #expect(broadcast.isBroadcast && broadcast.pushType == .liveactivity)
        let android = try PayloadExamples.android(to: "cXy1")
        #expect(android.recipient == .service(try ServiceAddress(.firebaseInstallation, "cXy1")))
        #expect(try FCMSchema().judge(android.payload).faults == [])
        let engine = try PushEngine(journal: InMemoryJournal(), routes: [Route(connector: InMemoryConnector())])
        let token = try DeviceToken(String(repeating: "ab", count: 32))
        _ = try await PayloadExamples.send(String(repeating: "Long ", count: 2000), to: token, with: engine.producer)
    }

    @Test(
        "Every setter of pushy's ApnsPayloadBuilder and of java-apns-gae's PushNotification has its row, once",
        arguments: [
            "setPreferStringRepresentationForAlerts", "setAlertBody", "setLocalizedAlertMessage", "setAlertTitle",
            "setLocalizedAlertTitle", "setAlertSubtitle", "setLocalizedAlertSubtitle", "setLaunchImageFileName",
            "setShowActionButton", "setActionButtonLabel", "setLocalizedActionButtonKey", "setBadgeNumber",
            "setCategoryName", "setSoundFileName", "setSound", "setContentAvailable", "setMutableContent",
            "setThreadId",
            "setTargetContentId", "setSummaryArgument", "setSummaryArgumentCount", "setInterruptionLevel",
            "setRelevanceScore", "setStaleDate", "setUrlArguments", "addCustomProperty", "setAttributesType",
            "setAttributes", "setContentState", "setEvent", "setTimestamp", "setDismissalDate", "build",
            "buildMdmPayload", "setBadge", "setAlert", "setComplexAlert", "setDeviceTokens", "setCategory",
            "setCustomPayload", "setBody", "setActionLocKey", "setLocKey", "setLocArgs", "setLaunchImage",
        ])
    func setters(name: String) throws {
        let rows = try Self.text("Docs/Guide/Payload.md").split(separator: "\n").filter { $0.hasPrefix("| `\(name)(") }
        // Of the same name in both.
        let expected = ["setSound", "setContentAvailable"].contains(name) ? 2 : 1
        #expect(rows.count == expected, "\(rows)")
        for row in rows { #expect(row.split(separator: "|").count == 2) }
    }
}
