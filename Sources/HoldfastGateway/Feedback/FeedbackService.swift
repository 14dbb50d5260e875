internal import Holdfast
internal import Logging
internal import NIOCore
internal import NIOPosix

/// The state that the connections of one feedback listener share: the blacklist, and the position of each topic's
/// readers.
final class FeedbackService: Sendable {
    /// The blacklist entries that are read between two writes.
    static let pageSize = 1000

    let logger: Logger
    let log: ListenerLog
    let figures = IngressFigures()
    let guests: GuestList
    /// Readings whose end is not on disk, those of closed connections included.
    let unfinished = UnfinishedWork()
    private let engine: PushEngine
    private let current: Monitor<FeedbackIngressConfiguration>

    init(
        _ settings: FeedbackIngressConfiguration, asksForCredentials: Bool, engine: PushEngine, logger: Logger,
        logInterval: Duration
    ) {
        guests = GuestList(asksForCredentials: asksForCredentials)
        self.engine = engine
        self.logger = logger
        log = ListenerLog(logger, name: "feedback", interval: logInterval)
        current = Monitor(settings)
    }

    var settings: FeedbackIngressConfiguration {
        get { current.withLock { $0 } }
        set { current.withLock { $0 = newValue } }
    }

    // MARK: Reading, on a thread that may wait for the disk

    /// Begins a reading of the entries that a topic's readers have not got yet.
    func begin(_ topic: String, on loop: any EventLoop) -> EventLoopFuture<FeedbackReading> {
        NIOThreadPool.singleton.runIfActive(eventLoop: loop) { [engine] in
            // First: later additions have a greater number, and are for the next reading.
            let through = engine.blacklist.storage.lastNumber
            return FeedbackReading(
                topic: topic, endpoint: engine.serviceIdentity(for: topic), after: try Self.cursor(of: topic, engine),
                through: through)
        }
    }

    /// The tuples of the next page, encoded, and the reading behind it.
    func page(_ reading: FeedbackReading, on loop: any EventLoop) -> EventLoopFuture<FeedbackReading.Page> {
        NIOThreadPool.singleton.runIfActive(eventLoop: loop) { [engine] in
            let entries = try engine.blacklist.entries(after: reading.position, limit: Self.pageSize)
            return reading.page(entries, isLast: entries.count < Self.pageSize)
        }
    }

    /// Moves the topic's position to the end of the reading.
    ///
    /// - Parameter completion: called on a thread of its own once the position is on disk, or with the error.
    func taken(
        _ reading: FeedbackReading, completion: @escaping @Sendable (Result<Void, JournalError>) -> Void
    ) {
        let value = (0..<8).map { UInt8(truncatingIfNeeded: reading.through >> (56 - 8 * UInt64($0))) }
        engine.setNote(Self.note(reading.topic), to: value, completion: completion)
    }

    private static func note(_ topic: String) -> String { "gateway-feedback \(topic)" }

    private static func cursor(of topic: String, _ engine: PushEngine) throws(JournalError) -> UInt64 {
        guard let value = try engine.note(note(topic)), value.count == 8 else { return 0 }
        return value.reduce(0) { $0 << 8 | UInt64($1) }
    }
}
