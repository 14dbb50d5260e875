import Testing

@testable import Holdfast
@testable import HoldfastFCM

/// A host compares its access token with the one that hosts share.
@Suite("The access token that hosts share") struct AccessTokenExchangeTests {
    typealias Exchange = AccessTokenMachine.Exchange

    private static let start = WallTime(seconds: 1_800_000_000)
    private static func at(_ seconds: Int64) -> WallTime { start.advanced(by: .seconds(seconds)) }

    /// One that lasts 1000 s.
    private static func token(_ text: String, _ fetched: Int64, isReplacement: Bool = false) -> AccessToken {
        AccessToken(text: text, fetchedAt: at(fetched), expiresAt: at(fetched + 1000), isReplacement: isReplacement)
    }

    private static func shared(_ text: String, _ fetched: Int64, isReplacement: Bool = false) -> SharedAccessToken {
        SharedAccessToken(token(text, fetched, isReplacement: isReplacement))
    }

    private static func machine(_ own: AccessToken?) -> AccessTokenMachine {
        var machine = AccessTokenMachine()
        if let own { _ = machine.adopt(own, wall: own.fetchedAt) }
        return machine
    }

    private struct Row: Sendable {
        let name: String
        var own: AccessToken?
        var refusals: [String] = []
        var shared: SharedAccessToken?
        /// Which token is sent with then, and what is written.
        let used: String?
        let step: Exchange
    }

    private static let rows: [Row] = [
        Row(name: "nothing anywhere", used: nil, step: .settled),
        Row(name: "none is shared", own: token("a", 0), used: "a", step: .write(shared("a", 0))),
        Row(name: "this host has none", shared: shared("b", 0), used: "b", step: .settled),
        Row(name: "the same", own: token("a", 0), shared: shared("a", 0), used: "a", step: .settled),
        Row(name: "a newer one is shared", own: token("a", 0), shared: shared("b", 1), used: "b", step: .settled),
        Row(
            name: "an older one is shared", own: token("a", 1), shared: shared("b", 0), used: "a",
            step: .write(shared("a", 1))),
        Row(
            name: "an expired one is shared", own: token("a", 0), shared: shared("b", -990), used: "a",
            step: .write(shared("a", 0))),
        Row(
            name: "an expired one is shared, and this host has none", shared: shared("b", -990), used: nil,
            step: .settled),
        Row(name: "this host's has expired", own: token("a", -990), shared: shared("b", -1), used: "b", step: .settled),
        Row(name: "one from the future", own: token("a", 0), shared: shared("b", 100), used: "a", step: .settled),
        Row(name: "one a little ahead", own: token("a", 0), shared: shared("b", 59), used: "b", step: .settled),
        Row(
            name: "this host was refused the shared one, and has none", refusals: ["b"], shared: shared("b", 0),
            used: nil,
            step: .write(SharedAccessToken(token("b", 0), isRefused: true))),
        Row(
            name: "this host was refused the shared one, and has an older one", own: token("a", 0), refusals: ["b"],
            shared: shared("b", 1), used: "a", step: .write(shared("a", 0))),
        Row(
            name: "another host was refused this one's", own: token("a", 0),
            shared: SharedAccessToken(token("a", 0), isRefused: true), used: nil, step: .settled),
        Row(
            name: "another host was refused one, and this one has another", own: token("a", 0),
            shared: SharedAccessToken(token("b", 1), isRefused: true), used: "a", step: .write(shared("a", 0))),
        Row(
            name: "another host was refused one, and this one has none",
            shared: SharedAccessToken(token("b", 1), isRefused: true), used: nil, step: .settled),
        Row(
            name: "a replacement that the service has taken here", own: token("a", 0),
            shared: shared("a", 0, isReplacement: true), used: "a", step: .write(shared("a", 0))),
        Row(
            name: "a replacement that the service has taken elsewhere", own: token("a", 0, isReplacement: true),
            shared: shared("a", 0), used: "a", step: .settled),
    ]

    @Test("The newer one is used, the better one is offered, and a refused one is nobody's", arguments: rows.indices)
    func exchanged(index: Int) {
        let row = Self.rows[index]
        var machine = Self.machine(row.own)
        for text in row.refusals { machine.noteRefusal(of: text) }
        let step = machine.exchange(row.shared, wall: Self.at(0))
        #expect(step == row.step, "\(row.name)")
        #expect(machine.current(wall: Self.at(0))?.text == row.used, "\(row.name)")
    }

    @Test("A token that the service has refused is not taken again: not from the store, not from a journal")
    func refused()
        throws
    {
        var machine = Self.machine(Self.token("a", 0))
        let refusal = machine.refused(Self.token("a", 0))
        #expect(refusal == .replaced)
        let step = machine.exchange(Self.shared("a", 0), wall: Self.at(0))
        #expect(step == .write(SharedAccessToken(Self.token("a", 0), isRefused: true)))
        #expect(machine.current(wall: Self.at(0)) == nil && machine.wantsFetch(wall: Self.at(0), monotonic: .zero))
        var other = AccessTokenMachine()
        let nothing = other.exchange(SharedAccessToken(Self.token("a", 0), isRefused: true), wall: Self.at(0))
        #expect(nothing == .settled)
        let isRestored = other.restore(Self.token("a", 0), wall: Self.at(0))
        let again = other.exchange(Self.shared("a", 0), wall: Self.at(0))
        #expect(!isRestored && other.token == nil)
        #expect(again == .write(SharedAccessToken(Self.token("a", 0), isRefused: true)))
    }

    @Test("Hosts whose account may not send stop, and don't take each other's tokens for ever") func hopeless() {
        var hosts = [AccessTokenMachine(), AccessTokenMachine()]
        var (note, fetches) = (SharedAccessToken?.none, 0)
        for round in 0..<40 {
            let now = Self.at(Int64(round))
            for index in hosts.indices {
                if case .write(let next) = hosts[index].exchange(note, wall: now) { note = next }
                if hosts[index].wantsFetch(wall: now, monotonic: .seconds(round)) {
                    hosts[index].begin()
                    fetches += 1
                    _ = hosts[index].fetched("t\(fetches)", lifetime: .seconds(1000), wall: now)
                    if case .write(let next) = hosts[index].exchange(note, wall: now) { note = next }
                }
                if let token = hosts[index].current(wall: now) { _ = hosts[index].refused(token) }
            }
        }
        #expect((2...4).contains(fetches), "\(fetches)")
        #expect(hosts[0].isStopped && hosts[1].isStopped)
    }

    @Test("Another host's token ends failures, and what has stopped for want of one runs again") func adopted() {
        var machine = AccessTokenMachine()
        machine.begin()
        machine.failed(FetchError("gone", isFinal: true), wall: Self.at(0), monotonic: .zero, jitter: 0)
        #expect(machine.isStopped)
        let step = machine.exchange(Self.shared("b", 0), wall: Self.at(1))
        #expect(step == .settled && !machine.isStopped && machine.failure == nil)
        #expect(!machine.wantsFetch(wall: Self.at(1), monotonic: .seconds(1)))
    }

    @Test("A fetch ends without one where another host's token has come, unless that is old itself") func needless() {
        var machine = Self.machine(Self.token("a", -800))
        machine.begin()
        let isTooEarly = machine.endsFetch(wall: Self.at(0), renewingAt: 0.8)
        #expect(!isTooEarly && machine.isFetching)
        _ = machine.exchange(Self.shared("b", -750), wall: Self.at(0))
        let isOld = machine.endsFetch(wall: Self.at(0), renewingAt: 0.7)
        #expect(!isOld && machine.isFetching)
        let isOver = machine.endsFetch(wall: Self.at(0), renewingAt: 0.8)
        #expect(isOver && !machine.isFetching)
    }

    @Test("No more refusals are remembered than are of use") func bounded() {
        var machine = AccessTokenMachine()
        for number in 0...AccessTokenMachine.rememberedRefusals { machine.noteRefusal(of: "\(number)") }
        #expect(!machine.isRefusedText("0") && machine.isRefusedText("1"))
    }

    @Test("The note of the store is none of a journal's, and one that was changed or cut is none") func notes() {
        let fingerprint = [UInt8](repeating: 7, count: 32)
        for shared in [
            Self.shared("ya29.abc", 0), Self.shared("ya29.abc", 0, isReplacement: true),
            SharedAccessToken(Self.token("ya29.abc", 0), isRefused: true),
        ] {
            let note = shared.note(fingerprint)
            #expect(SharedAccessToken(note: note, fingerprint) == shared)
            #expect(SharedAccessToken(note: note, [UInt8](repeating: 8, count: 32)) == nil)
            #expect(AccessToken(note: note, fingerprint) == nil)
            for count in 0..<52 { #expect(SharedAccessToken(note: Array(note.prefix(count)), fingerprint) == nil) }
            #expect(SharedAccessToken(note: [2, 4] + note.dropFirst(2), fingerprint) == nil)
            #expect(SharedAccessToken(note: [1] + note.dropFirst(), fingerprint) == nil)
        }
        #expect(SharedAccessToken(note: Self.token("a", 0).note(fingerprint), fingerprint) == nil)
    }
}
