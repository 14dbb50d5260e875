import HoldfastAPNsAnswers
import Testing

@testable import Holdfast

@Suite("The entries of a recipient on the blacklist")
struct TokenEntriesTests {
    private func entry(
        since: Int64, expiresAt: Int64? = nil, reason: Reason = .unregistered, topic: String? = "t"
    ) -> BlacklistEntry {
        BlacklistEntry(
            recipient: .service(ServiceAddress(checked: .firebaseInstallation, [0x78])), reason: reason,
            since: WallTime(milliseconds: since), learntAt: WallTime(milliseconds: 5), route: "r", topic: topic,
            endpoint: "e", expiresAt: expiresAt.map { WallTime(milliseconds: $0) })
    }

    private func renewed(_ old: BlacklistEntry, by new: BlacklistEntry) -> BlacklistEntry? {
        var (known, number) = (TokenEntries(), UInt64(0))
        _ = known.add(old, number: &number)
        let isRenewed = known.add(new, number: &number)
        #expect(isRenewed == (number == 2))
        #expect(known.entries.count == 1)
        return isRenewed ? known.entries.first : nil
    }

    @Test("One that has expired is renewed although the service says the same time again") func sameTime() throws {
        let found = try #require(renewed(entry(since: 10, expiresAt: 100), by: entry(since: 10, expiresAt: 300)))
        #expect(found.expiresAt == WallTime(milliseconds: 300) && found.number == 2)
    }

    @Test(
        "One that is learnt again on a clock that was moved back expires no earlier, and holds since as late as before")
    func movedBack() throws {
        #expect(renewed(entry(since: 100, expiresAt: 400), by: entry(since: 50, expiresAt: 350)) == nil)
        let found = try #require(renewed(entry(since: 100, expiresAt: 400), by: entry(since: 90, expiresAt: 500)))
        #expect(found.since == WallTime(milliseconds: 100) && found.expiresAt == WallTime(milliseconds: 500))
    }

    @Test("One that never expires gets no end by being renewed") func never() throws {
        let found = try #require(
            renewed(entry(since: 10, reason: Reason(rawValue: "Operator")), by: entry(since: 20, expiresAt: 300)))
        #expect(found.expiresAt == nil && found.since == WallTime(milliseconds: 20) && found.reason == .unregistered)
        #expect(renewed(entry(since: 20), by: entry(since: 20, expiresAt: 300)) == nil)
        let ever = try #require(renewed(entry(since: 20, expiresAt: 300), by: entry(since: 10)))
        #expect(ever.expiresAt == nil && ever.since == WallTime(milliseconds: 20))
    }

    @Test("One forbids nothing from its expiry on, and again before it when the clock is moved back") func expiry() {
        func isForbidden(_ now: Int64?, registeredAt: Int64? = nil) -> Bool {
            TokenBlacklist.forbidding(
                [entry(since: 10, expiresAt: 100)], topic: "t", endpoint: "e",
                registeredAt: registeredAt.map { WallTime(milliseconds: $0) },
                now: now.map { WallTime(milliseconds: $0) }) != nil
        }
        #expect(isForbidden(99) && !isForbidden(100) && !isForbidden(101) && isForbidden(50) && isForbidden(nil))
        #expect(!isForbidden(50, registeredAt: 11) && isForbidden(50, registeredAt: 10))
    }

    @Test("Of several those count that have not expired") func several() {
        let found = TokenBlacklist.forbidding(
            [entry(since: 20, expiresAt: 100), entry(since: 10, topic: nil)], topic: "t", endpoint: "e",
            registeredAt: nil, now: WallTime(milliseconds: 100))
        #expect(found?.since == WallTime(milliseconds: 10))
    }
}
