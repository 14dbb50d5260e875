import HostileHTTP2
import Trials

/// What one hostile client does, piece by piece.
struct HostileScript {
    private enum Habit: CaseIterable {
        /// Mostly as it should; now and then something else.
        case sly
        /// One malice again and again.
        case flood
        /// Bytes changed on their way.
        case noisy
        /// Requests that begin and do not end.
        case slow
        /// Whatever comes.
        case wild
        /// Not HTTP/2 at all.
        case stranger
    }

    private let habit: Habit
    private let malice: Malice
    private var stepsLeft: Int
    private var situation = Situation(isServer: false)
    private var splitter: [[UInt8]] = []
    private var hasBegun = false

    init(_ random: inout SeededRandom) {
        habit = random.one(of: Habit.allCases)
        malice = random.one(of: Malice.allCases)
        stepsLeft = 5 + random.below(60)
    }

    /// The next piece; nil at the end.
    ///
    /// - Parameter request: makes one, as it should be or without its end.
    mutating func next(
        request: (_ stream: UInt32, _ token: UInt32, _ body: [UInt8], _ cut: Bool) -> [UInt8],
        _ random: inout SeededRandom
    ) -> [UInt8]? {
        if !splitter.isEmpty { return splitter.removeFirst() }
        guard stepsLeft > 0 else { return nil }
        stepsLeft -= 1
        var bytes: [UInt8] = []
        if !hasBegun {
            hasBegun = true
            if habit != .stranger || random.once(in: 2) { bytes += WireFrame.preface + WireFrame.settings([]).bytes }
        }
        bytes += step(request, &random)
        if habit == .noisy, random.once(in: 3) { bytes = HeaderBlocks.mutated(bytes, &random) }
        if random.once(in: 4) { return cut(bytes, &random) }
        return bytes
    }

    private mutating func step(
        _ request: (UInt32, UInt32, [UInt8], Bool) -> [UInt8], _ random: inout SeededRandom
    ) -> [UInt8] {
        switch habit {
        case .sly: return random.once(in: 5) ? misdeed(&random) : requests(1 + random.below(4), request, &random)
        case .flood:
            guard !random.once(in: 8) else { return requests(1, request, &random) }
            let count = 1 + random.below(400)
            return (0..<count).flatMap { _ in malice.bytes(&situation, &random) }
        case .noisy: return requests(1 + random.below(4), request, &random)
        case .slow: return requests(1 + random.below(10), request, &random, cut: true)
        case .wild: return random.once(in: 3) ? requests(1, request, &random) : misdeed(&random)
        case .stranger: return random.bytes(random.below(2000))
        }
    }

    private mutating func misdeed(_ random: inout SeededRandom) -> [UInt8] {
        random.one(of: Malice.allCases).bytes(&situation, &random)
    }

    private mutating func requests(
        _ count: Int, _ request: (UInt32, UInt32, [UInt8], Bool) -> [UInt8], _ random: inout SeededRandom,
        cut: Bool = false
    ) -> [UInt8] {
        (0..<count).flatMap { _ in
            let stream = situation.nextStream()
            situation.open.append(stream)
            if situation.open.count > 20 { situation.closed.append(situation.open.removeFirst()) }
            let bodies: [[UInt8]] = [
                Array(#"{"aps":{}}"#.utf8), [], Array("x".utf8), [UInt8](repeating: 0x20, count: 5000),
                [UInt8](repeating: 0x7B, count: 16_000), random.bytes(30),
            ]
            let body = random.once(in: 2) ? bodies[0] : random.one(of: bodies)
            return request(stream, UInt32(truncatingIfNeeded: random.next()), body, cut && !random.once(in: 5))
        }
    }

    private mutating func cut(_ bytes: [UInt8], _ random: inout SeededRandom) -> [UInt8] {
        var rest = bytes[...]
        while !rest.isEmpty, splitter.count < 40 {
            let count = min(rest.count, 1 + random.below(random.one(of: [2, 30, 2000])))
            splitter.append(Array(rest.prefix(count)))
            rest = rest.dropFirst(count)
        }
        if !rest.isEmpty { splitter.append(Array(rest)) }
        return splitter.isEmpty ? [] : splitter.removeFirst()
    }
}
