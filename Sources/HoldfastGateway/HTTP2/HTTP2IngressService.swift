internal import Dispatch
internal import Holdfast
internal import HoldfastTransport

/// The state that the connections of a listener share.
final class HTTP2IngressService: Sendable {
    let producers: NamedProducers
    let figures = IngressFigures()
    let guests: GuestList
    let log: ListenerLog
    let rate: SharedRate
    let begun: BegunRequests
    /// Tells outcomes; nil while the engine keeps none.
    let outcomes: @Sendable () -> OutcomeFeed?
    /// Of requests that wait for their outcomes.
    let places: SharedPlaces
    /// Checks and packs large batches, so that event loops can read on.
    let packing = DispatchQueue(label: "holdfast.gateway.packing")
    /// Whether there is TLS.
    let isSecure: Bool
    /// Nil while nothing is traced.
    let tracer: NotificationTracer?
    var producer: Producer { producers.standard }
    private struct Terms: Sendable {
        var settings: HTTP2IngressSettings
        /// Watches the files of the submitters' keys.
        var watch: CredentialWatch

        init(_ settings: HTTP2IngressSettings) {
            self.settings = settings
            watch = CredentialWatch(used: settings.access.stamps)
        }
    }

    private let current: Monitor<Terms>

    init(
        _ configuration: HTTP2IngressConfiguration, _ settings: HTTP2IngressSettings, producers: NamedProducers,
        outcomes: @escaping @Sendable () -> OutcomeFeed?, tracer: NotificationTracer? = nil, log: ListenerLog
    ) {
        self.tracer = tracer
        self.outcomes = outcomes
        places = SharedPlaces(limit: configuration.waiting)
        self.log = log
        self.producers = producers
        isSecure = configuration.tls != nil
        rate = SharedRate(configuration.rate)
        begun = BegunRequests(limit: configuration.memory)
        guests = GuestList(asksForCredentials: !settings.access.isOpen)
        current = Monitor(Terms(settings))
    }

    /// The settings now; connections take them up when they are told to.
    var settings: HTTP2IngressSettings { current.withLock(\.settings) }

    func change(to configuration: HTTP2IngressConfiguration, _ settings: HTTP2IngressSettings) {
        rate.change(to: configuration.rate)
        begun.change(limit: configuration.memory)
        places.change(limit: configuration.waiting)
        guests.asksForCredentials = !settings.access.isOpen
        current.withLock { $0 = Terms(settings) }
    }

    /// Looks whether the files of the submitters' keys hold others by now, and takes them up. May wait for the disk.
    func lookAtKeys() -> WatchedFiles.Look {
        let terms = current.withLock { $0 }
        let access = terms.settings.access
        let stamps = access.currentStamps
        guard terms.watch.wantsLoad(stamps) else { return .unchanged }
        do throws(GatewayError) {
            let fresh = try access.reread()
            return current.withLock { now in
                // Another configuration may have been taken up meanwhile, which has read them itself.
                guard now.settings.access === access else { return .unchanged }
                now.watch = CredentialWatch(used: stamps)
                guard !fresh.hasKeys(of: access) else { return .unchanged }
                now.settings.access = fresh
                return .taken
            }
        } catch {
            let tells = current.withLock { $0.watch.failed(stamps, isAsked: false) }
            return tells ? .failed(error.message) : .unchanged
        }
    }

    /// The files of the submitters' keys: connections are told when others are in use.
    var keyFiles: WatchedFiles {
        WatchedFiles(
            interval: { self.settings.access.interval }, look: { self.lookAtKeys() },
            tell: { look in
                if case .failed(let why) = look {
                    return self.log(.signingKeys, "the signing keys that were read before hold on for senders: \(why)")
                }
                self.log.took(.signingKeys, "other signing keys are in use for senders' tokens")
                self.guests.tell(HTTP2IngressReload())
            })
    }
}
