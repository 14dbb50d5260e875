import HoldfastPostgres
import Testing

@Suite("Whether a host has room for a journal that it takes over")
struct TakeoverRoomTests {
    private let mebibyte = 1 << 20

    private func mayTake(_ room: inout TakeoverRoom, needed: Int, available: Int?, at second: Int) -> Bool {
        room.beginLook()
        return room.mayTake(
            "gone", needed: needed * mebibyte, available: available.map { $0 * mebibyte }, at: .seconds(second))
    }

    @Test("A copy that has no room is not begun, and what it lacks is told until it has")
    func lacks() {
        var room = TakeoverRoom()
        #expect(!mayTake(&room, needed: 97, available: 12, at: 0))
        #expect(
            room.want
                == TakeoverRoom.Want(journal: "gone", needed: 97 * mebibyte, available: 12 * mebibyte))
        #expect(mayTake(&room, needed: 97, available: 97, at: 2))
        #expect(room.want == nil)
        // A journal that somebody else has taken meanwhile lacks nothing.
        #expect(!mayTake(&room, needed: 97, available: 12, at: 4))
        room.beginLook()
        #expect(room.want == nil)
    }

    @Test("One that was given back for want of room waits, and each time longer, unless more is free than before")
    func pauses() {
        var room = TakeoverRoom()
        #expect(mayTake(&room, needed: 97, available: 100, at: 0))
        room.failed(available: 100 * mebibyte, at: .seconds(1))
        for second in [2, 30, 60] {
            #expect(!mayTake(&room, needed: 97, available: 100, at: second))
            #expect(room.want?.needed == 116 * mebibyte)
        }
        #expect(mayTake(&room, needed: 97, available: 116, at: 60))
        #expect(mayTake(&room, needed: 97, available: 100, at: 61))
        room.failed(available: 100 * mebibyte, at: .seconds(61))
        #expect(!mayTake(&room, needed: 97, available: 100, at: 61 + 119))
        #expect(mayTake(&room, needed: 97, available: 100, at: 61 + 120))
        for _ in 0..<20 { room.failed(available: 0, at: .seconds(200)) }
        #expect(!mayTake(&room, needed: 0, available: 0, at: 200 + 959))
        #expect(mayTake(&room, needed: 0, available: 0, at: 200 + 960))
    }

    @Test("After one that was opened, the pauses are short again")
    func opened() {
        var room = TakeoverRoom()
        for _ in 0..<3 { room.failed(available: 0, at: .zero) }
        room.opened()
        #expect(mayTake(&room, needed: 97, available: 97, at: 1))
        room.failed(available: 0, at: .seconds(1))
        #expect(!mayTake(&room, needed: 0, available: 0, at: 60) && mayTake(&room, needed: 0, available: 0, at: 61))
    }

    @Test("Where the system does not say what is free, it is tried")
    func unknown() {
        var room = TakeoverRoom()
        #expect(mayTake(&room, needed: 97, available: nil, at: 0))
    }
}
