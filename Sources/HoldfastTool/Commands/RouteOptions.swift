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

    @Option(name: .long, help: ArgumentHelp("The apns-topic of lines that have none.", valueName: "topic"))
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
            "The most connections at a time, each with a window of its own on the binary protocol. (default: 1)",
            valueName: "count"))
    var connections: Int?

    @Option(
        name: .long,
        help: """
            Binary protocol: what confirms where no error comes. `barrier` is proof only; `quiet` is silence for the quiet \
            period. (default: barrier)
            """)
    var confirm: RememberedRoute.Confirmation?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "With --confirm quiet: how long silence must last (500ms, 5s). (default: 5s)", valueName: "duration"),
        transform: DurationArgument.parse)
    var quietPeriod: Duration?

    /// The most connections.
    private static let connectionLimit = 1000

    func validate() throws {
        if let connections, !(1...Self.connectionLimit).contains(connections) {
            throw ValidationError("--connections must be 1 to \(Self.connectionLimit).")
        }
        if let quietPeriod, quietPeriod <= .zero { throw ValidationError("--quiet-period must be more than nothing.") }
    }

    /// The route that these flags make of what the journal remembers.
    ///
    /// - Throws: a `ValidationError` when something is missing in both, or is not for the endpoint's protocol.
    func route(remembered: RememberedRoute?, missingEndpoint: String) throws -> RememberedRoute {
        guard var route = remembered ?? endpoint.map({ RememberedRoute(endpoint: $0) }) else {
            throw ValidationError(missingEndpoint)
        }
        if let endpoint { route.moves(to: endpoint) }
        try refuseForeignFlags(of: route)
        if let topic { route.topic = topic }
        if let connections { route.connections = connections == 1 ? nil : connections }
        route.tls = try tlsOptions.settings(remembered: route.tls)
        try setConfirmation(of: &route)
        if let key { route.keyFile = TLSOptions.absolute(key) }
        if let keyID { route.keyID = keyID }
        if let teamID { route.teamID = teamID }
        if route.keyFile != nil, route.keyID == nil || route.teamID == nil {
            throw ValidationError("--key needs --key-id and --team-id.")
        }
        if route.keyFile == nil, route.keyID != nil || route.teamID != nil {
            throw ValidationError("--key-id and --team-id need --key.")
        }
        return route
    }

    private func setConfirmation(of route: inout RememberedRoute) throws {
        if let confirm { route.confirmation = confirm == .barrier ? nil : confirm }
        guard route.confirmation == .quiet else {
            if quietPeriod != nil {
                throw ValidationError("--quiet-period needs --confirm quiet: a barrier waits for its answer.")
            }
            route.quietPeriodMilliseconds = nil
            return
        }
        if let quietPeriod { route.quietPeriodMilliseconds = quietPeriod.wholeMilliseconds }
    }

    /// A flag that would do nothing is a mistake of somebody's.
    private func refuseForeignFlags(of route: RememberedRoute) throws {
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
            foreign =
                [confirm.map { _ in "--confirm" }, quietPeriod.map { _ in "--quiet-period" }].compactMap { $0 }
                + tlsOptions.binaryFlags
            guard let flag = foreign.first else { return }
            throw ValidationError(
                "\(flag) is for the binary protocol, and \(route.endpoint) speaks HTTP/2, which answers each "
                    + "notification and knows a sender by --key.")
        }
    }
}

extension RememberedRoute.Confirmation: ExpressibleByArgument {}
