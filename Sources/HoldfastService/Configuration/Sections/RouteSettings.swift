package import Holdfast
internal import HoldfastAPNs
internal import HoldfastFCM
internal import HoldfastLegacyAPNs

/// One route: what is sent where, as whom, and how fast. Flags, the configuration and a journal's memory all say this.
package struct RouteSettings: Equatable, Sendable {
    /// The push service.
    package enum Service: String, CaseIterable, Sendable {
        /// Apple's.
        case apns
        /// Firebase Cloud Messaging.
        case fcm
    }

    /// The language that is spoken with the service.
    package enum WireProtocol {
        /// Apple's, over HTTP/2.
        case http2
        case binary
        /// Google's, over HTTP/2.
        case fcm
    }

    /// The confirmation of notifications without an error, on the binary protocol.
    package enum Confirmation: String, Codable, CaseIterable, Sendable { case barrier, quiet }

    /// The key that signs provider tokens. The key itself is never kept.
    package struct SigningKey: Equatable, Sendable {
        /// Absolute, as all paths here. Nil where ``pem`` stands in its place.
        package var file: String?
        /// The key itself. Never in a note or a listing.
        package var pem: String?
        package var keyID: String
        package var teamID: String

        package init(file: String? = nil, pem: String? = nil, keyID: String, teamID: String) {
            (self.file, self.pem, self.keyID, self.teamID) = (file, pem, keyID, teamID)
        }
    }

    /// The certificate by which the service knows us.
    package struct Certificate: Equatable, Sendable {
        /// `nil` if ``pem`` is there instead.
        package var file: String?
        /// The certificate and its key themselves. Never in a note or a listing.
        package var pem: String?
        /// `nil` for the file of the certificate.
        package var key: String?
        /// Itself. Never in a note or a listing.
        package var passphrase: String?
        package var passphraseFile: String?

        package init(
            file: String? = nil, pem: String? = nil, key: String? = nil, passphrase: String? = nil,
            passphraseFile: String? = nil
        ) {
            (self.file, self.pem, self.key) = (file, pem, key)
            (self.passphrase, self.passphraseFile) = (passphrase, passphraseFile)
        }
    }

    package static let standardName = "default"
    package static let connectionCounts = 1...1000
    package static let defaultReloadEvery: Duration = .seconds(10)
    package static let defaultQuietPeriod: Duration = .seconds(5)

    package var name = Self.standardName
    package var endpoint: String
    /// Where the broadcast channels of its apps are managed; nil for Apple's place for them.
    package var channelsEndpoint: String?
    /// `nil` for all topics that no other route serves.
    package var topics: Set<String>?
    /// The environment that it serves, as it was configured; see ``environment``.
    package var statedEnvironment: PushEnvironment?
    /// Whether a notification whose token is bad is tried once on the route of the other environment.
    package var triesOtherEnvironment = false
    /// The topic of lines that have none.
    package var defaultTopic: String?
    /// A PEM file; nil trusts what the system trusts.
    package var trust: String?
    package var network = NetworkSettings()
    /// `nil` for Apple's services.
    package var firebase: FirebaseSettings?
    package var signingKey: SigningKey?
    package var certificate: Certificate?
    /// How often the files of those and of ``trust`` are looked at; nothing for never.
    package var reloadEvery = Self.defaultReloadEvery
    /// The most at a time, as it was configured; see ``connectionLimit``.
    package var connections: Int?
    package var scaling = ConnectionScaling()
    /// As it was configured; see ``rateLimit``.
    package var rate: RateLimit?
    /// Whether a newer notification with the same collapse id takes the place of one that waits.
    package var newestWins = false
    package var confirmation = Confirmation.barrier
    /// With ``Confirmation/quiet``; nil for ``defaultQuietPeriod``.
    package var quietPeriod: Duration?
    /// `nil` if none is read.
    package var feedback: FeedbackSettings?

    package init(endpoint: String) { self.endpoint = endpoint }

    /// A route to Firebase Cloud Messaging.
    ///
    /// - Parameter endpoint: nil, or `production`, for Google's own.
    package init(firebase: FirebaseSettings, endpoint: String? = nil) {
        self.init(endpoint: endpoint.flatMap { $0 == "production" ? nil : $0 } ?? FirebaseSettings.endpoint)
        self.firebase = firebase
        topics = [firebase.project]
        network = .firebase
    }

    /// The push service that it is for.
    package var service: Service { firebase == nil ? .apns : .fcm }

    /// The most connections at a time; nil for as many as suit the protocol.
    package var connectionLimit: Int? { connections ?? (firebase == nil ? nil : FCMConnector.routeConnections) }

    /// The most notifications in a time; nil for as many as the service takes.
    package var rateLimit: RateLimit? { rate ?? standardRate }

    /// The rate of a route whose configuration names none, and the ramp of one whose rate names none.
    var standardRate: RateLimit? { firebase == nil ? nil : FCMConnector.routeRate }

    package static func isBinary(_ endpoint: String) -> Bool {
        endpoint.hasPrefix("binary+tls://") || endpoint.hasPrefix("binary://")
    }

    /// The environment of a service of Apple's; nil for other services, and for texts that are no endpoint.
    package static func environment(of endpoint: String) -> PushEnvironment? {
        guard !isBinary(endpoint) else { return nil }
        do throws(APNsConfigurationError) { return try APNsEndpoint(endpoint).environment } catch { return nil }
    }

    /// The environment that it serves: as configured, else that of Apple's service it sends to; nil for both.
    package var environment: PushEnvironment? {
        firebase == nil ? statedEnvironment ?? Self.environment(of: endpoint) : nil
    }

    package static func isPKCS12(_ path: String) -> Bool {
        [".p12", ".pfx"].contains { path.lowercased().hasSuffix($0) }
    }

    package var `protocol`: WireProtocol {
        firebase != nil ? .fcm : Self.isBinary(endpoint) ? .binary : .http2
    }

    /// From now on there. What was said for the other protocol means nothing here.
    package mutating func moves(to endpoint: String) {
        let before = self.protocol
        self.endpoint = endpoint
        guard self.protocol != before else { return }
        (signingKey, certificate) = (nil, nil)
        (confirmation, quietPeriod) = (.barrier, nil)
    }
}

extension RouteSettings.SigningKey {
    package var source: CredentialSource { pem.map { .pem($0) } ?? .file(file ?? "") }
}

extension RouteSettings.Certificate {
    /// The settings that the connectors read.
    package var identity: ClientCertificate {
        let phrase: Passphrase? = passphrase.map { .text($0) } ?? passphraseFile.map { .file($0) }
        if let pem { return .pem(certificates: .pem(pem), key: .pem(pem), passphrase: phrase) }
        let file = file ?? ""
        return RouteSettings.isPKCS12(file)
            ? .pkcs12(.file(file), passphrase: phrase)
            : .pem(certificates: .file(file), key: .file(key ?? file), passphrase: phrase)
    }
}
