import Testing

@testable import Holdfast
@testable import HoldfastFCM

@Suite("When an access token is fetched") struct AccessTokenMachineTests {
    private static let start = WallTime(seconds: 1_800_000_000)

    /// Both clocks, a number of seconds in.
    private func at(_ seconds: Int64) -> (wall: WallTime, monotonic: Duration) {
        (Self.start.advanced(by: .seconds(seconds)), .seconds(seconds))
    }

    private func wants(_ machine: AccessTokenMachine, _ seconds: Int64) -> Bool {
        let (wall, monotonic) = at(seconds)
        return machine.wantsFetch(wall: wall, monotonic: monotonic)
    }

    /// A machine with a token that lasts 1000 s.
    private func machine(_ text: String = "one") -> AccessTokenMachine {
        var machine = AccessTokenMachine()
        machine.begin()
        _ = machine.fetched(text, lifetime: .seconds(1000), wall: at(0).wall)
        return machine
    }

    @Test("The first is fetched at once, and one at a time") func first() {
        var machine = AccessTokenMachine()
        #expect(wants(machine, 0))
        machine.begin()
        #expect(!wants(machine, 0))
        #expect(machine.current(wall: at(0).wall) == nil)
    }

    @Test("It is renewed at 80 % of its life, used until shortly before its end, and not longer") func renewal() {
        let machine = machine()
        #expect(!wants(machine, 799))
        #expect(wants(machine, 800))
        #expect(machine.current(wall: at(800).wall)?.text == "one")
        #expect(machine.current(wall: at(989).wall)?.text == "one")
        #expect(machine.current(wall: at(990).wall) == nil)
    }

    @Test("A token from the future, of a clock that was set back, is replaced") func setBack() {
        let machine = machine()
        #expect(machine.current(wall: at(-60).wall) != nil)
        #expect(machine.current(wall: at(-61).wall) == nil)
        #expect(wants(machine, -61))
    }

    @Test("Failures are waited out, twice as long each time and a minute at most; the old token serves meanwhile")
    func backoff() {
        var machine = machine()
        var now: Int64 = 800
        for wait in [1, 2, 4, 8, 16, 32, 60, 60] as [Int64] {
            #expect(wants(machine, now))
            machine.begin()
            machine.failed(FetchError("away"), wall: at(now).wall, monotonic: at(now).monotonic, jitter: 0)
            #expect(!wants(machine, now + wait - 1))
            now += wait
        }
        #expect(machine.current(wall: at(900).wall) != nil)
        machine.begin()
        let endsRefusal = machine.fetched("two", lifetime: .seconds(1000), wall: at(now).wall)
        #expect(!endsRefusal)
        #expect(machine.failure == nil && machine.current(wall: at(now).wall)?.text == "two")
    }

    @Test("A wait that the endpoint asks for is kept; jitter takes off half at most") func waits() {
        var asked = machine()
        asked.begin()
        asked.failed(
            FetchError("busy", retryAfter: .seconds(30)), wall: at(800).wall, monotonic: at(800).monotonic, jitter: 1)
        #expect(!wants(asked, 829) && wants(asked, 830))
        var jittered = machine()
        for _ in 0..<3 {
            jittered.begin()
            jittered.failed(FetchError("away"), wall: at(800).wall, monotonic: at(800).monotonic, jitter: 1)
        }
        #expect(!wants(jittered, 801) && wants(jittered, 802))
    }

    @Test("What only a person can mend is an error of the configuration, tried again each minute; its end is told")
    func final() {
        var machine = AccessTokenMachine()
        machine.begin()
        machine.failed(FetchError("gone", isFinal: true), wall: at(0).wall, monotonic: at(0).monotonic, jitter: 1)
        #expect(machine.failure?.connectError.kind == .configuration)
        #expect(!wants(machine, 59) && wants(machine, 60))
        machine.begin()
        let endsRefusal = machine.fetched("one", lifetime: .seconds(1000), wall: at(60).wall)
        #expect(endsRefusal)
    }

    @Test("A token that the service refuses is replaced once; if the next is refused, too, it is final") func refusal()
        throws
    {
        var machine = machine()
        let one = try #require(machine.token)
        let first = machine.refused(one)
        #expect(first == .replaced)
        #expect(machine.current(wall: at(1).wall) == nil && wants(machine, 1))
        machine.begin()
        let endsRefusal = machine.fetched("two", lifetime: .seconds(1000), wall: at(1).wall)
        #expect(!endsRefusal)
        let two = try #require(machine.token)
        // Another connection's answer, to a request with the former one.
        let others = machine.refused(one)
        #expect(others == .replaced)
        let second = machine.refused(two)
        #expect(second == .final)
        #expect(machine.current(wall: at(2).wall) != nil)
        // The next renewal runs stopped lanes again.
        machine.begin()
        let endsRefusalNow = machine.fetched("three", lifetime: .seconds(1000), wall: at(801).wall)
        #expect(endsRefusalNow)
    }

    @Test("A replacement that was taken may be replaced again") func accepted() throws {
        var machine = machine()
        let first = machine.refused(try #require(machine.token))
        #expect(first == .replaced)
        machine.begin()
        _ = machine.fetched("two", lifetime: .seconds(1000), wall: at(1).wall)
        machine.accepted(try #require(machine.token))
        let second = machine.refused(try #require(machine.token))
        #expect(second == .replaced)
    }

    @Test("A token of an earlier process is used while it is good, and there is no other") func restored() throws {
        let token = AccessToken(text: "old", fetchedAt: at(0).wall, expiresAt: at(1000).wall)
        var machine = AccessTokenMachine()
        let isUsedLate = machine.restore(token, wall: at(995).wall)
        #expect(!isUsedLate)
        let isUsed = machine.restore(token, wall: at(500).wall)
        #expect(isUsed)
        #expect(machine.current(wall: at(500).wall)?.text == "old")
        let isUsedTwice = machine.restore(token, wall: at(500).wall)
        #expect(!isUsedTwice)
        #expect(wants(machine, 800))
    }

    @Test("A note of other credentials, or one that was changed or cut, is none") func notes() throws {
        let fingerprint = [UInt8](repeating: 7, count: 32)
        let token = AccessToken(text: "ya29.abc", fetchedAt: at(0).wall, expiresAt: at(1000).wall)
        let note = token.note(fingerprint)
        #expect(AccessToken(note: note, fingerprint) == token)
        #expect(AccessToken(note: note, [UInt8](repeating: 8, count: 32)) == nil)
        for count in 0..<50 { #expect(AccessToken(note: Array(note.prefix(count)), fingerprint) == nil) }
        #expect(AccessToken(note: [2] + note.dropFirst(), fingerprint) == nil)
        #expect(AccessToken(note: note + [0x0a], fingerprint) == nil)
        var reversed = AccessToken(text: "ya29.abc", fetchedAt: at(1000).wall, expiresAt: at(0).wall).note(fingerprint)
        #expect(AccessToken(note: reversed, fingerprint) == nil)
        reversed.removeAll()
        #expect(AccessToken(note: reversed, fingerprint) == nil)
    }
}
