import Foundation
import Holdfast
import Testing

@testable import HoldfastControl

@Suite("An entry of the blacklist, as the control socket takes it")
struct BlacklistFormTests {
    private func read(_ names: String) throws -> BlacklistEntry {
        let text =
            #"{\#(names),"reason":"Operator","since":"2026-11-21T12:00:00Z","learntAt":"2026-11-21T12:00:00Z","route":"r"}"#
        return try JSONDecoder().decode(BlacklistForm.self, from: Data(text.utf8)).value()
    }

    @Test("Another service's address may stand under its own key, or under that of tokens")
    func address() throws {
        #expect(try read(#""address":"fid:cXy1""#) == read(#""token":"fid:cXy1""#))
        #expect(try read(#""token":"00fc""#).recipient.token != nil)
        #expect(throws: (any Error).self) { try read(#""token":"00fc","address":"fid:cXy1""#) }
        #expect(throws: (any Error).self) { try read(#""topic":"a""#) }
    }

    @Test("It is read as it is written")
    func roundTrip() throws {
        let entry = BlacklistEntry(
            recipient: try Recipient(notation: "00fc"), reason: Reason(rawValue: "Unregistered"),
            since: WallTime(seconds: 5),
            learntAt: WallTime(seconds: 7), route: "r", topic: "a", endpoint: "e", status: 410,
            expiresAt: WallTime(seconds: 9))
        let text = try JSONEncoder().encode(BlacklistForm(entry))
        #expect(try JSONDecoder().decode(BlacklistForm.self, from: text).value() == entry)
    }
}
