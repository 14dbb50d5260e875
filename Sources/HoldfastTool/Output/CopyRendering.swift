internal import Holdfast
internal import HoldfastJournal
internal import HoldfastService

/// The result of a backup or a compaction. The names of its properties are those of the JSON.
struct CopyRendering: Encodable, Equatable {
    var journal: String
    /// The process that was using the original.
    var owner: String?
    /// Rows by table.
    var rows: [String: Int]
    /// Of the data files, which are allocated ahead of use.
    var bytesBefore: Int
    var bytesAfter: Int
    /// Rows that are sealed now, by the id of the key; absent for a journal that is not sealed.
    var sealed: [String: Int]?

    init(_ report: CopyReport) {
        journal = report.directory
        owner = report.owner
        rows = report.rows
        bytesBefore = report.bytesBefore
        bytesAfter = report.bytesAfter
        sealed = report.sealed.isEmpty ? nil : report.sealed
    }

    func text(copied: Bool) -> String {
        let counts =
            ["entries", "deferred", "rejections"].map { "\(Format.count(rows[$0] ?? 0)) \($0)" }
            + [RecipientRows.words(rows)]
        let what = copied ? "\(journal) is a copy with" : "\(journal) holds"
        return "\(what) \(counts.joined(separator: ", "))\n"
            + "\(Format.bytes(bytesBefore)) before, \(Format.bytes(bytesAfter)) now"
            + (sealed.map { "\n" + SealedRows.words($0) } ?? "")
    }
}
