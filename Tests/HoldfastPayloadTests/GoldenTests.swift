import Foundation
import HoldfastPayload
import Testing

private func json(_ payload: APNsPayload) throws -> String { String(decoding: try payload.encoded(), as: UTF8.self) }

@Suite("Each documented field, against JSON written by hand")
struct GoldenTests {
    @Test("Apple's keys of aps", arguments: GoldenPayloads.table1) func aps(golden: Golden) throws {
        #expect(try json(golden.payload()) == golden.json)
    }

    @Test("Apple's keys of alert and sound", arguments: GoldenPayloads.table2) func alert(golden: Golden) throws {
        #expect(try json(golden.payload()) == golden.json)
    }

    @Test("Whole payloads", arguments: GoldenPayloads.whole) func whole(golden: Golden) throws {
        #expect(try json(golden.payload()) == golden.json)
    }

    @Test("A key of aps that has a property can't be given twice", arguments: GoldenPayloads.table1)
    func known(golden: Golden) throws {
        let object = try JSONSerialization.jsonObject(with: Data(golden.json.utf8)) as? [String: [String: Any]]
        for key in try #require(object?["aps"]).keys {
            var payload = APNsPayload()
            payload.otherKeys[key] = 1
            let error = #expect(throws: APNsPayloadError.self) { try payload.encoded() }
            #expect(error?.kind == .invalid && error?.message.contains(key) == true)
        }
    }

    @Test(
        "What is written is JSON that Foundation reads as the same",
        arguments: GoldenPayloads.table1 + GoldenPayloads.table2 + GoldenPayloads.whole)
    func foundation(golden: Golden) throws {
        let ours = try JSONSerialization.jsonObject(with: Data(golden.payload().encoded())) as? NSDictionary
        let theirs = try JSONSerialization.jsonObject(with: Data(golden.json.utf8)) as? NSDictionary
        #expect(ours != nil && ours == theirs)
    }
}
