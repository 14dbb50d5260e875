/// How long ended notifications are kept, to be found by operators and read by readers of outcomes.
public struct HistoryPolicy: Hashable, Sendable {
    /// Whether they are kept at all. Default: true.
    public var isKept: Bool
    /// How long they are kept. Default: 24 hours.
    public var age: Duration
    /// The most bytes that they take with their index, beside the journal's own limit; the oldest are deleted first. A
    /// notification takes about 150 bytes, and its context besides. Default: 1 GiB.
    public var limitBytes: Int
    /// Whether payloads are kept with them. Default: false.
    public var keepsPayloads: Bool

    /// Creates a policy.
    public init(
        isKept: Bool = true, age: Duration = .seconds(24 * 60 * 60), limitBytes: Int = 1 << 30,
        keepsPayloads: Bool = false
    ) {
        self.isKept = isKept
        self.age = age
        self.limitBytes = limitBytes
        self.keepsPayloads = keepsPayloads
    }

    /// Nothing is kept, and no outcome can be found or awaited.
    public static let none = HistoryPolicy(isKept: false)
}
