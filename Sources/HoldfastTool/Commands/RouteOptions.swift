internal import ArgumentParser
internal import Foundation
internal import Holdfast

/// Where and as whom to send. What is not given is what the journal remembers.
struct RouteOptions: ParsableArguments {
    @Option(
        name: .long,
        help: ArgumentHelp(
            "https://HOST[:PORT], `production` or `sandbox`. (default: what the journal remembers)", valueName: "url"))
    var endpoint: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "PEM file with the certificates to trust, instead of the system's. `system` returns to those.",
            valueName: "ca.pem"),
        completion: .file(extensions: ["pem"]))
    var trust: String?

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

    /// The route that these flags make of what the journal remembers.
    ///
    /// - Throws: a `ValidationError` when something is missing in both.
    func route(remembered: RememberedRoute?, missingEndpoint: String) throws -> RememberedRoute {
        guard var route = remembered ?? endpoint.map({ RememberedRoute(endpoint: $0) }) else {
            throw ValidationError(missingEndpoint)
        }
        if let endpoint { route.endpoint = endpoint }
        if let topic { route.topic = topic }
        if let trust { route.trust = trust == "system" ? nil : Self.absolute(trust) }
        if let key { route.keyFile = Self.absolute(key) }
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

    private static func absolute(_ path: String) -> String { URL(fileURLWithPath: path).standardizedFileURL.path }
}
