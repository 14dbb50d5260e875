internal import Foundation
internal import Holdfast
internal import HoldfastAPNs
internal import HoldfastLegacyAPNs

/// Where and as whom to send: what a journal remembers, so that `recover` needs no flags.
struct RememberedRoute: Codable, Equatable {
    static let noteName = "route/default"
    static let currentVersion = 1

    enum WireProtocol { case http2, binary }

    /// What confirms on the binary protocol where no error comes.
    enum Confirmation: String, Codable, CaseIterable { case barrier, quiet }

    var version = Self.currentVersion
    var endpoint: String
    /// The topic of lines that have none.
    var topic: String?
    /// Paths are absolute. The key itself is never stored.
    var keyFile: String?
    var keyID: String?
    var teamID: String?
    /// Nil trusts what the system trusts.
    var trust: String?
    /// The binary protocol's certificate, a path; and those of its key and of the file with the passphrase.
    var clientCertificate: String?
    var clientKey: String?
    var clientPassphraseFile: String?
    /// Nil for one.
    var connections: Int?
    /// Nil for ``Confirmation/barrier``.
    var confirmation: Confirmation?
    /// With ``Confirmation/quiet``; nil for ``defaultQuietPeriod``.
    var quietPeriodMilliseconds: Int64?

    static let defaultQuietPeriod: Duration = .seconds(5)

    init(endpoint: String) { self.endpoint = endpoint }

    var `protocol`: WireProtocol {
        endpoint.hasPrefix("binary+tls://") || endpoint.hasPrefix("binary://") ? .binary : .http2
    }

    var quietPeriod: Duration { quietPeriodMilliseconds.map { .milliseconds($0) } ?? Self.defaultQuietPeriod }

    /// From now on there. What was remembered for the other protocol means nothing here.
    mutating func moves(to endpoint: String) {
        let before = self.protocol
        self.endpoint = endpoint
        guard self.protocol != before else { return }
        (keyFile, keyID, teamID) = (nil, nil, nil)
        (clientCertificate, clientKey, clientPassphraseFile) = (nil, nil, nil)
        (confirmation, quietPeriodMilliseconds) = (nil, nil)
    }

    /// What the journal remembers; nil when `send` never wrote to it.
    ///
    /// - Parameter note: the note's bytes.
    static func decode(_ note: [UInt8]?, journal: String) throws(ToolError) -> RememberedRoute? {
        struct Version: Decodable { var version: Int }
        guard let note else { return nil }
        do {
            let version = try JSONDecoder().decode(Version.self, from: Data(note)).version
            guard version <= currentVersion else {
                throw ToolError(
                    .cannotOpen, "the route of \(journal) was noted by a newer Holdfast (version \(version))")
            }
            return try JSONDecoder().decode(RememberedRoute.self, from: Data(note))
        } catch let error as ToolError {
            throw error
        } catch {
            throw ToolError(.cannotOpen, "the route that \(journal) remembers cannot be read: \(error)")
        }
    }

    static func read(from journal: any Journal, named path: String) throws(ToolError) -> RememberedRoute? {
        let note: [UInt8]?
        do throws(JournalError) {
            note = try journal.note(noteName)
        } catch {
            throw ToolError(error)
        }
        return try decode(note, journal: path)
    }

    /// Makes the journal remember this route, durably on return.
    func write(to journal: any Journal) throws(ToolError) {
        do {
            try journal.setNote(Self.noteName, to: Array(try JSONOutput.line(self).utf8))
        } catch {
            throw ToolError(error, otherwise: .internalFault)
        }
    }
}

// MARK: What sends

extension RememberedRoute {
    /// - Throws: ``ToolError`` with status `configuration` that names the file or flag that is wrong.
    func connector() throws(ToolError) -> any Connector {
        switch self.protocol {
        case .http2: try http2Connector()
        case .binary: try binaryConnector()
        }
    }

    private func http2Connector() throws(ToolError) -> APNsConnector {
        do throws(APNsConfigurationError) {
            var signingKey: APNsSigningKey?
            if let keyFile {
                signingKey = try APNsSigningKey(file: keyFile, keyID: keyID ?? "", teamID: teamID ?? "")
            }
            return try APNsConnector(
                APNsConnector.Configuration(
                    endpoint: try APNsEndpoint(endpoint), trust: tls.trusted, signingKey: signingKey))
        } catch {
            throw ToolError(.configuration, error.message)
        }
    }

    private func binaryConnector() throws(ToolError) -> LegacyAPNsConnector {
        let certificate = try tls.certificate()
        do throws(LegacyAPNsConfigurationError) {
            var configuration = LegacyAPNsConnector.Configuration(
                endpoint: try LegacyAPNsEndpoint(endpoint), trust: tls.trusted, clientCertificate: certificate)
            configuration.confirmation = confirmation == .quiet ? .quiet(quietPeriod) : .barrier
            return try LegacyAPNsConnector(configuration)
        } catch {
            throw ToolError(.configuration, error.message)
        }
    }
}
