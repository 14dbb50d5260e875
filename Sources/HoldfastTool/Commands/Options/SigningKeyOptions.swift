internal import ArgumentParser
internal import Holdfast
internal import HoldfastService

/// The key that signs provider tokens.
struct SigningKeyOptions: ParsableArguments {
    @Option(
        name: .long, help: ArgumentHelp("Apple's .p8 file, which signs provider tokens.", valueName: "p8"),
        completion: .file(extensions: ["p8"]))
    var key: String?

    @Option(name: .long, help: ArgumentHelp("The key's identifier.", valueName: "id"))
    var keyID: String?

    @Option(name: .long, help: ArgumentHelp("The team's identifier.", valueName: "id"))
    var teamID: String?

    /// Flags that were given.
    var given: [String] {
        [key.map { _ in "--key" }, keyID.map { _ in "--key-id" }, teamID.map { _ in "--team-id" }].compactMap { $0 }
    }

    /// Puts these flags, and those of a client certificate, over what is remembered or configured: the one takes the
    /// other's place.
    ///
    /// - Throws: a `ValidationError` when something is missing, or they contradict each other.
    func apply(with tlsOptions: TLSOptions, to route: inout RouteSettings) throws {
        if key != nil { route.certificate = nil }
        if tlsOptions.clientCertificate != nil { route.signingKey = nil }
        try tlsOptions.apply(trust: &route.trust, certificate: &route.certificate)
        try setSigningKey(of: &route)
        if route.signingKey != nil, route.certificate != nil {
            throw ValidationError(
                "--key and --client-certificate exclude each other: a route has the one or the other.")
        }
    }

    private func setSigningKey(of route: inout RouteSettings) throws {
        // A key in the configuration itself stays, unless a file replaces it.
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
}
