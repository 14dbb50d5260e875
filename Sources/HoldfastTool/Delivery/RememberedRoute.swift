internal import Foundation
internal import Holdfast
internal import HoldfastAPNs

/// Where and as whom to send: what a journal remembers, so that `recover` needs no flags.
struct RememberedRoute: Codable, Equatable {
    static let noteName = "route/default"
    static let currentVersion = 1

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

    /// - Throws: ``ToolError`` with status `configuration` that names the file or flag that is wrong.
    func connector() throws(ToolError) -> APNsConnector {
        do throws(APNsConfigurationError) {
            var signingKey: APNsSigningKey?
            if let keyFile {
                signingKey = try APNsSigningKey(file: keyFile, keyID: keyID ?? "", teamID: teamID ?? "")
            }
            return try APNsConnector(
                APNsConnector.Configuration(
                    endpoint: try APNsEndpoint(endpoint), trust: trust.map { .file($0) } ?? .system,
                    signingKey: signingKey))
        } catch {
            throw ToolError(.configuration, error.message)
        }
    }
}
