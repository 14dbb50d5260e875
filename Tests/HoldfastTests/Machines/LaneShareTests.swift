import Testing

@testable import Holdfast

@Suite struct LaneShareTests {
    private let lanes: [Urgency] = [.immediate, .immediate, .considerate, .considerate]

    /// Serves the lanes with `room` places again and again.
    ///
    /// - Returns: the places of each.
    private func serve(_ wanting: [Int], room: Int, rounds: Int) -> [Int] {
        var share = LaneShare(lanes)
        var given = [0, 0, 0, 0]
        for _ in 0..<rounds {
            var left = room
            while left > 0, let lane = share.next(of: wanting) {
                let part = share.part(of: lane, among: wanting, room: left)
                share.took(part, lane: lane)
                given[lane] += part
                left -= part
            }
        }
        return given
    }

    @Test("A lane that is alone is given everything in one go", arguments: 0..<4) func alone(_ lane: Int) {
        #expect(LaneShare(lanes).part(of: lane, among: [lane], room: 1000) == 1000)
    }

    @Test("Both guarantees of one urgency get the same, whatever the room", arguments: [1, 2, 7, 1000])
    func guarantees(_ room: Int) {
        let given = serve([0, 1], room: room, rounds: 100)
        #expect(abs(given[0] - given[1]) <= room)
        #expect(given[0] + given[1] == 100 * room)
    }

    @Test("Immediate lanes get sixteen places for each one of a considerate lane", arguments: [1, 10, 1000])
    func urgencies(_ room: Int) {
        let given = serve([0, 2], room: room, rounds: 1700)
        let share = Double(given[2]) / Double(given[0] + given[2])
        #expect(abs(share - 1.0 / 17) < 0.005)
    }

    @Test("No order of lanes starves one", arguments: [[0, 1, 2, 3], [0, 2, 3], [1, 3]]) func nobodyStarves(
        _ wanting: [Int]
    ) {
        let given = serve(wanting, room: 1, rounds: 100)
        for lane in wanting { #expect(given[lane] > 0, "lane \(lane) of \(wanting) starved") }
    }

    @Test("A lane whose turn came when nothing more could go has it yet to come") func nothingLeft() {
        var share = LaneShare(lanes)
        var given = [0, 0, 0, 0]
        for _ in 0..<340 {
            var (wanting, left) = ([0, 2], 1)
            while let lane = share.next(of: wanting) {
                share.took(left, lane: lane)
                given[lane] += left
                if left == 0 { wanting.removeAll { $0 == lane } }
                left = 0
            }
        }
        #expect(given == [320, 0, 20, 0])
    }

    @Test("What a lane was given out of its turn costs none of the others theirs") func outOfTurn() {
        var share = LaneShare(lanes)
        share.took(1, lane: 1)
        share.charge(2, to: 0)
        share.charge(2, to: 0)
        #expect(share.next(of: [0, 1, 2]) == 2)
    }

    @Test("A lane that was idle has saved nothing up") func idle() {
        var share = LaneShare(lanes)
        for _ in 0..<1000 {
            if let lane = share.next(of: [0]) { share.took(100, lane: lane) }
        }
        var served: [Int] = []
        for _ in 0..<10 {
            guard let lane = share.next(of: [0, 1]) else { break }
            served.append(lane)
            share.took(100, lane: lane)
        }
        #expect(served.count { $0 == 1 } <= 6)
        #expect(served.count { $0 == 0 } >= 4)
    }

    @Test("A lane is ahead of another that has had less than its share") func ahead() {
        var share = LaneShare(lanes)
        #expect(!share.isAhead(0, of: [1]))
        _ = share.next(of: [0, 1])
        share.took(5, lane: 0)
        #expect(share.isAhead(0, of: [1]))
        #expect(!share.isAhead(1, of: [0]))
        #expect(!share.isAhead(0, of: []))
    }
}
