internal import Holdfast

/// What happened in a simulation: its tail for people, and a digest of all of it that tells whether two runs were the same.
struct EventLog: Sendable {
    private static let capacity = 150

    private(set) var digest = Fingerprint.empty
    private var ring: [String] = []
    private var next = 0
    /// Says every line as it comes.
    private let say: (@Sendable (String) -> Void)?

    init(say: (@Sendable (String) -> Void)?) { self.say = say }

    mutating func add(_ line: String) {
        digest = Fingerprint.of(CollectionOfOne(UInt8(ascii: "\n")), after: Fingerprint.of(line.utf8, after: digest))
        say?(line)
        if ring.count < Self.capacity {
            ring.append(line)
        } else {
            ring[next] = line
            next = (next + 1) % Self.capacity
        }
    }

    /// The last lines, oldest first.
    var tail: [String] { Array(ring[next...] + ring[..<next]) }
}
