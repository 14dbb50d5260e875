import Foundation
import Holdfast
import HoldfastPayload
import Testing

@Suite("Payloads as bytes")
struct EncodingTests {
    @Test("Whatever a text holds comes back from Foundation's JSON the same", arguments: 0..<50)
    func anyText(seed: Int) throws {
        var random = Xoshiro256(seed: UInt64(seed))
        let text = String(
            String.UnicodeScalarView(
                (0..<200).map { _ in
                    let ranges: [ClosedRange<UInt32>] = [
                        0...0x7f, 0x80...0x7ff, 0x800...0xd7ff, 0xe000...0xffff, 0x10000...0x10ffff,
                    ]
                    let range = ranges[Int.random(in: 0..<ranges.count, using: &random)]
                    return Unicode.Scalar(UInt32.random(in: range, using: &random)) ?? "?"
                }))
        var payload = APNsPayload(alert: APNsPayload.Alert(text))
        payload[text] = JSONFragment(text)
        let object = try JSONSerialization.jsonObject(with: Data(payload.encoded())) as? [String: Any]
        #expect(
            (object?["aps"] as? [String: String])?["alert"]?.unicodeScalars.elementsEqual(text.unicodeScalars) == true)
        #expect((object?.first { $0.key != "aps" }?.value as? String)?.utf8.elementsEqual(text.utf8) == true)
    }

    @Test("Control characters are escaped, slashes and other scripts are not")
    func escapes() throws {
        let payload = APNsPayload(alert: "\"\\\n\r\t\u{8}\u{c}\u{1}\u{1f}/é😀\u{7f}")
        #expect(
            String(decoding: try payload.encoded(), as: UTF8.self)
                == #"{"aps":{"alert":"\"\\\n\r\t\b\f\u0001\u001f/é😀"# + "\u{7f}\"}}")
    }

    @Test("The same payload is the same bytes, however it was put together")
    func stable() throws {
        var one = APNsPayload(alert: "Hi")
        var other = APNsPayload()
        for key in ["b", "a", "c"] { one[key] = JSONFragment(key) }
        for key in ["c", "b", "a"] { other[key] = JSONFragment(key) }
        other.alert = "Hi"
        #expect(try one.encoded() == other.encoded())
        #expect(one == other)
    }

    @Test("What Apple adds to its words can be said before there is a name for it here")
    func newWords() throws {
        var payload = APNsPayload(alert: "Hi")
        payload.interruptionLevel = .init(rawValue: "whisper")
        payload.event = .init(rawValue: "\"pause\"")
        #expect(
            String(decoding: try payload.encoded(), as: UTF8.self)
                == #"{"aps":{"alert":{"body":"Hi"},"interruption-level":"whisper","event":"\"pause\""}}"#)
    }

    @Test("A payload that is too large names its size and the limit")
    func tooLarge() throws {
        let payload = APNsPayload(alert: APNsPayload.Alert(String(repeating: "x", count: 4080)))
        #expect(try payload.byteCount() == 4100)
        let error = #expect(throws: APNsPayloadError.self) { try payload.encoded() }
        #expect(error?.kind == .tooLarge(bytes: 4100, limit: 4096))
        #expect(error?.message == "the payload has 4100 bytes; 4096 is the limit")
        #expect(try payload.encoded(limit: 4100).count == 4100)
    }

    @Test("A value that JSON cannot hold is an error where it is encoded, and names its place")
    func notJSON() throws {
        struct State: Encodable { let levels = [1.0, .nan] }
        let state = #expect(throws: APNsPayloadError.self) { try JSONFragment.encoding(State()) }
        #expect(state?.kind == .notJSON && state?.message.contains("levels") == true, "\(String(describing: state))")
        // Foundation writes this one without a word.
        struct Price: Encodable { let prices = [Decimal(1), .nan] }
        let price = #expect(throws: APNsPayloadError.self) { try JSONFragment.encoding(Price()) }
        #expect(price?.kind == .notJSON && price?.message.contains("Price") == true)
        #expect(throws: APNsPayloadError.self) {
            try APNsPayload.liveActivity(.update, contentState: ["level": Decimal.nan])
        }
        for number in [Float.nan, .infinity] {
            #expect(throws: APNsPayloadError.self) { try JSONFragment.encoding(["number": number]) }
        }
        for number in [Double.nan, .infinity, -.infinity] {
            #expect(throws: APNsPayloadError.self) { try JSONFragment.encoding(number) }
            var payload = APNsPayload()
            payload.relevanceScore = number
            let error = #expect(throws: APNsPayloadError.self) { try payload.encoded() }
            #expect(error?.kind == .notJSON && error?.message.contains("relevance-score") == true)
        }
    }

    @Test("What is JSON already goes in as it is written; what is none is refused")
    func json() throws {
        var payload = APNsPayload()
        payload["a"] = try .json(#" {"b" : [1.0]}"#)
        #expect(String(decoding: try payload.encoded(), as: UTF8.self) == #"{"aps":{},"a": {"b" : [1.0]}}"#)
        for text in ["", "{", "{} {}", "NaN", "'a'"] {
            let error = #expect(throws: APNsPayloadError.self) { try JSONFragment.json(text) }
            #expect(error?.kind == .notJSON)
        }
    }

    @Test("What has no meaning for Apple is refused, with its name")
    func invalid() {
        func message(_ change: (inout APNsPayload) -> Void) -> String? {
            var payload = APNsPayload()
            change(&payload)
            do throws(APNsPayloadError) {
                _ = try payload.encoded()
                return nil
            } catch {
                return error.kind == .invalid ? error.message : nil
            }
        }
        #expect(message { $0.badge = -1 }?.contains("badge") == true)
        #expect(message { $0.sound = .critical(volume: 1.5) }?.contains("volume") == true)
        #expect(message { $0.sound = .critical(volume: .nan) }?.contains("volume") == true)
        #expect(message { $0.sound = APNsPayload.Sound("x", volume: -.infinity) }?.contains("volume") == true)
        #expect(
            message {
                $0["mdm"] = "mine"
                $0.mdm = "magic"
            }?.contains("mdm") == true)
        #expect(
            message {
                $0.alert = .init()
                $0.alert?.summaryArgumentCount = 0
            }?.contains("summary-arg-count") == true)
        let twice = message { payload in
            payload.event = .update
            payload.alert = .init(title: "T", body: "B")
            payload.alert?.localizedBody = .init("KEY")
        }
        #expect(twice?.contains("one body") == true)
        #expect(message { $0["aps"] = "mine" }?.contains("aps") == true)
        #expect(message { $0.otherKeys["badge"] = 3 }?.contains("badge") == true)
        #expect(message { $0.timestamp = Date(timeIntervalSince1970: -1) }?.contains("timestamp") == true)
        #expect(message { $0.staleDate = Date(timeIntervalSince1970: .nan) }?.contains("stale-date") == true)
        #expect(message { $0.dismissalDate = .distantFuture.addingTimeInterval(1e15) }?.contains("dismissal") == true)
    }

    @Test("Dates in an app's own types are as a device decodes them: seconds since 2001")
    func dates() throws {
        struct State: Codable, Equatable { let departs: Date }
        let state = State(departs: Date(timeIntervalSinceReferenceDate: 800_000_000))
        let payload = try APNsPayload.liveActivity(
            .update, contentState: state, timestamp: Date(timeIntervalSince1970: 9))
        #expect(
            String(decoding: try payload.encoded(), as: UTF8.self)
                == #"{"aps":{"event":"update","timestamp":9,"content-state":{"departs":800000000}}}"#)
    }
}
