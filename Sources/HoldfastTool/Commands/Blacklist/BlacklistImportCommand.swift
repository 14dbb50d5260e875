internal import ArgumentParser
internal import Foundation
internal import Holdfast
internal import HoldfastControl
internal import HoldfastJournal
internal import HoldfastService

struct BlacklistImportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Put the entries that `blacklist export` wrote on the blacklist.",
        discussion: """
            The input has one JSON object a line. Only the token is needed; without a topic or an endpoint the entry \
            holds for every one. If a token has an entry for the same topic and endpoint, the one with the later \
            "since" stays, so an import may be repeated.

            An object, which is one line in the file:
              {"token":"00fc…","reason":"Unregistered","since":"2026-11-21T12:00:00Z",
               "learntAt":"2026-11-21T12:00:01Z","route":"default",
               "topic":"com.example.app","endpoint":"https://api.push.apple.com:443"}

            The journal must exist. To move to a new one, import the entries of the old one first: `journal import` \
            makes a journal if there is none.

            Examples:
              holdfast blacklist import blacklist.ndjson --journal push.journal
              holdfast journal export --journal old.journal -o entries.ndjson
              holdfast journal import entries.ndjson --journal new.journal
              holdfast blacklist export --journal old.journal | \\
                holdfast blacklist import - --journal new.journal
            """)

    @Argument(
        help: ArgumentHelp("The input, one JSON object a line; - is standard input.", valueName: "file"),
        completion: .file())
    var file: String

    @OptionGroup var placeOptions: PlaceOptions

    @Flag(name: .long, help: "Print one JSON object.")
    var json = false

    func run() async throws { try await reporting { try await importAll() } }

    private struct Report: Encodable {
        var file: String
        var imported: Int
        var malformed: Int
    }

    private func importAll() async throws -> ToolStatus {
        let place = try await placeOptions.blacklistPlace()
        let input = try InputFile(file)
        var faults = FaultReporter(console: .standard, name: input.name)
        var progress = WorkProgress("imported", of: nil)
        try await DeskOpener(place).withDesk { desk in
            var reader = LineReader(input)
            var isOver = false
            while !isOver {
                let batch = try await Self.batch(from: &reader, &faults, isOver: &isOver)
                if batch.isEmpty { continue }
                try await desk.blacklist(batch)
                progress.add(batch.count)
            }
        }
        progress.end()
        faults.finish()
        let report = Report(file: input.name, imported: progress.done, malformed: faults.count)
        Console.standard.print(
            json
                ? try JSONOutput.line(report)
                : "\(Format.plural(report.imported, "entry", "entries")) put on the blacklist of \(place)")
        return faults.count > 0 ? .badInput : .ok
    }

    private static func batch(
        from reader: inout LineReader, _ faults: inout FaultReporter, isOver: inout Bool
    ) async throws(ToolError) -> [BlacklistEntry] {
        var batch: [BlacklistEntry] = []
        let now = EngineClock.system.wall()
        while batch.count < OperatorDeskLimits.batch {
            guard let line = try await reader.next() else {
                isOver = true
                break
            }
            switch line {
            case .tooLong(let number): faults.malformed(line: number, LineFault("is too long"))
            case .text(let number, let bytes):
                do throws(LineFault) {
                    batch.append(try BlacklistEntry(line: bytes, now: now))
                } catch {
                    faults.malformed(line: number, error)
                }
            }
        }
        return batch
    }
}

struct BlacklistExportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Print the blacklist as JSON, for `blacklist import`.",
        discussion: """
            Prints one JSON object a line, in the order of the tokens. TOKENS ARE WHOLE in an export: they are \
            personal data, and a file made with --output has mode 0600. It gets its name when all of it is on disk.

            Examples:
              holdfast blacklist export -o blacklist.ndjson
              holdfast blacklist export --reason Unregistered --since 30d | jq -r .token
            """)

    @OptionGroup var placeOptions: PlaceOptions
    @OptionGroup var filterOptions: BlacklistFilterOptions

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp("A new file, which must not exist. (default: standard output)", valueName: "file"),
        completion: .file())
    var output: String?

    func run() async throws { try await reporting { try await export() } }

    private func export() async throws -> ToolStatus {
        try await placeOptions.blacklistPlace().withBlacklist { source in
            var listing = BlacklistListing(source, filterOptions.filter(), at: EngineClock.system.wall())
            if let output {
                let file = try PrivateFile(output)
                do {
                    let count = try await Self.write(&listing) { bytes throws(ToolError) in try file.write(bytes) }
                    try await file.finish()
                    Console.standard.note("\(Format.plural(count, "entry", "entries")) exported to \(output)")
                } catch {
                    file.discard()
                    throw error
                }
            } else {
                _ = try await Self.write(&listing) { bytes throws(ToolError) in try Console.export(bytes) }
            }
            listing.tellLeftOut(reveal: true)
            return listing.unreadableCount > 0 ? .badInput : .ok
        }
    }

    /// One page at a time.
    ///
    /// - Returns: how many entries there were.
    private static func write(
        _ listing: inout BlacklistListing, to sink: ([UInt8]) throws(ToolError) -> Void
    ) async throws -> Int {
        var count = 0
        while let page = try await listing.next() {
            guard !page.isEmpty else { continue }
            let lines = try page.map { try JSONOutput.line(BlacklistForm($0)) }
            try sink(Array((lines.joined(separator: "\n") + "\n").utf8))
            count += page.count
        }
        return count
    }
}
