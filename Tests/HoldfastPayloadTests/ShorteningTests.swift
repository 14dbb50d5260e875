import Foundation
import HoldfastPayload
import Testing

@Suite("Bodies that are shortened")
struct ShorteningTests {
    private static func payload(_ body: String) -> APNsPayload {
        var payload = APNsPayload(alert: .init(title: "Title", body: body), badge: 1, sound: .default)
        payload["order"] = 4711
        return payload
    }

    @Test("What fits stays as it is")
    func fits() throws {
        let payload = Self.payload("short")
        #expect(try payload.shortened() == payload)
    }

    @Test(
        "A body is cut between two characters, and as little as possible",
        arguments: [
            "plain text ", "quotes \" and \\ ", "line\nbreaks\t", "żółć ", "👩‍👩‍👧‍👦🇵🇱", "\u{1}\u{2}", "e\u{301}\u{323}",
        ],
        [300, 301, 302, 303, 304, 305, 350])
    func cut(unit: String, limit: Int) throws {
        let body = String(repeating: unit, count: 400)
        let payload = try Self.payload(body).shortened(to: limit)
        let kept = try #require(payload.alert?.body)
        let count = try payload.byteCount()
        #expect(count <= limit)
        #expect(kept.hasSuffix("…"))
        #expect(body.hasPrefix(kept.dropLast()))
        // One character more would not have fitted.
        var longer = payload
        longer.alert?.body = body.prefix(kept.count) + "…"
        #expect(try longer.byteCount() > limit)
        // The rest is untouched.
        longer.alert?.body = body
        #expect(longer == Self.payload(body))
    }

    @Test("An alert with nothing but a localisation key stays whole, and is refused with its size")
    func localized() throws {
        var payload = APNsPayload(alert: .init())
        payload.alert?.localizedBody = .init("KEY", String(repeating: "x", count: 5000))
        let error = #expect(throws: APNsPayloadError.self) { try payload.shortened() }
        #expect(error?.kind == .tooLarge(bytes: try payload.byteCount(), limit: 4096))
    }

    @Test("When it is not the body that is too long, nothing is shortened")
    func other() throws {
        var payload = APNsPayload(alert: "Hi")
        payload["rest"] = JSONFragment(String(repeating: "x", count: 5000))
        #expect(throws: APNsPayloadError.self) { try payload.shortened() }
    }

    @Test("The ending is the caller's, also none")
    func ending() throws {
        let payload = APNsPayload(alert: APNsPayload.Alert(String(repeating: "x", count: 100)))
        #expect(try payload.shortened(to: 60, ending: "").byteCount() == 60)
        #expect(try payload.shortened(to: 60, ending: " (more)").alert?.body?.hasSuffix("xx (more)") == true)
    }
}
