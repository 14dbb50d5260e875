internal import ArgumentParser
internal import Foundation
internal import Holdfast
internal import HoldfastJournal
internal import HoldfastPostgres
internal import HoldfastService

struct JournalExportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Write whole entries as JSON, for `journal import`.",
        discussion: """
            Prints one JSON object a line (Docs/Reference/Tool.md has its members), without loss: also rejected and \
            deferred entries, with attempts, reasons and times. The journal is not changed, and may be in use; then \
            the export is not of one instant.

            An export does not contain the blacklist (use `blacklist export`), nor entries that were confirmed by \
            silence and are kept aside, since an import would send them again, nor entries whose records can't be \
            read. Those are counted (code 65), and `journal quarantine export` writes the quarantined ones.

            TOKENS AND PAYLOADS ARE WHOLE in an export: they are personal data. Only its owner can read a file that is \
            made with --output. The file gets its name when all of it is on disk.

            Examples:
              holdfast journal export -o waiting.ndjson --state unconfirmed
              holdfast journal export --reason TopicDisallowed >rejected.ndjson
            """)

    @OptionGroup var placeOptions: PlaceOptions
    @OptionGroup var stateOptions: StateOptions
    @OptionGroup var filterOptions: EntryFilterOptions

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            """
            A new file, which must not exist. (default: standard output)
            """, valueName: "file"),
        completion: .file())
    var output: String?

    func validate() throws {
        guard !stateOptions.state.contains(.aside) else {
            throw ValidationError(
                "What is kept aside is confirmed, and an import would send it once more: `journal list --state aside` shows it."
            )
        }
    }

    func run() async throws { try await reporting { try await export() } }

    private func export() async throws -> ToolStatus {
        let path = try placeOptions.path()
        let reader = try JournalReader(at: path)
        defer { reader.close() }
        let isLeftCopy = reader.owner == nil && CopyPlace.isCopy(path)
        if isLeftCopy {
            Console.standard.note(
                "this is a host's copy of a journal in PostgreSQL, and nobody uses it: what waits in it may have been delivered by "
                    + "another host, so all of it is exported as possibly sent. "
                    + (CopyPlace.isSetAside(path)
                        ? "It was set aside, and no host delivers what the database lacks: import what is missed"
                        : "Hosts deliver it without an import"))
        }
        try await UnknownLanes.tell(filterOptions.lane, in: LocalSource(reader))
        let aside = try reader.status().aside
        if aside > 0 {
            Console.standard.note(
                "\(Format.plural(aside, "entry", "entries")) that silence has confirmed, kept aside in case of a late error, "
                    + "\(aside == 1 ? "is" : "are") not exported")
        }
        if !reader.sealedWith.isEmpty {
            Console.standard.note(
                "the journal is sealed, and what is exported is not: payloads and device tokens are in the clear there")
        }
        var listing = reader.listing(matching: filterOptions.filter(states: stateOptions.kinds))
        guard let output else {
            let count = try write(&listing, mayBeSent: isLeftCopy) { bytes throws(ToolError) in
                try Console.export(bytes)
            }
            Console.standard.note("\(Format.plural(count, "entry", "entries")) exported")
            return Self.status(of: listing)
        }
        let file = try PrivateFile(output)
        do {
            let count = try write(&listing, mayBeSent: isLeftCopy) { bytes throws(ToolError) in
                try file.write(bytes)
            }
            try await file.finish()
            Console.standard.note("\(Format.plural(count, "entry", "entries")) exported to \(output)")
        } catch {
            file.discard()
            throw error
        }
        return Self.status(of: listing)
    }

    private static func status(of listing: EntryListing) -> ToolStatus {
        UnreadableEntries.tell(listing.unreadableCount, first: listing.firstFault?.message)
        return listing.unreadableCount > 0 ? .badInput : .ok
    }

    /// One page at a time.
    ///
    /// - Returns: how many entries there were.
    private func write(
        _ listing: inout EntryListing, mayBeSent: Bool, to sink: ([UInt8]) throws(ToolError) -> Void
    ) throws -> Int {
        var count = 0
        while let page = try listing.next() {
            guard !page.isEmpty else { continue }
            try sink(page.flatMap { ExportedEntry.line($0, mayBeSent: mayBeSent) })
            count += page.count
            Console.standard.showStatus("exported: \(Format.count(count))")
        }
        Console.standard.showStatus("")
        return count
    }
}
