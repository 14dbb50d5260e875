internal import Foundation
internal import Holdfast
internal import HoldfastControl
internal import HoldfastGateway

/// What the operators' page is told of the service.
extension ServiceRun {
    /// Whether there is a page: its readers must be known, or on this machine.
    var hasPage: Bool {
        let admin = state.withLock(\.configuration.admin)
        guard let listen = admin.listen, admin.page else { return false }
        return listen.isLoopback || admin.tokenFile != nil
    }

    var sampler: PageSampler {
        PageSampler(
            samples: samples, meter: meter, engine: { [self] in engine },
            senderConnections: { [self] in
                state.withLock(\.life)?.gateway.figures.reduce(0) { $0 + $1.openConnections } ?? 0
            })
    }

    var pageService: PageService {
        // For all requests together.
        let places = WaitPlaces(limit: 4)
        return PageService(
            journal: { [self] in
                guard let life = state.withLock(\.life), let place = life.place else { return nil }
                return PageJournal(
                    engine: life.engine, directory: place.directory, blacklist: place.blacklist, places: places)
            },
            fleet: { [self] in state.withLock(\.life)?.fleet?.look }, facts: { [self] in facts },
            senders: { [self] in
                (state.withLock(\.life)?.gateway.figures ?? []).map {
                    SenderListenerForm($0.name, connections: $0.openConnections, $0.values)
                }
            },
            samples: samples, logger: host.logger("holdfast.admin"))
    }

    private var facts: ServiceFacts {
        let (state, health) = (state.withLock { $0 }, health)
        return ServiceFacts(
            version: host.build?.version, host: Self.hostName, process: Int(ProcessInfo.processInfo.processIdentifier),
            startedAt: ExactTime(start), journal: state.life?.place?.directory, journalName: state.life?.journalName,
            fleetHost: state.life?.fleet?.look.host, configuration: state.configuration.file, isReady: health.isReady,
            obstacles: health.obstacles,
            warnings: health.warnings,
            listeners: state.addresses.sorted { $0.key < $1.key }.map {
                ServiceFacts.Listener(listener: $0.key, address: "\($0.value)")
            }, reloads: state.reloads, failedReloads: state.failedReloads, reopened: state.reopened)
    }

    /// Asked once: the system may look for it in the network.
    private static let hostName = ProcessInfo.processInfo.hostName
}
