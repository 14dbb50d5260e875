import Testing

@testable import Holdfast

@Suite("A packed notification that belongs to a trace")
struct PackedTraceTests {
    private static let parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

    private static func notification(
        state: String? = nil, _ change: (inout PushNotification) -> Void = { _ in }
    ) -> PushNotification {
        var notification = PushNotification(
            token: DeviceToken(checked: [0x00, 0xFC, 0x13, 0xAD]), topic: "com.example.app", payload: "{}")
        notification.trace = TraceContext(traceparent: parent, tracestate: state)
        change(&notification)
        return notification
    }

    static let goldens: [PackedGolden] = [
        PackedGolden(
            description: "a trace", notification: notification(),
            hex: "0700000004000f00020000000000001011111111111111112222222222222222000000000000000000000000"
                + "000000007b68e5cf8b01000000fc13ad636f6d2e6578616d706c652e61707001dd43cd161965f70a9c31801c"
                + "21eb488431332069716badb700007b7d"),
        PackedGolden(
            description: "a trace with a state, a context, the newest wins, and a retry",
            notification: notification(state: "congo=t61rcWkgMzE,rojo=00f067aa0ba902b7") {
                ($0.context, $0.newestWins, $0.collapseID) = (Array("cart 7".utf8), true, "score")
            }, retryOf: UID(0x0102_0304_0506_0708),
            hex: "070a000004050f00020000000000001911111111111111112222222222222222000000000000000000000000"
                + "000000007b68e5cf8b0100000000000000000000060000000000000000fc13ad636f6d2e6578616d706c652e"
                + "61707073636f726563617274203701dd43cd161965f70a9c31801c21eb488431332069716badb72700636f6e"
                + "676f3d7436317263576b674d7a452c726f6a6f3d303066303637616130626139303262370807060504030201"
                + "7b7d"),
    ]

    @Test("is these bytes, and is read from them", arguments: goldens)
    func golden(_ golden: PackedGolden) throws {
        try golden.expectGolden { fields, bytes in
            #expect(fields.trace(in: bytes.span)?.traceparent == Self.parent)
        }
    }

    @Test("is none where a version says so that knows no traces", arguments: 1...6 as ClosedRange<UInt8>)
    func older(version: UInt8) { for golden in Self.goldens { golden.expectNone(inVersion: version) } }

    @Test("has the bytes that it always had, where nobody keeps the trace") func unkept() {
        var bytes: [UInt8] = []
        PackedNotification.append(
            Self.notification(), id: PackedGolden.id, expiration: .once, acceptedAt: WallTime(milliseconds: 0),
            producer: "", keepsTrace: false, to: &bytes)
        #expect(bytes[0] == 1 && bytes[15] == 0 && bytes.count == 56 + 4 + 15 + 2)
    }

    @Test("of which a byte is missing is damage") func truncated() {
        for golden in Self.goldens { golden.expectDamageWhenCut() }
    }

    @Test("has no trace and no span that is 0, no flag that nobody knows, and no state beyond its length")
    func outOfRange() {
        func isDamage(_ change: (inout [UInt8]) -> Void) -> Bool {
            var bytes = Self.goldens[0].packed
            change(&bytes)
            return (try? PackedNotification.Fields(bytes.span, in: 0..<bytes.count)) == nil
        }
        let start = 56 + 4 + 15
        #expect(!isDamage { _ in })
        #expect(isDamage { $0[start] = 2 })
        #expect(isDamage { bytes in for index in start + 1..<start + 17 { bytes[index] = 0 } })
        #expect(isDamage { bytes in for index in start + 17..<start + 25 { bytes[index] = 0 } })
        #expect(isDamage { $0[start + 25] = 1 })
        #expect(isDamage { $0[start + 26] = 2 })
    }

    @Test(
        "of which bits are flipped is damage or another notification, never a crash",
        arguments: 0..<300 as Range<UInt64>)
    func flipped(seed: UInt64) {
        var random = Xoshiro256(seed: seed)
        for golden in Self.goldens { golden.flipBits(&random) { _ = $0.trace?.traceparent } }
    }
}

@Suite("The W3C's trace context")
struct TraceContextTests {
    @Test("is read as it is written") func read() throws {
        let text = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
        let trace = try #require(TraceContext(traceparent: text, tracestate: "a=1, b@c=x y,\t,d=4"))
        #expect(trace.traceparent == text)
        #expect(trace.isSampled && trace.tracestate == "a=1,b@c=x y,d=4")
        let unsampled = try #require(TraceContext(traceparent: String(text.dropLast(2)) + "fe"))
        #expect(!unsampled.isSampled)
    }

    @Test(
        "is none if it is malformed",
        arguments: [
            "", "00", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331",
            "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
            "00-0AF7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
            "00-00000000000000000000000000000000-b7ad6b7169203331-01",
            "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-0x",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-more",
            "00-0af7651916cd43dd8448eb211c80319c_b7ad6b7169203331-01",
            "01-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01more",
            "00-0af7651916cd43dd8448eb211c80319cé-b7ad6b7169203331-1",
        ]) func malformed(text: String)
    { #expect(TraceContext(traceparent: text) == nil) }

    @Test("is read as far as it is known, if a later version has more behind it") func later() {
        let start = "cc-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
        for text in [start, start + "-more"] { #expect(TraceContext(traceparent: text)?.isSampled == true) }
    }

    @Test("loses a state that is malformed or has too many members, and the last members of one that is too long")
    func states() {
        func state(_ text: String) -> String? {
            TraceContext(
                traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", tracestate: text)?.tracestate
        }
        for text in [
            "", "a", "=1", "a=", "A=1", "a=1=2", "a=\u{e9}", (0..<33).map { "k\($0)=1" }.joined(separator: ","),
        ] {
            #expect(state(text) == "", "\(text)")
        }
        let long = (0..<4).map { "k\($0)=" + String(repeating: "x", count: 200) }.joined(separator: ",")
        #expect(state(long)?.utf8.count == 407)
    }
}
