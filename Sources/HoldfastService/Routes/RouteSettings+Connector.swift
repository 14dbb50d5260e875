package import Holdfast
package import HoldfastAPNs
package import HoldfastFCM
internal import HoldfastLegacyAPNs

extension RouteSettings {
    /// A route of the engine's.
    ///
    /// - Throws: ``UnusableRoute``, which names the file or flag that is wrong.
    package func route() throws(UnusableRoute) -> Route {
        Route(
            name: name, connector: try connector(), topics: topics, connections: connectionLimit, scaling: scaling,
            rate: rateLimit, newestWins: newestWins, environment: environment,
            triesOtherEnvironment: triesOtherEnvironment)
    }

    /// - Throws: ``UnusableRoute``, which names the file or flag that is wrong.
    package func connector() throws(UnusableRoute) -> any Connector {
        switch self.protocol {
        case .http2: try http2Connector()
        case .binary: try binaryConnector()
        case .fcm: try firebaseConnector()
        }
    }

    package var trusted: TrustedCertificates { trust.map { .file($0) } ?? .system }

    private func http2Connector() throws(UnusableRoute) -> APNsConnector {
        let configuration = try http2Configuration()
        do throws(APNsConfigurationError) {
            return try APNsConnector(configuration)
        } catch {
            throw UnusableRoute(error.message)
        }
    }

    /// The configuration of a connector over HTTP/2.
    package func http2Configuration() throws(UnusableRoute) -> APNsConnector.Configuration {
        do throws(APNsConfigurationError) {
            let key = try signingKey.map { key throws(APNsConfigurationError) in
                try APNsSigningKey(key.source, keyID: key.keyID, teamID: key.teamID)
            }
            var configuration = APNsConnector.Configuration(
                endpoint: try APNsEndpoint(endpoint), trust: trusted, signingKey: key,
                clientCertificate: certificate?.identity)
            network.apply(to: &configuration)
            configuration.reloadEvery = reloadEvery > .zero ? reloadEvery : nil
            return configuration
        } catch {
            throw UnusableRoute(error.message)
        }
    }

    private func firebaseConnector() throws(UnusableRoute) -> FCMConnector {
        let configuration = try firebaseConfiguration()
        do throws(FCMConfigurationError) {
            return try FCMConnector(configuration)
        } catch {
            throw UnusableRoute(error.message)
        }
    }

    /// The configuration of a connector to Firebase Cloud Messaging. Reads the file of the service account.
    ///
    /// - Throws: ``UnusableRoute``, which names the file or key that is wrong.
    package func firebaseConfiguration() throws(UnusableRoute) -> FCMConnector.Configuration {
        guard let firebase else { throw UnusableRoute("the route \(name) is not to Firebase Cloud Messaging") }
        do throws(FCMConfigurationError) {
            var configuration = try firebase.configuration()
            configuration.endpoint = try FCMEndpoint(endpoint)
            configuration.trust = trusted
            network.apply(to: &configuration)
            configuration.reloadEvery = reloadEvery > .zero ? reloadEvery : nil
            return configuration
        } catch {
            throw UnusableRoute(error.message)
        }
    }

    private func binaryConnector() throws(UnusableRoute) -> LegacyAPNsConnector {
        let certificate = certificate?.identity
        do throws(LegacyAPNsConfigurationError) {
            var configuration = LegacyAPNsConnector.Configuration(
                endpoint: try LegacyAPNsEndpoint(endpoint), trust: trusted, clientCertificate: certificate)
            configuration.confirmation =
                confirmation == .quiet ? .quiet(quietPeriod ?? Self.defaultQuietPeriod) : .barrier
            configuration.reloadEvery = reloadEvery > .zero ? reloadEvery : nil
            return try LegacyAPNsConnector(configuration)
        } catch {
            throw UnusableRoute(error.message)
        }
    }
}
