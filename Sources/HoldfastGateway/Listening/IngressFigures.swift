internal import Holdfast

/// The counters of a listener: added to in batches from any thread, and read on request.
package final class IngressFigures: Sendable {
    package struct Values: Hashable, Sendable {
        /// Answered as accepted and on disk; in the binary protocol: on disk.
        package var accepted = 0
        /// Recognised as accepted before.
        package var repeated = 0
        /// Refused, by the reason that was answered.
        package var refused: [String: Int] = [:]
        /// Left without an answer: it is unknown whether they are on disk, or the client had gone.
        package var unanswered = 0
        /// Answered with `holdfast-outcome`, by its word; in the binary protocol, errors about notifications on disk.
        package var told: [String: Int] = [:]
        /// Served by a feedback listener.
        package var tuples = 0
        /// Connections ended for an act or omission of their client, by fault.
        package private(set) var faults: [String: Int] = [:]

        package init() {}

        mutating func add(_ fault: ListenerFault, _ count: Int = 1) { faults[fault.rawValue, default: 0] += count }

        mutating func add(_ other: Values) {
            accepted += other.accepted
            repeated += other.repeated
            unanswered += other.unanswered
            tuples += other.tuples
            refused.merge(other.refused, uniquingKeysWith: +)
            told.merge(other.told, uniquingKeysWith: +)
            faults.merge(other.faults, uniquingKeysWith: +)
        }
    }

    private let values = Monitor(Values())

    init() {}

    package var current: Values { values.withLock { $0 } }

    func add(_ more: Values) { values.withLock { $0.add(more) } }

    /// Counts a connection that was ended for a fault of its client.
    func fault(_ why: ListenerFault) { values.withLock { $0.add(why) } }
}
