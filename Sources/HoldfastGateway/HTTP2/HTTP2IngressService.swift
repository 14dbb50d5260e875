internal import Dispatch
internal import Holdfast

/// What the connections of a listener share.
final class HTTP2IngressService: Sendable {
    let producer: Producer
    let figures = IngressFigures()
    let guests: GuestList
    let log: ListenerLog
    let rate: SharedRate
    let begun: BegunRequests
    /// Where large batches are checked and packed, so that event loops read on meanwhile.
    let packing = DispatchQueue(label: "holdfast.gateway.packing", qos: .userInitiated)
    /// Whether there is TLS.
    let isSecure: Bool
    private let current: Monitor<HTTP2IngressSettings>

    init(
        _ configuration: HTTP2IngressConfiguration, _ settings: HTTP2IngressSettings, producer: Producer,
        log: ListenerLog
    ) {
        self.log = log
        self.producer = producer
        isSecure = configuration.tls != nil
        rate = SharedRate(configuration.rate)
        begun = BegunRequests(limit: configuration.memory)
        guests = GuestList(asksForCredentials: !settings.access.isOpen)
        current = Monitor(settings)
    }

    /// As of now; connections take it up when they are told to.
    var settings: HTTP2IngressSettings { current.withLock { $0 } }

    func change(to configuration: HTTP2IngressConfiguration, _ settings: HTTP2IngressSettings) {
        rate.change(to: configuration.rate)
        begun.change(limit: configuration.memory)
        guests.asksForCredentials = !settings.access.isOpen
        current.withLock { $0 = settings }
    }
}
