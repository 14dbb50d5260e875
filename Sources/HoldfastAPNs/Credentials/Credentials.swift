internal import Holdfast
internal import HoldfastOpenSSL
internal import HoldfastRequests
internal import HoldfastTransport

/// A connector's credentials and trusted certificates, read at one time.
package struct Credentials: TokenContents {
    /// The source of provider tokens; `nil` without a signing key.
    package let tokens: ProviderTokenSource?
    let tls: TLSCredentials
    package let text: String

    /// Reads everything.
    ///
    /// - Parameter generation: 1 takes the signing key as it is, which was read a moment ago.
    /// - Throws: ``APNsConfigurationError`` that names the file that is missing, or is not what it should be.
    package init(_ configuration: APNsConnector.Configuration, generation: Int) throws(APNsConfigurationError) {
        guard configuration.signingKey == nil || configuration.clientCertificate == nil else {
            throw APNsConfigurationError(
                "a signing key and a client certificate on one route: the service knows a sender by the one or the other"
            )
        }
        let key = generation == 1 ? configuration.signingKey : try configuration.signingKey?.reloaded()
        tokens = key.map { configuration.tokens.source(for: $0) }
        do throws(TransportConfigurationError) {
            tls = try TLSCredentials(
                certificate: configuration.clientCertificate,
                trust: configuration.endpoint.isCleartext ? nil : configuration.trust, protocols: ["h2"],
                verifiesHostName: configuration.verifiesHostName, now: configuration.clock.wall())
        } catch {
            throw APNsConfigurationError(error.message)
        }
        let keyText = configuration.signingKey.map { key in
            "the \(key.source.named("signing key")) (key \(key.keyID) of team \(key.teamID))"
        }
        text = [keyText ?? "", tls.text].filter { !$0.isEmpty }.joined(separator: "; ")
        try checkEnvironment(configuration)
    }

    /// Apple's certificates say which of Apple's two services they are for.
    private func checkEnvironment(_ configuration: APNsConnector.Configuration) throws(APNsConfigurationError) {
        guard let facts = tls.certificate?.facts, facts.isForSandbox || facts.isForProduction else { return }
        let (endpoint, name) = (configuration.endpoint, configuration.clientCertificate?.named ?? "")
        let host = endpoint.host
        if endpoint.isProduction, !facts.isForProduction {
            throw APNsConfigurationError("\(name) is for the sandbox only, and \(host) is production")
        }
        if endpoint.isSandbox, !facts.isForSandbox {
            throw APNsConfigurationError("\(name) is for production only, and \(host) is the sandbox")
        }
    }

    /// The topics that the certificate is good for; nil where that can't be told.
    var topics: Set<String>? { tls.certificate?.facts.topics }

    package var certificateEnd: (named: String, notAfter: Int64)? { tls.certificateEnd }
    /// See ``TLSCredentials/serviceEnd``.
    package var serviceEnd: Int64? { tls.serviceEnd }

    /// Whether the service would see no difference.
    package func isSame(as other: Credentials) -> Bool {
        tokens === other.tokens && tls.isSame(as: other.tls)
    }
}

extension APNsConnector.Configuration {
    /// The paths of all files that credentials and trust are read from.
    var credentialFiles: [String] {
        var files = (signingKey?.files ?? []) + (clientCertificate?.files ?? [])
        if let file = trust.file, !endpoint.isCleartext { files.append(file) }
        return files
    }
}
