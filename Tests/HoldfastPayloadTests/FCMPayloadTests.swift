import Foundation
import Holdfast
import HoldfastPayload
import HoldfastTesting
import Testing

private func json(_ payload: FCMPayload) throws -> String { String(decoding: try payload.encoded(), as: UTF8.self) }

@Suite("Messages for Firebase Cloud Messaging")
struct FCMPayloadTests {
    private static func samples() throws -> [FCMPayload] {
        [try FCMPayloadSamples.everything(), FCMPayloadSamples.version2(), FCMPayloadSamples.backgroundSync()]
    }

    @Test("Each field is as it is written by hand")
    func golden() throws {
        #expect(try json(FCMPayload()) == "{}")
        #expect(try json(FCMPayload(title: nil, body: "Hi")) == #"{"notification":{"body":"Hi"}}"#)
        #expect(try json(FCMPayloadSamples.everything()) == FCMPayloadSamples.everythingJSON)
        #expect(try json(FCMPayloadSamples.version2()) == FCMPayloadSamples.version2JSON)
        #expect(try json(FCMPayloadSamples.backgroundSync()) == FCMPayloadSamples.backgroundSyncJSON)
    }

    @Test("Google's discovery document has every field that is written, in its form, and none that can't be written")
    func discovery() throws {
        let schema = FCMSchema()
        var written: Set<String> = []
        for sample in try Self.samples() {
            let (faults, fields) = try schema.judge(try sample.encoded())
            #expect(faults == [])
            written.formUnion(fields)
        }
        var documented = Set(schema.types.flatMap { type, fields in fields.keys.map { "\(type).\($0)" } })
        // The target is the notification's, and the name the answer's.
        for name in ["name", "fid", "token", "topic", "condition"] { documented.remove("Message.\(name)") }
        #expect(documented.subtracting(written) == [])
        #expect(documented.count > 100)
    }

    @Test(
        "The judge itself finds what Google does not have",
        arguments: [
            #"{"titel":"x"}"#, #"{"data":{"a":1}}"#, #"{"android":{"ttl":"1h"}}"#, #"{"android":{"priority":"high "}}"#,
            #"{"android":{"notification":{"sticky":"yes"}}}"#, #"{"androidV2":{"backgroundSync":{"a":1}}}"#,
            #"{"android":{"notification":{"notificationCount":2147483648}}}"#, #"{"notification":"Hi"}"#,
        ])
    func judge(text: String) throws {
        #expect(try FCMSchema().judge(Array(text.utf8)).faults.count == 1)
    }

    @Test("A field that has a property, or names the target, can't be given twice")
    func known() throws {
        let types = FCMSchema().types
        func check(_ type: String, _ set: (inout FCMPayload, String) -> Void) throws {
            for field in try #require(types[type]).keys.sorted() {
                var payload = FCMPayload()
                set(&payload, field)
                let error = #expect(throws: FCMPayloadError.self, "\(type).\(field)") { try payload.encoded() }
                #expect(error?.kind == .invalid && error?.message.contains(field) == true)
            }
        }
        try check("Message") { $0.otherKeys[$1] = 1 }
        try check("AndroidConfig") {
            $0.android = .init()
            $0.android?.otherKeys[$1] = 1
        }
        try check("AndroidConfigV2") {
            $0.android = .init()
            $0.android?.version2 = .backgroundSync
            $0.android?.otherKeys[$1] = 1
        }
        try check("AndroidNotification") {
            $0.android = .init(notification: .init())
            $0.android?.notification?.otherKeys[$1] = 1
        }
        try check("AndroidNotificationV2") {
            $0.android = .init(notification: .init())
            $0.android?.version2 = .remoteNotification()
            $0.android?.notification?.otherKeys[$1] = 1
        }
        try check("ApnsConfig") {
            $0.apple = .init()
            $0.apple?.otherKeys[$1] = 1
        }
        try check("WebpushConfig") {
            $0.webPush = .init()
            $0.webPush?.otherKeys[$1] = 1
        }
    }

    @Test("What Google adds can be said before there is a name for it here")
    func additions() throws {
        var payload = FCMPayload()
        payload.otherKeys["watch"] = ["face": 1]
        payload.android = .init(priority: .init(rawValue: "HIGHEST"))
        payload.android?.otherKeys["later"] = true
        #expect(try json(payload) == #"{"android":{"priority":"HIGHEST","later":true},"watch":{"face":1}}"#)
    }
}
