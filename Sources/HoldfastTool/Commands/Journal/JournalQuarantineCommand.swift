internal import ArgumentParser
internal import Foundation
internal import Holdfast
internal import HoldfastControl
internal import HoldfastJournal
internal import HoldfastService

struct JournalQuarantineCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "quarantine",
        abstract: "List, export, retry and drop entries whose records can't be read.",
        discussion: """
            A record that is damaged, or that a newer Holdfast wrote, is moved to the quarantine, so that the entries \
            behind it are delivered. It stays in the journal, and counts as quarantined, until it is retried or \
            dropped here.
            """,
        subcommands: [
            QuarantineListCommand.self, QuarantineExportCommand.self, QuarantineRetryCommand.self,
            QuarantineDropCommand.self,
        ], defaultSubcommand: QuarantineListCommand.self)
}

/// Which quarantined entries a command is about.
struct QuarantineChoice: ParsableArguments {
    @Argument(
        help: ArgumentHelp("UIDs: numbers and ranges, such as 7, 10-20 or 500-. (default: all)", valueName: "uid"),
        transform: QuarantineChoice.parse)
    var chosen: [UIDRanges] = []

    @OptionGroup var placeOptions: PlaceOptions

    private static func parse(_ text: String) throws -> UIDRanges {
        guard let uids = UIDRanges(text) else {
            throw ValidationError("\(text.debugDescription) is not a UID, nor a range of them such as 10-20.")
        }
        return uids
    }

    /// The chosen entries that exist, a thousand at a time.
    func forEachPage(of reader: JournalReader, _ body: ([QuarantinedEntry]) async throws -> Void) async throws {
        let wanted = chosen.isEmpty ? nil : UIDRanges(chosen.flatMap(\.ranges))
        var last = UID.none
        while true {
            let page = try reader.quarantined(after: last, limit: OperatorDeskLimits.batch)
            guard let end = page.last else { return }
            last = end.uid
            let found = page.filter { entry in wanted.map { $0.contains(entry.uid) } ?? true }
            if !found.isEmpty { try await body(found) }
        }
    }

    /// How many are chosen and there.
    func count(in path: String) async throws -> Int {
        let reader = try JournalReader(at: path)
        defer { reader.close() }
        var count = 0
        try await forEachPage(of: reader) { page in count += page.count }
        return count
    }
}

/// A quarantined entry as it is listed. The names of its properties are those of the JSON.
struct QuarantineRow: Encodable {
    var uid: UInt64
    var lane: String?
    var producer: String?
    var fault: String
    var possiblySent: Bool
    var quarantinedAt: String
    var recordBytes: Int
    /// The record whole, in base64; in an export only.
    var record: String?

    init(_ entry: QuarantinedEntry, withRecord: Bool = false) {
        uid = entry.uid.rawValue
        lane = entry.lane?.description
        producer = entry.producer.isEmpty ? nil : entry.producer
        fault = "\(entry.fault)"
        possiblySent = entry.isPossiblySent
        quarantinedAt = Timestamp.format(entry.quarantinedAt)
        recordBytes = entry.record.count
        record = withRecord ? Data(entry.record).base64EncodedString() : nil
    }

    static let heading = ["UID", "LANE", "PRODUCER", "SENT", "QUARANTINED", "BYTES", "WHY"]

    var columns: [String] {
        [
            String(uid), lane?.printable(maximumLength: 80) ?? "?", producer?.printable(maximumLength: 64) ?? "",
            possiblySent ? "possibly" : "never", quarantinedAt, String(recordBytes),
            fault.printable(maximumLength: 200),
        ]
    }
}

struct QuarantineListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List quarantined entries in the order of their UIDs.",
        discussion: """
            Prints lane, producer and cause, and whether an attempt may have reached the service. The journal may be \
            in use.

            Examples:
              holdfast journal quarantine list --journal push.journal
              holdfast journal quarantine list --json | jq .uid
            """)

    @OptionGroup var choice: QuarantineChoice

    @Flag(name: .long, help: "Print one JSON object a line.")
    var json = false

    func run() async throws { try await reporting { try await list() } }

    private func list() async throws -> ToolStatus {
        let reader = try JournalReader(at: try choice.placeOptions.path())
        defer { reader.close() }
        var isFirst = true
        try await choice.forEachPage(of: reader) { page in
            let rows = page.map { QuarantineRow($0) }
            if json {
                Console.standard.print(try rows.map { try JSONOutput.line($0) }.joined(separator: "\n"))
            } else {
                let lines = (isFirst ? [QuarantineRow.heading] : []) + rows.map(\.columns)
                Console.standard.print(Columns.text(lines, right: [0, 5]))
            }
            isFirst = false
        }
        if isFirst, !json { Console.standard.note("nothing is in quarantine") }
        return .ok
    }
}

struct QuarantineExportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export", abstract: "Write quarantined entries with their whole records.",
        discussion: """
            Prints one JSON object a line: what `list --json` prints, and the record's bytes in base64 \
            (Docs/Internals/JournalFormat.md). The journal is not changed, and may be in use.

            RECORDS ARE WHOLE in an export: they hold tokens and payloads. Only its owner can read a file that is made \
            with --output. The file gets its name when all of it is on disk.

            Example:
              holdfast journal quarantine export -o unreadable.ndjson
            """)

    @OptionGroup var choice: QuarantineChoice

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            """
            A new file, which must not exist. (default: standard output)
            """, valueName: "file"),
        completion: .file())
    var output: String?

    func run() async throws { try await reporting { try await export() } }

    private func export() async throws -> ToolStatus {
        let reader = try JournalReader(at: try choice.placeOptions.path())
        defer { reader.close() }
        guard let output else {
            let count = try await write(reader) { line throws(ToolError) in try Console.export(line) }
            Console.standard.note("\(Format.plural(count, "entry", "entries")) exported")
            return .ok
        }
        let file = try PrivateFile(output)
        do {
            let count = try await write(reader) { line throws(ToolError) in try file.write(line) }
            try await file.finish()
            Console.standard.note("\(Format.plural(count, "entry", "entries")) exported to \(output)")
        } catch {
            file.discard()
            throw error
        }
        return .ok
    }

    /// - Returns: how many entries there were.
    private func write(_ reader: JournalReader, to sink: ([UInt8]) throws(ToolError) -> Void) async throws -> Int {
        var count = 0
        try await choice.forEachPage(of: reader) { page in
            for entry in page {
                try sink(Array((try JSONOutput.line(QuarantineRow(entry, withRecord: true)) + "\n").utf8))
            }
            count += page.count
        }
        return count
    }
}

struct QuarantineRetryCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "retry", abstract: "Bring back quarantined entries whose records can be read now.",
        discussion: """
            Use it after an upgrade, for records that a newer Holdfast wrote. Entries that can be read are sent in \
            their turn. One that may have been sent before is a possible duplicate, or, with at-most-once, ends as \
            unknown. The others stay in quarantine.

            Example:
              holdfast journal quarantine retry

            Exit codes: 0 all were brought back · 65 some can't be read · 66 none of the named UIDs exists.
            """)

    @OptionGroup var choice: QuarantineChoice

    @Flag(name: .long, help: "Print one JSON object.")
    var json = false

    func run() async throws { try await reporting { try await retry() } }

    private struct Report: Encodable {
        /// Entries that were chosen.
        var matched = 0
        /// Of them, those that wait again.
        var restored = 0
    }

    private func retry() async throws -> ToolStatus {
        let path = try choice.placeOptions.path()
        var report = Report(matched: try await choice.count(in: path))
        guard report.matched > 0 || choice.chosen.isEmpty else {
            throw ToolError(.noInput, "\(path) has no such entries in quarantine")
        }
        if report.matched > 0 {
            report.restored = try await DeskOpener(journal: path).withDesk { desk in
                let reader = try JournalReader(at: path)
                defer { reader.close() }
                var restored = 0
                try await choice.forEachPage(of: reader) { page in
                    restored += try await desk.retryQuarantined(page.map(\.uid)).count
                }
                return restored
            }
        }
        let left = report.matched - report.restored
        Console.standard.print(
            json
                ? try JSONOutput.line(report)
                : "\(Format.plural(report.restored, "entry waits", "entries wait")) again"
                    + (left > 0 ? "; \(Format.count(left)) cannot be read and stay in quarantine" : ""))
        return left > 0 ? .badInput : .ok
    }
}

struct QuarantineDropCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "drop", abstract: "Delete quarantined entries: they will never be sent.",
        discussion: """
            An entry that was never sent ends as withdrawn, one that may have been sent as unknown. The command counts \
            first, and asks. `export` keeps a copy.

            Examples:
              holdfast journal quarantine drop 1234
              holdfast journal quarantine drop --all --yes
            """)

    @OptionGroup var choice: QuarantineChoice
    @OptionGroup var consentOptions: ConsentOptions

    @Flag(name: .long, help: "All entries.")
    var all = false

    @Flag(name: .long, help: "Print one JSON object.")
    var json = false

    func validate() throws {
        guard choice.chosen.isEmpty == all else { throw ValidationError("Say which: by UIDs, or --all.") }
    }

    func run() async throws { try await reporting { try await drop() } }

    private func drop() async throws -> ToolStatus {
        let path = try choice.placeOptions.path()
        var report = WithdrawalForm(Withdrawal(), matched: try await choice.count(in: path))
        guard report.matched > 0 || all else { throw ToolError(.noInput, "\(path) has no such entries in quarantine") }
        if report.matched > 0 {
            try consentOptions.ask(
                "Delete \(Format.plural(report.matched, "unreadable entry", "unreadable entries")) of \(path)")
            let withdrawal = try await DeskOpener(journal: path).withDesk { desk in
                let reader = try JournalReader(at: path)
                defer { reader.close() }
                var withdrawal = Withdrawal()
                try await choice.forEachPage(of: reader) { page in
                    withdrawal += try await desk.withdraw(page.map(\.uid))
                }
                return withdrawal
            }
            report = WithdrawalForm(withdrawal, matched: report.matched)
        }
        Console.standard.print(
            json
                ? try JSONOutput.line(report)
                : "\(Format.plural(report.withdrawn + report.unknown, "entry", "entries")) deleted: "
                    + "\(Format.count(report.withdrawn)) withdrawn, \(Format.count(report.unknown)) unknown")
        return .ok
    }
}
