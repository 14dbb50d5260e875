import HoldfastFCM
import Testing

@testable import Holdfast

/// Google's message as it comes in, taken apart.
@Suite("Messages of FCM") struct FCMMessageTests {
    private func read(_ text: String) throws -> FCMMessage { try FCMMessage(Array(text.utf8)) }

    @Test(
        "The target is taken out, wherever it stands, and the rest stays, in few bytes",
        arguments: [
            (#"{"fid":"cXy1","data":{"a" : "b"}}"#, "fid:cXy1", #"{"data":{"a":"b"}}"#),
            (#"{ "data":{}, "token":"t:APA91", "apns":{} }"#, "fcm-token:t:APA91", #"{"data":{},"apns":{}}"#),
            (#"{"topic":"news"}"#, "fcm-topic:news", "{}"),
            (
                #"{"condition":"'a' in topics","notification":{"title":"\u00fc"}}"#, "fcm-condition:'a' in topics",
                #"{"notification":{"title":"ü"}}"#
            ),
            (#"{"t\u006fken":"x","fid":null,"token2":1}"#, "fcm-token:x", #"{"token2":1}"#),
        ])
    func splits(text: String, target: String, content: String) throws {
        let message = try read(text)
        #expect(message.target.notation == target)
        #expect(String(decoding: message.content, as: UTF8.self) == content)
    }

    @Test(
        "What has no single target is refused with Google's word, or ours for an address",
        arguments: [
            (#"{"data":{}}"#, "INVALID_ARGUMENT"), (#"{"fid":"a","token":"b"}"#, "INVALID_ARGUMENT"),
            (#"{"fid":7}"#, "INVALID_ARGUMENT"), (#"{"fid":"a","data":{"n":1}}"#, "INVALID_ARGUMENT"),
            ("[]", "INVALID_ARGUMENT"), (#"{"fid":"a""#, "INVALID_ARGUMENT"),
            (#"{"fid":""}"#, "BadAddress"), (#"{"fid":"a\u0007"}"#, "BadAddress"),
            (#"{"topic":"a b"}"#, "BadAddress"),
        ])
    func refuses(text: String, reason: String) throws {
        let refusal = #expect(throws: Refusal.self) { try read(text) }
        #expect(refusal?.reason.rawValue == reason)
    }

    @Test(
        "Priority and time to live are read as Google means them",
        arguments: [
            (#"{"fid":"a","notification":{}}"#, nil, nil),
            (#"{"fid":"a","data":{}}"#, Priority.considerate, nil),
            (#"{"fid":"a","data":{},"android":{"priority":"HIGH","ttl":"3600s"}}"#, .immediate, 3600.0),
            (#"{"fid":"a","notification":{},"android":{"priority":"normal","ttl":"0s"}}"#, .considerate, 0.0),
            (#"{"fid":"a","android":{"notification":{},"ttl":"1.5s"}}"#, nil, 1.0),
            (#"{"fid":"a","webpush":{},"androidV2":{"ttl":"2419200s"}}"#, nil, 28.0 * 86_400),
            (#"{"fid":"a","androidV2":{"remoteNotification":{}}}"#, nil, nil),
        ] as [(String, Priority?, Double?)])
    func reads(text: String, priority: Priority?, seconds: Double?) throws {
        let message = try read(text)
        #expect(message.priority == priority)
        #expect(message.timeToLive == seconds.map { .milliseconds(Int64($0 * 1000)) })
    }

    @Test("A time to live counts from acceptance, and none at all is one attempt") func expires() throws {
        let now = WallTime(seconds: 1_800_000_000)
        #expect(
            try read(#"{"fid":"a","android":{"ttl":"60s"}}"#).expiration(at: now) == .at(1_800_000_060))
        #expect(try read(#"{"fid":"a","android":{"ttl":"0s"}}"#).expiration(at: now) == .once)
        #expect(try read(#"{"fid":"a"}"#).expiration(at: now) == nil)
        let sent = PushNotification(try read(#"{"fid":"a","data":{}}"#), project: "p", at: now)
        #expect(sent.topic == "p" && sent.recipient.notation == "fid:a" && sent.priority == .considerate)
    }

    private func content(_ text: String) throws -> String { String(decoding: try read(text).content, as: UTF8.self) }

    @Test("What is kept is the message without its target, in few bytes, whatever its writer's ways") func compact()
        throws
    {
        let written = """
            { "fid" : "abc", "android_v2": {"x": [1, 2.50, true, null]} ,
              "data": { "a b": "\\u00e9\\ud83d\\ude00 \\"q\\" \\\\ \\/ \\n\\t\\u0001" },
              "name": "projects/p/messages/1", "topic": null, "fcm_options": {}, "future": [ { } ] }
            """
        #expect(
            try content(written)
                == #"{"androidV2":{"x":[1,2.50,true,null]},"data":{"a b":"é😀 \"q\" \\ / \n\t\u0001"},"fcmOptions":{},"future":[{}]}"#
        )
        #expect(try content(#"{"topic":"a"}"#) == "{}")
        // What is compact already stays as it is.
        let compact = try content(written)
        #expect(try content(#"{"fid":"abc","# + compact.dropFirst()) == compact)
    }

    @Test("Half of a surrogate pair is no text") func surrogates() {
        let fault = #expect(throws: Refusal.self) { try read(#"{"fid":"a","data":{"a":"\ud800"}}"#) }
        #expect(fault?.detail.hasPrefix("Invalid JSON payload received.") ?? false)
    }

    @Test("Priority and time to live are those of the Android part") func android() throws {
        for (text, priority) in [
            ("\"high\"", Priority.immediate), ("\"NORMAL\"", .considerate), ("1", .immediate), ("0", .considerate),
        ] {
            #expect(try read(#"{"fid":"a","android":{"priority":\#(text)}}"#).priority == priority)
        }
        for (text, seconds) in [("0s", Int64(0)), ("3600s", 3600), ("3.500000000s", 3), ("2419200s", 2_419_200)] {
            #expect(try read(#"{"fid":"a","android":{"ttl":"\#(text)"}}"#).timeToLive == .seconds(seconds))
        }
        for text in ["", "s", "-1s", "1", "1.s", ".5s", "1.0000000000s", "2419201s", "99999999999s", "1e3s"] {
            #expect(throws: Refusal.self) { try read(#"{"fid":"a","android":{"ttl":"\#(text)"}}"#) }
        }
        let plain = try read(#"{"fid":"a","android":{"priority":null,"ttl":null}}"#)
        #expect(plain.priority == .considerate && plain.timeToLive == nil)
    }

    @Test("A target may have 2048 bytes, and no control characters") func targets() throws {
        #expect(try read(#"{"token":"\#(String(repeating: "t", count: 2048))"}"#).target.bytes.count == 2048)
        for text in [String(repeating: "t", count: 2049), #"a\nb"#, " a"] {
            let fault = #expect(throws: Refusal.self) { try read(#"{"token":"\#(text)"}"#) }
            #expect(fault?.reason == .badAddress)
        }
    }
}
