internal import ArgumentParser
internal import Foundation
internal import Holdfast

/// Where and as whom to send. What is not given is what the journal remembers.
struct RouteOptions: ParsableArguments {
    @Option(
        name: .long,
        help: ArgumentHelp(
            """
            https://HOST[:PORT], `production` or `sandbox`; binary+tls://HOST[:PORT] for the binary protocol. (default: \
            what the journal remembers)
            """, valueName: "url"))
    var endpoint: String?

    @Option(
        name: .long,
        help: ArgumentHelp("The apns-topic of a notification by hand, and of lines that have none.", valueName: "topic")
    )
    var topic: String?

    @Option(
        name: .long, help: ArgumentHelp("Apple's .p8 file, to sign provider tokens with.", valueName: "p8"),
        completion: .file(extensions: ["p8"]))
    var key: String?

    @Option(name: .long, help: ArgumentHelp("The key's identifier.", valueName: "id"))
    var keyID: String?

    @Option(name: .long, help: ArgumentHelp("The team's identifier.", valueName: "id"))
    var teamID: String?

    @OptionGroup var tlsOptions: TLSOptions

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The most connections at a time, each with a window of its own on the binary protocol. (default: 2, or 1)",
            valueName: "count"))
    var connections: Int?

    @Option(
        name: .long,
        help: """
            Binary protocol: what confirms where no error comes. `barrier` is proof only; `quiet` is silence for the quiet \
            period. (default: barrier)
            """)
    var confirm: RouteSettings.Confirmation?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "With --confirm quiet: how long silence must last (500ms, 5s). (default: 5s)", valueName: "duration"),
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
            endpoint.map { _ in "--endpoint" }, key.map { _ in "--key" }, keyID.map { _ in "--key-id" },
            teamID.map { _ in "--team-id" }, connections.map { _ in "--connections" }, confirm.map { _ in "--confirm" },
            quietPeriod.map { _ in "--quiet-period" },
        ].compactMap { $0 } + tlsOptions.given
    }

    /// The route that these flags make of what the journal remembers, or the configuration says.
    ///
    /// - Throws: a `ValidationError` when something is missing in both, or is not for the endpoint's protocol.
    func route(remembered: RouteSettings?, missingEndpoint: String) throws -> RouteSettings {
        guard var route = remembered ?? endpoint.map({ RouteSettings(endpoint: $0) }) else {
            throw ValidationError(missingEndpoint)
        }
        if let endpoint { route.moves(to: endpoint) }
        try refuseForeignFlags(of: route)
        if let topic { route.defaultTopic = topic }
        if let connections { route.connections = connections }
        // The one takes the other's place.
        if key != nil { route.certificate = nil }
        if tlsOptions.clientCertificate != nil { route.signingKey = nil }
        try tlsOptions.apply(trust: &route.trust, certificate: &route.certificate)
        try setConfirmation(of: &route)
        try setSigningKey(of: &route)
        if route.signingKey != nil, route.certificate != nil {
            throw ValidationError(
                "--key and --client-certificate exclude each other: a route has the one or the other.")
        }
        return route
    }

    private func setSigningKey(of route: inout RouteSettings) throws {
        // What a configuration holds itself stays, where no file takes its place.
        let pem = key == nil ? route.signingKey?.pem : nil
        let file = key.map { TLSOptions.absolute($0) } ?? route.signingKey?.file
        let keyID = keyID ?? route.signingKey?.keyID
        let teamID = teamID ?? route.signingKey?.teamID
        guard file != nil || pem != nil else {
            if keyID != nil || teamID != nil { throw ValidationError("--key-id and --team-id need --key.") }
            return
        }
        guard let keyID, let teamID else { throw ValidationError("--key needs --key-id and --team-id.") }
        route.signingKey = .init(file: file, pem: pem, keyID: keyID, teamID: teamID)
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
        let foreign: [String]
        switch route.protocol {
        case .binary:
            foreign = [
                key.map { _ in "--key" }, keyID.map { _ in "--key-id" }, teamID.map { _ in "--team-id" },
            ].compactMap { $0 }
            guard let flag = foreign.first else { return }
            throw ValidationError(
                "\(flag) is for HTTP/2, and \(route.endpoint) speaks the binary protocol: "
                    + "it knows a sender by --client-certificate.")
        case .http2:
            foreign = [confirm.map { _ in "--confirm" }, quietPeriod.map { _ in "--quiet-period" }].compactMap { $0 }
            guard let flag = foreign.first else { return }
            throw ValidationError(
                "\(flag) is for the binary protocol, and \(route.endpoint) speaks HTTP/2, which answers each notification."
            )
        }
    }
}

extension RouteSettings.Confirmation: ExpressibleByArgument {}
