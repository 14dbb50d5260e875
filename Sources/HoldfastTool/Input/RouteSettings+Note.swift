internal import Foundation
internal import Holdfast
internal import HoldfastJournal
internal import HoldfastService

/// The note by which a journal remembers the route that flags gave, so that `recover` needs no flags: a JSON object. The
/// route's name is always ``standardName``, and it serves every topic.
extension RouteSettings: Codable {
    static let noteName = "route/default"
    /// 1 for a route to Apple's services: a Holdfast that knows no others can read it.
    static let noteVersion = 2

    private enum CodingKeys: String, CodingKey {
        case version, endpoint, topic, keyFile, keyID, teamID, trust, clientCertificate, clientKey, clientPassphraseFile
        case connections, confirmation, quietPeriodMilliseconds
        case project, serviceAccount
    }

    init(from decoder: any Decoder) throws {
        let note = try decoder.container(keyedBy: CodingKeys.self)
        let endpoint = try note.decode(String.self, forKey: .endpoint)
        if let project = try note.decodeIfPresent(String.self, forKey: .project) {
            var firebase = FirebaseSettings(project: project)
            firebase.serviceAccount = try note.decodeIfPresent(String.self, forKey: .serviceAccount)
            self.init(firebase: firebase, endpoint: endpoint)
        } else {
            self.init(endpoint: endpoint)
        }
        defaultTopic = try note.decodeIfPresent(String.self, forKey: .topic)
        trust = try note.decodeIfPresent(String.self, forKey: .trust)
        if let file = try note.decodeIfPresent(String.self, forKey: .keyFile) {
            signingKey = SigningKey(
                file: file, keyID: try note.decodeIfPresent(String.self, forKey: .keyID) ?? "",
                teamID: try note.decodeIfPresent(String.self, forKey: .teamID) ?? "")
        }
        if let file = try note.decodeIfPresent(String.self, forKey: .clientCertificate) {
            certificate = Certificate(
                file: file, key: try note.decodeIfPresent(String.self, forKey: .clientKey),
                passphraseFile: try note.decodeIfPresent(String.self, forKey: .clientPassphraseFile))
        }
        connections = try note.decodeIfPresent(Int.self, forKey: .connections)
        confirmation = try note.decodeIfPresent(Confirmation.self, forKey: .confirmation) ?? .barrier
        quietPeriod = try note.decodeIfPresent(Int64.self, forKey: .quietPeriodMilliseconds).map { .milliseconds($0) }
    }

    func encode(to encoder: any Encoder) throws {
        var note = encoder.container(keyedBy: CodingKeys.self)
        try note.encode(firebase == nil ? 1 : Self.noteVersion, forKey: .version)
        try note.encodeIfPresent(firebase?.project, forKey: .project)
        try note.encodeIfPresent(firebase?.serviceAccount, forKey: .serviceAccount)
        try note.encode(endpoint, forKey: .endpoint)
        try note.encodeIfPresent(defaultTopic, forKey: .topic)
        try note.encodeIfPresent(trust, forKey: .trust)
        try note.encodeIfPresent(signingKey?.file, forKey: .keyFile)
        try note.encodeIfPresent(signingKey?.keyID, forKey: .keyID)
        try note.encodeIfPresent(signingKey?.teamID, forKey: .teamID)
        try note.encodeIfPresent(certificate?.file, forKey: .clientCertificate)
        try note.encodeIfPresent(certificate?.key, forKey: .clientKey)
        try note.encodeIfPresent(certificate?.passphraseFile, forKey: .clientPassphraseFile)
        // Defaults are left out, as in older versions.
        try note.encodeIfPresent(connections, forKey: .connections)
        if confirmation != .barrier { try note.encode(confirmation, forKey: .confirmation) }
        try note.encodeIfPresent(quietPeriod?.wholeMilliseconds, forKey: .quietPeriodMilliseconds)
    }

    /// The route that the journal remembers; `nil` if `send` never wrote one.
    ///
    /// - Parameter note: the note's bytes.
    static func decode(_ note: [UInt8]?, journal: String) throws(ToolError) -> RouteSettings? {
        struct Version: Decodable { var version: Int }
        guard let note else { return nil }
        do {
            let version = try JSONDecoder().decode(Version.self, from: Data(note)).version
            guard version <= noteVersion else {
                throw ToolError(
                    .cannotOpen, "the route of \(journal) was noted by a newer Holdfast (version \(version))")
            }
            return try JSONDecoder().decode(RouteSettings.self, from: Data(note))
        } catch let error as ToolError {
            throw error
        } catch {
            throw ToolError(.cannotOpen, "the route that \(journal) remembers cannot be read: \(error)")
        }
    }

    static func read(from journal: any JournalService, named path: String) throws(ToolError) -> RouteSettings? {
        let note: [UInt8]?
        do throws(JournalError) {
            note = try journal.note(noteName)
        } catch {
            throw ToolError(error)
        }
        return try decode(note, journal: path)
    }

    /// The route that the journal in this directory remembers, at rest or in use.
    static func remembered(by journal: String) throws -> RouteSettings? {
        try remembered(by: try JournalReader(at: journal), of: journal)
    }

    /// The same; nil where no journal is yet.
    static func remembered(ifAnyBy journal: String) throws -> RouteSettings? {
        guard let reader = try JournalReader.ofMade(at: journal) else { return nil }
        return try remembered(by: reader, of: journal)
    }

    private static func remembered(by reader: JournalReader, of journal: String) throws -> RouteSettings? {
        defer { reader.close() }
        return try decode(try reader.note(noteName), journal: journal)
    }

    /// Makes the journal remember this route, durably on return.
    func write(to journal: any JournalService) throws(ToolError) {
        do {
            try journal.setNote(Self.noteName, to: Array(try JSONOutput.line(self).utf8))
        } catch {
            throw ToolError(error, otherwise: .internalFault)
        }
    }
}
