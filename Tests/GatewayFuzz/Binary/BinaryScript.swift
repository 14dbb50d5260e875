import Trials

/// What a client of the binary protocol writes in a trial: notifications that are in order, then perhaps one that is not,
/// more behind it, and perhaps bytes that were bent on the way. Written here byte by byte, since a codec that the gateway
/// reads with would hide its own faults.
struct BinaryScript {
    struct Item {
        let identifier: UInt32
        let command: UInt8
        let payload: [UInt8]
        /// What the gateway must say of it; nil where it is in order.
        let status: UInt8?

        /// As an error names it: command 0 has no name.
        var name: UInt32 { command == 0 ? 0 : identifier }
    }

    private(set) var items: [Item] = []
    private(set) var bytes: [UInt8] = []
    /// So many items are as they were written; what was bent lies behind them.
    private(set) var honestCount = 0
    /// Nothing was bent.
    var isHonest: Bool { honestCount == items.count && !hasTail }
    private var hasTail = false

    /// On the blacklist.
    static let badToken = [UInt8](repeating: 0xBA, count: 32)

    init(_ random: inout SeededRandom) {
        var ends: [Int] = []
        let flaws: [UInt8] = random.once(in: 3) ? [] : [2, 5, 4, 7, 8, 77]
        let count = random.below(60)
        let flawed = random.below(80)
        for number in 0..<count {
            append(number, flaw: number == flawed && !flaws.isEmpty ? random.one(of: flaws) : nil, &random)
            ends.append(bytes.count)
        }
        honestCount = count
        if random.once(in: 3) { bend(ends, &random) }
        if random.once(in: 5) {
            hasTail = true
            bytes += random.bytes(random.below(300))
        }
    }

    private mutating func append(_ number: Int, flaw: UInt8?, _ random: inout SeededRandom) {
        let identifier = UInt32(number + 1)
        let command = UInt8(random.below(3))
        var token = (0..<4).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) } + random.bytes(28)
        var payload = Array(
            #"{"aps":{"alert":"\#(number)"},"x":"\#(String(repeating: "x", count: random.below(2000)))"}"#.utf8)
        var status = flaw
        switch flaw {
        case 2: token = []
        case 5: token = random.bytes(101)
        case 4: payload = []
        case 7: payload = [UInt8](repeating: 0x20, count: 4097)
        case 8: token = Self.badToken
        case 77:
            payload = Array("no JSON".utf8)
            status = 7
        default: break
        }
        items.append(Item(identifier: identifier, command: command, payload: payload, status: status))
        bytes.append(command)
        switch command {
        case 0: bytes += Self.sized(token) + Self.sized(payload)
        case 1: bytes += Self.big(identifier) + Self.big(4_000_000_000) + Self.sized(token) + Self.sized(payload)
        default:
            var parts = [(UInt8(1), token), (2, payload), (3, Self.big(identifier))]
            if random.once(in: 2) { parts.append((4, Self.big(4_000_000_000))) }
            if random.once(in: 2) { parts.append((5, [random.one(of: [10, 5])])) }
            // An error about a frame names it only where its identifier was read.
            parts.shuffle(using: &random)
            let frame = parts.flatMap { [$0.0] + Self.sized($0.1) }
            bytes += Self.big(UInt32(frame.count)) + frame
        }
    }

    /// Changes, inserts or leaves out bytes, from a place on.
    private mutating func bend(_ ends: [Int], _ random: inout SeededRandom) {
        guard !bytes.isEmpty else { return }
        let place = random.below(bytes.count)
        honestCount = ends.firstIndex { $0 > place } ?? items.count
        switch random.below(3) {
        case 0:
            for _ in 0...random.below(8) { bytes[place + random.below(bytes.count - place)] = UInt8(random.below(256)) }
        case 1: bytes.insert(contentsOf: random.bytes(1 + random.below(20)), at: place)
        default: bytes.removeSubrange(place..<min(place + 1 + random.below(40), bytes.count))
        }
    }

    private static func big(_ value: UInt32) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * UInt32($0))) }
    }

    private static func sized(_ data: [UInt8]) -> [UInt8] {
        [UInt8(truncatingIfNeeded: data.count >> 8), UInt8(truncatingIfNeeded: data.count)] + data
    }
}
