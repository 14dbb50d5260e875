import Holdfast
import HoldfastLMDB

/// Refuses files whose pages are sound but that are wrong as a whole: another file in the place of this one, missing
/// tables, figures that do not match the rows. Such a file, if opened, would begin a new journal in the place of the old
/// one, or send notifications again.
extension EntriesStore {
    /// A journal that was completely made has all tables of the first format; one of a newer format has all there are, and
    /// none has others. A table whose name is damaged would be taken for one that older journals lack, and be made anew.
    static func refuseMissingTables(_ environment: Environment, _ place: JournalDirectory) throws(JournalError) {
        guard !Files.exists(place.incomplete) else { return }
        let format = try format(in: environment, place.path) ?? oldestFormat
        try refuseOtherTables(
            than: Tables.everyName + [WorkingCopy.tableName], required: Tables.names(in: format), in: .entries,
            environment, place)
    }

    /// - Parameters:
    ///   - known: names that such a file may have.
    ///   - required: those that every such file has.
    static func refuseOtherTables(
        than known: [String], required: [String], in part: JournalImage.Part, _ environment: Environment,
        _ place: JournalDirectory
    ) throws(JournalError) {
        let readers = ReaderPool(environment)
        defer { readers.close() }
        let names = try translated("read", place.path) { () throws(LMDBError) in
            try readers.read { (snapshot: borrowing Snapshot) throws(LMDBError) in
                try snapshot.tableNames(limit: greatestNameCount)
            }
        }
        guard let names else { throw .closed(place.path) }
        let missing = required.filter { name in !names.contains(name) }
        let strange = names.filter { name in !known.contains(name) }
        guard let what = TableNames.contradiction(missing: missing, strange: strange) else { return }
        throw .damaged("\(place.path)/\(part.file) has \(what)", in: place.path)
    }

    /// Names that are looked at in a list of tables, which has no more than ``tableLimit`` unless it is damaged.
    private static let greatestNameCount = 1000
}

/// Names of tables that are not as they should be.
enum TableNames {
    private static let greatestNamed = 5

    /// A description of missing and unknown tables; `nil` when there are none of either.
    static func contradiction(missing: [String], strange: [String]) -> String? {
        let others = strange.prefix(greatestNamed).map(\.debugDescription).joined(separator: ", ")
        let lack = "no \(missing.count == 1 ? "table" : "tables") \(missing.joined(separator: ", "))"
        switch (missing.isEmpty, strange.isEmpty) {
        case (true, true): return nil
        case (false, true): return "\(lack): it is damaged, or another file was put in its place"
        case (false, false):
            return
                "\(lack), but \(others), which this Holdfast does not know: it is damaged, or another file was put in "
                + "its place"
        case (true, false):
            return
                "a table named \(others), which this Holdfast does not know: the name is damaged, or a newer Holdfast "
                + "made the table"
        }
    }

    /// The known name of which `name` is a damaged form: it differs in a single letter; `nil` when there is none, or `name`
    /// itself is known.
    static func original(of name: String, among known: [String]) -> String? {
        let letters = Array(name.unicodeScalars)
        guard !known.contains(name) else { return nil }
        return known.first { other in
            let others = Array(other.unicodeScalars)
            return others.count == letters.count && zip(others, letters).count { $0 != $1 } == 1
        }
    }
}

extension JournalState {
    /// The contradiction between the lanes' records and the tables; `nil` when they agree. An older page causes one, as a
    /// disk leaves it that has lost a write, although its checksums are right.
    ///
    /// - Parameters:
    ///   - entries: rows of the table `entries`.
    ///   - deferred: of the table `deferred`.
    ///   - elsewhere: entries that have not ended either, kept aside or in quarantine.
    func contradiction(entries: Int, deferred: Int, elsewhere: Int) -> String? {
        let counted = lanes.all.reduce((entries: 0, deferred: 0)) { sum, lane in
            (sum.entries + lane.entries, sum.deferred + lane.deferred)
        }
        if counted.entries != entries {
            return "its lanes have \(counted.entries) entries that wait, and its table \(entries)"
        }
        if counted.deferred != deferred {
            return "its lanes have \(counted.deferred) entries that are deferred, and its table \(deferred)"
        }
        let totals = facts.totals
        let open = totals.accepted.subtractingReportingOverflow(totals.ended)
        if !open.overflow, open.partialValue > UInt64(entries + deferred + elsewhere) {
            return "by its totals \(open.partialValue) entries have no outcome yet, and its tables have "
                + "\(entries + deferred + elsewhere)"
        }
        // A damaged record may name another Producer, or none, so that these have too many; they never have too few.
        let owned = producers.reduce(0) { sum, producer in sum + producer.unconfirmed }
        if !producers.isEmpty, owned < entries + deferred {
            return "its Producers have \(owned) unconfirmed entries, and its tables \(entries + deferred)"
        }
        let last = lanes.all.reduce(0) { max($0, $1.lastUID) }
        return last < facts.nextUID ? nil : "its next number is \(facts.nextUID), and \(last) was given already"
    }
}
