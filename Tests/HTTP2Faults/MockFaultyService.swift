import Holdfast
import HoldfastAPNs
import HoldfastMockAPNs
import HoldfastMocking

/// `HoldfastMockAPNs` with a script.
final class MockFaultyService: FaultyService {
    private let server: MockAPNsServer
    private let seen: Monitor<ServiceRecord>
    private let keyIDs: (key: String, team: String)?
    private let lapses: Lapses

    /// - Parameters:
    ///   - configure: sets a script, or whatever else the mock can do.
    init(
        count: Int, lapses: Lapses = Lapses(), _ configure: (inout MockAPNsConfiguration) -> Void
    ) async throws {
        var configuration = MockAPNsConfiguration()
        configuration.maxConcurrentStreams = Fault.streams
        for token in Sample.badTokens(of: count) { configuration.rejections[token] = "Unregistered" }
        configure(&configuration)
        let seen = Monitor(ServiceRecord(count: count))
        configuration.observer = { exchanges in
            seen.withLock { record in
                for exchange in exchanges {
                    guard let index = exchange.request.token.flatMap({ Sample.index(ofHex: $0) }) else { continue }
                    record.add(index, isTaken: exchange.isAccepted, connection: exchange.request.connection)
                }
            }
        }
        self.seen = seen
        self.lapses = lapses
        keyIDs = configuration.providerTokens == .ignored ? nil : (configuration.keyID, configuration.teamID)
        server = try await MockAPNsServer.start(configuration)
    }

    var endpoint: String { "https://\(server.address)" }
    var trustedCertificateFile: String { server.certificateAuthorityFile }

    var signingKey: APNsSigningKey? {
        guard let keyIDs else { return nil }
        do {
            return try APNsSigningKey(file: server.providerKeyFile, keyID: keyIDs.key, teamID: keyIDs.team)
        } catch {
            preconditionFailure("the mock's own key: \(error)")
        }
    }

    func record() -> ServiceRecord {
        var record = seen.withLock { $0 }
        record.connections = server.counters.connections
        let steps = server.scriptCounts
        let named = steps.filter { $0.name == Fault.fault }
        record.faults = (named.isEmpty ? steps : named).reduce(lapses.count) { $0 + $1.count }
        return record
    }

    func stop() async throws { try await server.stop(within: .seconds(1)) }
}

/// How often a behavior that is no script's has misbehaved.
final class Lapses: Sendable {
    private let state = Monitor((count: 0, first: nil as String?, asked: 0, since: nil as ContinuousClock.Instant?))

    var count: Int { state.withLock(\.count) }

    func happened() { state.withLock { $0.count += 1 } }

    /// Whether so many requests have been let through, and no more time has passed since then. Counted if so.
    func happens(after requests: Int, for time: Duration) -> Bool {
        state.withLock { state in
            state.asked += 1
            guard state.asked > requests else { return false }
            let now = ContinuousClock.now
            let since = state.since ?? now
            state.since = since
            guard now < since + time else { return false }
            state.count += 1
            return true
        }
    }

    /// Whether this is the first of all that was ever asked about.
    func isFirst(_ text: String) -> Bool {
        state.withLock { state in
            if state.first == nil { state.first = text }
            return state.first == text
        }
    }
}
