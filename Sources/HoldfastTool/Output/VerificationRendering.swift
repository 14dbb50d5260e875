internal import Holdfast
internal import HoldfastJournal
internal import HoldfastService

/// The result of `journal verify`. The names of its properties are those of the JSON.
struct VerificationRendering: Encodable, Equatable {
    struct Damage: Encodable, Equatable {
        var file: String
        var page: UInt64?
        var table: String?
        var lane: UInt32?
        var uid: UInt64?
        var what: String
        var meaning: String

        init(_ damage: JournalDamage) {
            file = damage.file
            page = damage.page
            table = damage.table
            lane = damage.lane
            uid = damage.uid?.rawValue
            what = damage.what
            meaning = damage.meaning
        }

        /// `entries/data.mdb, page 12, table entries, lane 1, UID 7: its checksum is wrong`
        var line: String {
            var place = [file]
            if let page { place.append("page \(page)") }
            if let table { place.append("table \(table)") }
            if let lane { place.append("lane \(lane)") }
            if let uid { place.append("UID \(uid)") }
            return place.joined(separator: ", ") + ": " + what
        }
    }

    struct Salvage: Encodable, Equatable {
        /// The new one.
        var journal: String
        /// Rows by table: from sound pages, from anywhere in the file, and not to be had.
        var kept: [String: Int]
        var restored: [String: Int]
        var dropped: [String: Int]
        /// Entries found, and left out since they have ended.
        var ended: Int
        /// Outcomes of the history that are lost; nil for none.
        var lostOutcomes: Int?
        var remarks: [String]

        init(_ report: SalvageReport) {
            journal = report.directory
            kept = report.kept
            restored = report.restored
            dropped = report.dropped
            ended = report.ended
            lostOutcomes = report.lostOutcomes > 0 ? report.lostOutcomes : nil
            remarks = report.remarks
        }

        var lines: [String] {
            func counts(_ rows: [String: Int]) -> String {
                let parts = rows.sorted { $0.key < $1.key }.map { "\(Format.count($0.value)) \($0.key)" }
                return parts.isEmpty ? "nothing" : parts.joined(separator: ", ")
            }
            var lines = ["salvaged into \(journal): \(counts(kept))"]
            if !restored.isEmpty {
                lines.append(
                    "found outside of the trees, and restored: \(counts(restored)); entries count as possibly sent")
            }
            if ended > 0 { lines.append("found and left out, since they have ended: \(Format.count(ended))") }
            if !dropped.isEmpty { lines.append("damaged where they lay: \(counts(dropped))") }
            return lines + remarks
        }
    }

    var journal: String
    var owner: String?
    var sound: Bool
    var pages: Int
    /// Rows by table.
    var rows: [String: Int]
    var damageCount: Int
    /// The first thousand.
    var damage: [Damage]
    var remarks: [String]
    /// Rows that are sealed, by the id of the key; absent for a journal that is not sealed.
    var sealed: [String: Int]?
    /// That one of the two files alone is sealed; nil for all others.
    var halfSealed: String?
    /// The next step then.
    private var remedy: String?
    /// With --salvage.
    var salvage: Salvage?

    private enum CodingKeys: String, CodingKey {
        case journal, owner, sound, pages, rows, damageCount, damage, remarks, sealed, halfSealed, salvage
    }

    init(_ report: VerificationReport) {
        journal = report.directory
        owner = report.owner
        sound = report.isSound
        pages = report.pages
        rows = report.rows
        damageCount = report.damageCount
        damage = report.damage.map { Damage($0) }
        remarks = report.remarks
        sealed = report.sealed.isEmpty ? nil : report.sealed
        if let remedy = report.sealing.remedy(of: report.directory) {
            (halfSealed, self.remedy) = (report.sealing.words, remedy)
        }
    }

    /// Lines of damage in the text; the JSON has more.
    private static let greatestLineCount = 50

    func text() -> String {
        var lines = ["\(journal): " + (owner.map { "in use by \($0)" } ?? "at rest")]
        let names = ["entries", "deferred", "rejections", "outcomes"]
        let counts =
            names.compactMap { name in rows[name].map { "\(Format.count($0)) \(Self.words[name] ?? name)" } }
            + (RecipientRows.names.contains { rows[$0] != nil } ? [RecipientRows.words(rows)] : [])
        lines.append("looked at \(Format.plural(pages, "page")): " + counts.joined(separator: ", "))
        if let sealed { lines.append(SealedRows.words(sealed)) }
        lines += remarks
        if let halfSealed, let remedy { lines.append("Its sealing is half done: \(halfSealed). Next: \(remedy).") }
        guard !sound else {
            let words = halfSealed == nil ? "It is sound." : "No row of it is damaged."
            return (lines + [words] + (salvage?.lines ?? [])).joined(separator: "\n")
        }
        var last: String?
        for damage in damage.prefix(Self.greatestLineCount) {
            lines.append(damage.line)
            if damage.meaning != last { lines.append("    " + damage.meaning) }
            last = damage.meaning
        }
        let rest = damageCount - min(damage.count, Self.greatestLineCount)
        if rest > 0 {
            lines.append("and \(Format.count(rest)) more" + (json(rest) ? ": --json lists more of them" : ""))
        }
        lines.append("It is damaged in \(Format.plural(damageCount, "place")).")
        lines +=
            salvage?.lines
            ?? [
                "`holdfast journal verify --journal \(ShellText.word(journal)) --salvage NEW` copies what is sound into a "
                    + "new journal."
            ]
        return lines.joined(separator: "\n")
    }

    private func json(_ rest: Int) -> Bool { damage.count > Self.greatestLineCount }

    private static let words = ["entries": "waiting or in flight", "outcomes": "outcomes not taken"]
}
