internal import Foundation
internal import Holdfast
internal import HoldfastGateway
internal import HoldfastJournal
internal import HoldfastPostgres
internal import HoldfastService

/// The result of `serve --check`: all that would be served, with every file read. Listens on nothing, and opens the journal
/// for reading only.
struct ServiceCheck {
    private let configuration: HoldfastConfiguration
    private let json: Bool
    private let console: Console
    private let surroundings: [String]
    private let isService: (HostDirectory.User) -> Bool

    /// - Parameters:
    ///   - surroundings: warnings of what is beside the service's files: other processes, and its user's rights.
    ///   - isService: whether the process that has the working copies of a host is this configuration's own service.
    init(
        _ configuration: HoldfastConfiguration, json: Bool, surroundings: [String] = [], console: Console = .standard,
        isService: @escaping (HostDirectory.User) -> Bool = { _ in true }
    ) {
        self.isService = isService
        (self.configuration, self.json, self.console) = (configuration, json, console)
        self.surroundings = surroundings
    }

    /// The names of its properties are those of the JSON.
    struct Report: Encodable {
        struct Listener: Encodable {
            var name: String
            var listen: String
            var tls: Bool
            var clientCertificates: Bool
            var topic: String?
        }

        struct Route: Encodable {
            var name: String
            var endpoint: String
            /// `nil` for every topic that no other route serves.
            var topics: [String]?
        }

        struct Journal: Encodable {
            var path: String
            var exists: Bool
            var owner: String?
            var unconfirmed: Int?
            /// Lanes with notifications that no route serves: these are left alone.
            var unserved: [UnservedLane] = []
            /// With a journal in PostgreSQL: the database, and this host's name there. `path` is that of its working copies.
            var database: String?
            var host: String?
            /// Which losses an accepted notification survives, by what the database says of itself.
            var survives: String?
            var warnings: [String] = []
        }

        var usable = true
        var file: String?
        var journal: Journal
        var routes: [Route] = []
        var listeners: [Listener] = []
        var admin: String?
        var mistakes: [String] = []
        /// Warnings: settings that hold in another way than they are written.
        var warnings: [String] = []
    }

    func run() throws -> ToolStatus {
        let (report, status) = examine()
        console.print(json ? try JSONOutput.line(report) : Self.text(report))
        return status
    }

    func examine() -> (report: Report, status: ToolStatus) {
        var report = Report(
            file: configuration.file,
            journal: .init(path: configuration.journal.path ?? "", exists: false, owner: nil, unconfirmed: nil))
        report.mistakes = ConfigError(ServicePlan.problems(of: configuration)).lines
        var status: ToolStatus = report.mistakes.isEmpty ? .ok : .configuration
        do throws(JournalError) {
            if let postgres = configuration.journal.postgres {
                report.journal = try database(postgres)
            } else if let path = configuration.journal.path {
                report.journal = try journal(at: path)
            }
        } catch {
            report.mistakes.append(error.message)
            if status == .ok { status = ToolError(error).status }
        }
        report.usable = report.mistakes.isEmpty
        report.routes = configuration.routes.map {
            .init(name: $0.name, endpoint: $0.endpoint, topics: $0.topics?.sorted())
        }
        report.listeners = configuration.gateway.listeners.map { name, listener in
            .init(
                name: name, listen: "\(listener.listen)", tls: listener.tls != nil,
                clientCertificates: listener.tls?.clientAuthorities != nil, topic: listener.topic)
        }
        report.admin = configuration.admin.listen?.description
        report.warnings =
            report.journal.warnings + configuration.warnings(within: DescriptorLimit.current?.raised) + surroundings
        return (report, status)
    }

    /// - Throws: ``JournalError`` when the database can't be reached or used, or its copies can't lie where they are to.
    private func database(_ postgres: PostgresSettings) throws(JournalError) -> Report.Journal {
        let copies = configuration.journal.copies
        let isMade = try CopiesCheck.examine(copies, isOwn: isService)
        try CopiesCheck.examineSeal(configuration.journal)
        let facts = try FleetFacts(postgres, copies: copies)
        return .init(
            path: copies, exists: isMade, owner: nil, unconfirmed: nil, database: facts.place, host: facts.host,
            survives: facts.durability.words, warnings: facts.warnings)
    }

    /// - Throws: ``JournalError`` when it is there and can't be read, or can't be made.
    private func journal(at path: String) throws(JournalError) -> Report.Journal {
        let credential = configuration.journal.withheldCredential
        let exists = try LMDBJournal.examine(
            path, credential == nil ? try configuration.journal.options(create: true) : LMDBJournal.Options())
        guard exists else {
            let isMade = FileManager.default.fileExists(atPath: path)
            let directory = isMade ? path : URL(fileURLWithPath: path).deletingLastPathComponent().path
            if let error = SystemProbe.refusal(making: path, in: directory) { throw error }
            return .init(path: path, exists: false, owner: nil, unconfirmed: nil)
        }
        if let credential, KeyFileChoice.isWithheld {
            var journal = Report.Journal(
                path: path, exists: true, owner: try JournalReader.owner(of: path), unconfirmed: nil)
            journal.warnings = [
                "the journal was not looked at: its key is systemd's credential \(credential), which the service alone is given. "
                    + "While it runs, root has it by HOLDFAST_JOURNAL_KEY_FILE=/run/credentials/holdfast.service/\(credential)"
            ]
            return journal
        }
        let reader = try JournalReader(at: path)
        defer { reader.close() }
        try reader.refuseCopy()
        let status = try reader.status()
        switch SystemProbe.readOnly(path) {
        case .mount?:
            throw JournalError(
                .readOnly, "\(path) can be read and not written to: its file system is mounted for reading only")
        case .rights?:
            throw JournalError(.permissionDenied, "\(path) can be read and not written to: this user may not")
        case nil: break
        }
        if configuration.journal.keyFile != nil { try reader.refuseUnsealed() }
        return .init(
            path: path, exists: true, owner: reader.owner, unconfirmed: status.unconfirmed,
            unserved: UnservedLane.find(in: status, routes: configuration.routes.map(\.name)))
    }

    private static func text(_ report: Report) -> String {
        guard report.usable else { return report.mistakes.joined(separator: "\n") }
        let journal = report.journal
        let unserved = journal.unserved.reduce(0) { sum, lane in sum + lane.unconfirmed }
        let state =
            journal.exists
            ? (journal.unconfirmed.map { Format.plural($0 - unserved, "notification") + " to deliver" }
                ?? "not looked at")
                + (journal.owner.map { "; in use by \($0)" } ?? "")
            : "will be made"
        var rows = [("journal", journal.path, state)]
        if let database = journal.database {
            rows = [
                ("journal", database, "as host \(journal.host ?? "")"), ("", "", journal.survives ?? ""),
                ("copies", journal.path, journal.exists ? "there" : "will be made"),
            ]
        }
        rows += journal.unserved.map { lane in
            ("left alone", lane.lane, "\(Format.plural(lane.unconfirmed, "notification")), and no route serves it")
        }
        rows += report.routes.map { route in
            ("route \(route.name)", route.endpoint, route.topics?.joined(separator: ", ") ?? "all other topics")
        }
        rows += report.listeners.map { listener in
            let words = [
                listener.tls ? "TLS" : "in the clear", listener.clientCertificates ? "client certificates" : nil,
                listener.topic,
            ]
            return ("listen \(listener.name)", listener.listen, words.compactMap(\.self).joined(separator: ", "))
        }
        if let admin = report.admin { rows.append(("admin", admin, "health and metrics")) }
        let warnings = report.warnings.map { "\nwarning: \($0)" }.joined()
        return "\(report.file ?? "the environment") can be served:\n" + DeliverySummary.table(rows) + warnings
    }
}
