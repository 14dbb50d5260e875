import HoldfastPostgres
import Testing

@Suite("Whether a host has room for a journal that it takes over")
struct TakeoverRoomTests {
    /// A host that looks at one journal which may be taken. Sizes are in MiB, instants in seconds.
    private final class Host {
        var room = TakeoverRoom()

        func mayTake(needed: Int, available: Int?, at second: Int) -> Bool {
            room.beginLook()
            defer { room.endLook() }
            return room.mayTake(
                "gone", needed: needed << 20, available: available.map { $0 << 20 }, at: .seconds(second))
        }

        func failed(available: Int, at second: Int) {
            room.failed(available: available << 20, at: .seconds(second))
        }
    }

    @Test("A copy that has no room is not begun, and what it lacks is told until it has")
    func lacks() {
        let host = Host()
        #expect(!host.mayTake(needed: 97, available: 12, at: 0))
        #expect(host.room.want == TakeoverRoom.Want(journal: "gone", needed: 97 << 20, available: 12 << 20))
        #expect(host.mayTake(needed: 97, available: 97, at: 2))
        #expect(host.room.want == nil)
        // A journal that somebody else has taken meanwhile lacks nothing.
        #expect(!host.mayTake(needed: 97, available: 12, at: 4))
        host.room.beginLook()
        #expect(host.room.want != nil)
        host.room.endLook()
        #expect(host.room.want == nil)
    }

    @Test("One that was given back for want of room waits, and each time longer, unless more is free than before")
    func pauses() {
        let host = Host()
        #expect(host.mayTake(needed: 97, available: 100, at: 0))
        host.failed(available: 100, at: 1)
        for second in [2, 30, 60] {
            #expect(!host.mayTake(needed: 97, available: 100, at: second))
            #expect(host.room.want?.needed == 116 << 20)
        }
        #expect(host.mayTake(needed: 97, available: 116, at: 60))
        #expect(host.mayTake(needed: 97, available: 100, at: 61))
        host.failed(available: 100, at: 61)
        #expect(!host.mayTake(needed: 97, available: 100, at: 61 + 119))
        #expect(host.mayTake(needed: 97, available: 100, at: 61 + 120))
        for _ in 0..<20 { host.failed(available: 0, at: 200) }
        #expect(!host.mayTake(needed: 0, available: 0, at: 200 + 959))
        #expect(host.mayTake(needed: 0, available: 0, at: 200 + 960))
    }

    @Test("After one that was opened, the pauses are short again")
    func opened() {
        let host = Host()
        for _ in 0..<3 { host.failed(available: 0, at: 0) }
        host.room.opened(1)
        #expect(host.mayTake(needed: 97, available: 97, at: 1))
        host.failed(available: 0, at: 1)
        #expect(!host.mayTake(needed: 0, available: 0, at: 60))
        #expect(host.mayTake(needed: 0, available: 0, at: 61))
    }

    @Test("Room for a copy that is being made is no room for another, until it is made or given back")
    func promised() {
        let host = Host()
        #expect(host.mayTake(needed: 97, available: 150, at: 0))
        host.room.took(1, needed: 97 << 20)
        #expect(!host.mayTake(needed: 97, available: 150, at: 0))
        #expect(host.room.want?.available == 53 << 20)
        host.room.left(1)
        #expect(host.mayTake(needed: 97, available: 150, at: 2))
        host.room.took(2, needed: 97 << 20)
        host.room.opened(2)
        #expect(!host.mayTake(needed: 97, available: 53, at: 4))
    }

    @Test("Where the system does not say what is free, it is tried")
    func unknown() {
        let host = Host()
        #expect(host.mayTake(needed: 97, available: nil, at: 0))
    }
}
