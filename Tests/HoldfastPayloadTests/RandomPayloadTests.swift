import Foundation
import Holdfast
import HoldfastPayload
import Testing

@Suite("Payloads of random parts")
struct RandomPayloadTests {
    @Test("Foundation reads what was put in, the size is as counted, and no key is there twice", arguments: 0..<300)
    func parses(seed: Int) throws {
        let random = try RandomPayload(seed: seed)
        let bytes = try random.payload.encoded(limit: nil)
        #expect(try JSONDecoder().decode(JSONTree.self, from: Data(bytes)) == random.expected, "seed \(seed)")
        #expect(try random.payload.byteCount() == bytes.count)
        try JSONScanner.checkObject(bytes)
        #expect(try random.payload.encoded(limit: nil) == bytes)
        #expect(throws: APNsPayloadError.self) { try random.payload.encoded(limit: bytes.count - 1) }
        #expect(try random.payload.encoded(limit: bytes.count) == bytes)
        var keys: Set<String> = []
        var members = try JSONMembers(bytes.span, in: 0..<bytes.count)
        while let name = try members.nextName(bytes.span) {
            let isNew = keys.insert(try JSONScanner.string(bytes.span, in: name)).inserted
            #expect(isNew, "seed \(seed)")
        }
    }

    @Test("Shortened, it fits, its body is whole characters, and one more would not fit", arguments: 0..<300)
    func shortens(seed: Int) throws {
        var payload = try RandomPayload(seed: seed).payload
        var random = Xoshiro256(seed: UInt64(seed))
        let body = RandomPayload.text(Int.random(in: 1...120, using: &random), using: &random)
        if payload.alert == nil { payload.alert = .init() }
        payload.alert?.body = body
        let ending = ["…", "", " (more)", "\""][Int.random(in: 0..<4, using: &random)]
        var least = payload
        least.alert?.body = ending
        let (smallest, whole) = (try least.byteCount(), try payload.byteCount())
        for limit in [Int.min, 0, smallest - 1, smallest, smallest + 3, (smallest + whole) / 2, whole - 1, whole] {
            guard limit >= min(smallest, whole) else {
                let error = #expect(throws: APNsPayloadError.self) { try payload.shortened(to: limit, ending: ending) }
                #expect(error?.kind == .tooLarge(bytes: whole, limit: limit), "seed \(seed)")
                continue
            }
            let shortened = try payload.shortened(to: limit, ending: ending)
            #expect(try shortened.encoded(limit: limit).count <= limit, "seed \(seed)")
            guard limit < whole else {
                #expect(shortened == payload)
                continue
            }
            let kept = try #require(shortened.alert?.body).unicodeScalars.dropLast(ending.unicodeScalars.count)
            let cut = kept.endIndex
            // Where the body was cut, it had a boundary between two characters.
            let place = body.unicodeScalars.index(body.startIndex, offsetBy: kept.count)
            #expect(body.unicodeScalars.starts(with: kept) && cut >= kept.startIndex, "seed \(seed)")
            #expect(body.indices.contains(place), "seed \(seed), limit \(limit)")
            var longer = payload
            longer.alert?.body = body[...place] + ending
            #expect(try longer.byteCount() > limit, "seed \(seed), limit \(limit)")
            // Nothing else was touched.
            longer.alert?.body = shortened.alert?.body
            #expect(longer == shortened)
        }
    }
}
