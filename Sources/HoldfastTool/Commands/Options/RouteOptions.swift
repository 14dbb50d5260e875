internal import ArgumentParser
internal import Foundation
internal import Holdfast
internal import HoldfastService

/// Where and as whom to send. What is not given is what the journal remembers.
struct RouteOptions: ParsableArguments {
    @Option(
        name: .long,
        help: ArgumentHelp(
            """
            The push service: `production`, `sandbox` or https://HOST[:PORT]; binary+tls://HOST[:PORT] for the \
            binary protocol. (default: the one that the journal remembers)
            """, valueName: "url"))
    var endpoint: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            """
            The apns-topic, for a notification given by flags and for lines without one.
            """, valueName: "topic")
    )
    var topic: String?

    @OptionGroup var keyOptions: SigningKeyOptions
    @OptionGroup var tlsOptions: TLSOptions
    @OptionGroup var firebaseOptions: FirebaseOptions

    @Option(
        name: .long,
        help: ArgumentHelp(
            """
            The most connections at a time. On the binary protocol each has its own window. (default: 2, on the \
            binary protocol 1)
            """,
            valueName: "count"))
    var connections: Int?

    @Option(
        name: .long,
        help: """
            Binary protocol: when a notification without an error counts as confirmed. `barrier`: the service has \
            refused a barrier behind it, which is proof. `quiet`: no error came in the quiet period. (default: \
            barrier)
            """)
    var confirm: RouteSettings.Confirmation?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The quiet period of --confirm quiet (500ms, 5s). (default: 5s)", valueName: "duration"),
        transform: DurationArgument.parse)
    var quietPeriod: Duration?

    func validate() throws {
        let counts = RouteSettings.connectionCounts
        if let connections, !counts.contains(connections) {
            throw ValidationError("--connections must be \(counts.lowerBound) to \(counts.upperBound).")
        }
        if let quietPeriod, quietPeriod <= .zero { throw ValidationError("--quiet-period must be more than nothing.") }
    }

    /// Flags that were given and say where to send, or as whom.
    var given: [String] {
        [
            endpoint.map { _ in "--endpoint" }, connections.map { _ in "--connections" },
            confirm.map { _ in "--confirm" }, quietPeriod.map { _ in "--quiet-period" },
        ].compactMap { $0 } + keyOptions.given + tlsOptions.given + firebaseOptions.given
    }

    /// The route that these flags make of what the journal remembers, or the configuration says.
    ///
    /// - Throws: a `ValidationError` when something is missing in both, or is not for the endpoint's protocol.
    func route(remembered: RouteSettings?, missingEndpoint: String) throws -> RouteSettings {
        if let route = try firebaseOptions.route(over: remembered, self) { return route }
        guard var route = remembered ?? endpoint.map({ RouteSettings(endpoint: $0) }) else {
            throw ValidationError(missingEndpoint)
        }
        if let endpoint { route.moves(to: endpoint) }
        try refuseForeignFlags(of: route)
        if let topic { route.defaultTopic = topic }
        if let connections { route.connections = connections }
        try setConfirmation(of: &route)
        try keyOptions.apply(with: tlsOptions, to: &route)
        return route
    }

    private func setConfirmation(of route: inout RouteSettings) throws {
        if let confirm { route.confirmation = confirm }
        guard route.confirmation == .quiet else {
            if quietPeriod != nil {
                throw ValidationError("--quiet-period needs --confirm quiet: a barrier waits for its answer.")
            }
            route.quietPeriod = nil
            return
        }
        if let quietPeriod { route.quietPeriod = quietPeriod }
    }

    /// A flag that would do nothing is a mistake of somebody's.
    private func refuseForeignFlags(of route: RouteSettings) throws {
        switch route.protocol {
        case .binary:
            guard let flag = keyOptions.given.first else { return }
            throw ValidationError(
                "\(flag) is for HTTP/2, and \(route.endpoint) speaks the binary protocol: "
                    + "it knows a sender by --client-certificate.")
        case .http2:
            let foreign = [confirm.map { _ in "--confirm" }, quietPeriod.map { _ in "--quiet-period" }].compactMap {
                $0
            }
            guard let flag = foreign.first else { return }
            throw ValidationError(
                "\(flag) is for the binary protocol, and \(route.endpoint) speaks HTTP/2, which answers each notification."
            )
        // It has been made of flags of its own.
        case .fcm: break
        }
    }
}

extension RouteSettings.Confirmation: ExpressibleByArgument {}
