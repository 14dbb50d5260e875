internal import Holdfast
internal import HoldfastJournal
internal import HoldfastService

/// Reads a journal that another process uses, only for a moment each time: a reader keeps the next owner from opening it.
struct OwnedJournal {
    /// Outcomes read in one piece.
    private static let page = 1000

    let directory: String

    func reading<R>(_ body: (JournalReader) throws(JournalError) -> R) throws(ToolError) -> R {
        do throws(JournalError) {
            let reader = try JournalReader(at: directory)
            defer { reader.close() }
            return try body(reader)
        } catch {
            throw ToolError(error)
        }
    }

    /// Tells all outcomes that came since to the ledger.
    func tell(_ ledger: SendLedger) async throws(ToolError) {
        while true {
            let cursor = await ledger.cursor
            let listing = try reading { (reader) throws(JournalError) in
                try reader.reading.listing(after: cursor, limit: Self.page, of: nil)
            }
            guard try await ledger.absorb(listing), listing.end > cursor else { return }
        }
    }
}
