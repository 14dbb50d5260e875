internal import Holdfast
internal import Logging

/// The state that the connections of one binary listener share.
final class BinaryService: Sendable {
    let producer: Producer
    let logger: Logger
    let log: ListenerLog
    let figures = IngressFigures()
    let guests: GuestList
    let rate: SharedRate
    /// Connections with notifications that are not on disk, closed ones included.
    let unfinished = UnfinishedWork()
    /// Tells outcomes; nil while the engine keeps none.
    let outcomes: @Sendable () -> OutcomeFeed?
    let repeats: BinaryRepeats
    private let current: Monitor<BinaryIngressConfiguration>

    init(
        _ settings: BinaryIngressConfiguration, asksForCredentials: Bool, producer: Producer,
        outcomes: @escaping @Sendable () -> OutcomeFeed?, logger: Logger, logInterval: Duration
    ) {
        self.outcomes = outcomes
        repeats = BinaryRepeats(places: SharedPlaces(limit: settings.errorCount))
        guests = GuestList(asksForCredentials: asksForCredentials)
        self.producer = producer
        self.logger = logger
        log = ListenerLog(logger, name: "binary", interval: logInterval)
        rate = SharedRate(settings.rate)
        current = Monitor(settings)
    }

    var settings: BinaryIngressConfiguration {
        get { current.withLock { $0 } }
        set {
            current.withLock { $0 = newValue }
            rate.change(to: newValue.rate)
            repeats.places.change(limit: newValue.errorCount)
        }
    }
}
