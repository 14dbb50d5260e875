internal import Holdfast

/// What a listener did, in figures, counted in batches from any thread and read when somebody asks.
public final class IngressFigures: Sendable {
    public struct Values: Hashable, Sendable {
        /// On disk and answered so, or in the binary protocol: on disk.
        public var accepted = 0
        /// Recognised as ones that were accepted before.
        public var repeated = 0
        /// By the word that was answered.
        public var refused: [String: Int] = [:]
        /// Left without an answer: nobody can say whether they are on disk, or the client had gone.
        public var unanswered = 0
        /// Told by a feedback listener.
        public var tuples = 0
        /// Connections that were ended for what their client did, or did not do: by why.
        public private(set) var faults: [String: Int] = [:]

        public init() {}

        mutating func add(_ fault: ListenerFault, _ count: Int = 1) { faults[fault.rawValue, default: 0] += count }

        mutating func add(_ other: Values) {
            accepted += other.accepted
            repeated += other.repeated
            unanswered += other.unanswered
            tuples += other.tuples
            refused.merge(other.refused, uniquingKeysWith: +)
            faults.merge(other.faults, uniquingKeysWith: +)
        }
    }

    private let values = Monitor(Values())

    init() {}

    public var current: Values { values.withLock { $0 } }

    func add(_ more: Values) { values.withLock { $0.add(more) } }

    /// A connection is ended for what its client did, or did not do.
    func fault(_ why: ListenerFault) { values.withLock { $0.add(why) } }
}
