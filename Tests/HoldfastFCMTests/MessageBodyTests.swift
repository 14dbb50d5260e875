import Foundation
import HoldfastTesting
import Testing

@testable import Holdfast
@testable import HoldfastFCM

@Suite("The body of a request") struct MessageBodyTests {
    /// A while after the message was accepted.
    private static let now = WallTime(seconds: 1_700_000_500)

    private func body(
        _ payload: String, _ kind: ServiceAddress.Kind = .firebaseInstallation, target: String = "abc",
        expiration: Expiration = .at(1_700_000_590), validatesOnly: Bool = false, idKey: String? = nil
    ) throws -> String {
        let notification = PushNotification(
            address: try ServiceAddress(kind, target), topic: "p", payload: Array(payload.utf8), expiration: expiration)
        var bytes: [UInt8] = []
        PackedNotification.append(
            notification, id: SampleNotification.id(5), expiration: expiration,
            acceptedAt: SampleNotification.acceptedAt,
            producer: "default", to: &bytes)
        let fields = try PackedNotification.Fields(bytes.span, in: 0..<bytes.count)
        var output: [UInt8] = []
        let isMessage = MessageBody(validatesOnly: validatesOnly, idKey: idKey)
            .append(fields, of: bytes, at: Self.now, to: &output)
        try #require(isMessage)
        try JSONScanner.checkObject(output)
        return String(decoding: output, as: UTF8.self)
    }

    private static let ttl = #""android":{"ttl":"90s"}"#

    @Test(
        "Each kind of target has its name",
        arguments: [
            (ServiceAddress.Kind.firebaseInstallation, "fid"), (.firebaseToken, "token"), (.firebaseTopic, "topic"),
            (.firebaseCondition, "condition"),
        ])
    func targets(kind: ServiceAddress.Kind, name: String) throws {
        #expect(try body(#"{"data":{}}"#, kind) == #"{"message":{"\#(name)":"abc",\#(Self.ttl),"data":{}}}"#)
    }

    @Test("Text in a target is escaped") func escapes() throws {
        let body = try body(
            "{}", .firebaseCondition, target: #"'a' in topics || "b\" "#.trimmingCharacters(in: .whitespaces))
        #expect(body.hasPrefix(#"{"message":{"condition":"'a' in topics || \"b\\\"","#))
    }

    @Test("An empty message, and one with space around, are spliced whole") func spaces() throws {
        #expect(try body("{}") == #"{"message":{"fid":"abc",\#(Self.ttl)}}"#)
        #expect(try body(" \n{ }\t") == #"{"message":{"fid":"abc",\#(Self.ttl)}\#t}"#)
        #expect(try body(" { \"data\":{}} ") == #"{"message":{"fid":"abc",\#(Self.ttl),"data":{}} }"#)
    }

    @Test("An id adds at most what is left free for it", arguments: ["k", "holdfast-id"])
    func idRoom(key: String) throws {
        let room = MessageBody.idByteCount(key)
        for payload in [#"{"notification":{}}"#, #"{"data":{}}"#, #"{"data":{"a":"b"}}"#, "{}"] {
            let (with, without) = (try body(payload, idKey: key), try body(payload))
            #expect(with.utf8.count - without.utf8.count <= room)
        }
        let greatest = try body(#"{"notification":{}}"#, idKey: key).utf8.count
        #expect(try body(#"{"notification":{}}"#).utf8.count + room == greatest)
    }

    @Test("The time to live is what is left, whatever the message has, unless none is to be said") func timeToLive()
        throws
    {
        #expect(try body("{}", expiration: .at(1_700_000_501)).contains(#""ttl":"1s""#))
        #expect(try body("{}", expiration: .at(1_600_000_000)).contains(#""ttl":"0s""#))
        #expect(try body("{}", expiration: .at(1_800_000_000)).contains(#""ttl":"2419200s""#))
        #expect(try body("{}", expiration: .unstored(until: 1_800_000_000)).contains(#""ttl":"0s""#))
        #expect(!(try body("{}", expiration: .unstated(until: 1_800_000_000)).contains("ttl")))
        for name in ["android", "androidV2", #"\u0061ndroid"#] {
            for (own, sent) in [
                (#"{"priority":"high"}"#, #"{"ttl":"90s","priority":"high"}"#), ("{}", #"{"ttl":"90s"}"#),
                ("{ }", #"{"ttl":"90s" }"#), ("null", #"{"ttl":"90s"}"#),
                // A part of the message's own time has passed; one that is shorter than what is left is kept.
                (#"{"ttl":"590s"}"#, #"{"ttl":"90s"}"#),
                (#"{"a":1,"ttl":"91.5s","b":2}"#, #"{"a":1,"ttl":"90s","b":2}"#),
                (#"{"ttl":"90s"}"#, #"{"ttl":"90s"}"#), (#"{"ttl":"5s"}"#, #"{"ttl":"5s"}"#),
                (#"{"ttl":null}"#, #"{"ttl":"90s"}"#), (#"{"\u0074tl":"600s"}"#, #"{"\u0074tl":"90s"}"#),
                // What is no time is the service's to judge.
                (#"{"ttl":7}"#, #"{"ttl":7}"#), ("[]", "[]"),
            ] {
                let payload = #"{"notification":{},"\#(name)":\#(own)}"#
                #expect(
                    try body(payload) == #"{"message":{"fid":"abc","notification":{},"\#(name)":\#(sent)}}"#,
                    "\(payload)")
            }
        }
        let both = #"{"android":{"ttl":"600s"},"data":{"a":"b"},"androidV2":{}}"#
        let id = #""hid":"11111111-1111-4111-8000-000000000005""#
        #expect(
            try body(both, idKey: "hid")
                == #"{"message":{"fid":"abc","android":{"ttl":"90s"},"data":{\#(id),"a":"b"},"androidV2":{"ttl":"90s"}}}"#
        )
        let own = #"{"android":{"ttl":"600s"}}"#
        #expect(try body(own, expiration: .unstored(until: 1_800_000_000)).contains(#""ttl":"0s""#))
        #expect(try body(own, expiration: .unstated(until: 1_800_000_000)).contains(#""ttl":"600s""#))
        // The word elsewhere is no part of the message for Android.
        for payload in [#"{"data":{"android":"x"}}"#, #"{"data":{"os":"android"}}"#, #"{"data":{"a":"\u00e4"}}"#] {
            #expect(try body(payload).contains(Self.ttl))
        }
    }

    @Test("The id goes into the data, which is made where there is none, and leaves the sender's own alone") func ids()
        throws
    {
        let id = #""hid":"11111111-1111-4111-8000-000000000005""#
        #expect(try body("{}", idKey: "hid") == #"{"message":{"fid":"abc",\#(Self.ttl),"data":{\#(id)}}}"#)
        #expect(
            try body(#"{"apns":{}}"#, idKey: "hid")
                == #"{"message":{"fid":"abc",\#(Self.ttl),"data":{\#(id)},"apns":{}}}"#)
        #expect(
            try body(#"{"data":{"a":"b"},"apns":{}}"#, idKey: "hid")
                == #"{"message":{"fid":"abc",\#(Self.ttl),"data":{\#(id),"a":"b"},"apns":{}}}"#)
        #expect(
            try body(#"{"data": { }}"#, idKey: "hid") == #"{"message":{"fid":"abc",\#(Self.ttl),"data": {\#(id) }}}"#)
        let own = #"{"data":{"hid":"mine"}}"#
        #expect(try body(own, idKey: "hid") == #"{"message":{"fid":"abc",\#(Self.ttl),"data":{"hid":"mine"}}}"#)
    }

    @Test("A message can be validated only") func validated() throws {
        #expect(
            try body("{}", validatesOnly: true) == #"{"validateOnly":true,"message":{"fid":"abc",\#(Self.ttl)}}"#)
    }
}
