import Holdfast
import HoldfastLMDB

/// Refuses files whose pages are all sound, and that are wrong as a whole: another file in the place of this one, tables that
/// are gone, figures that do not match the rows. To go on with them would begin a new journal in the place of the old one, or
/// send again what was sent.
extension EntriesStore {
    /// A journal that was completely made has all tables of the first format.
    static func refuseMissingTables(_ environment: Environment, _ place: JournalDirectory) throws(JournalError) {
        guard !Files.exists(place.incomplete) else { return }
        try refuseMissing(Tables.firstNames, of: .entries, environment, place)
    }

    /// - Parameter names: of tables that every such file has.
    static func refuseMissing(
        _ names: [String], of part: JournalImage.Part, _ environment: Environment, _ place: JournalDirectory
    ) throws(JournalError) {
        let missing = try translated("read", place.path) { () throws(LMDBError) -> [String] in
            // One look where all is well.
            guard try ReaderPool.openTables(names, in: environment) == nil else { return [] }
            var missing: [String] = []
            for name in names where try ReaderPool.openTables([name], in: environment) == nil { missing.append(name) }
            return missing
        }
        guard !missing.isEmpty else { return }
        throw .damaged(
            "\(place.path)/\(part.file) has no \(missing.count == 1 ? "table" : "tables") "
                + "\(missing.joined(separator: ", ")): it is damaged, or another file was put in its place",
            in: place.path)
    }
}

extension JournalState {
    /// How the records of lanes contradict the tables; nil when they agree. A page of an older time does, as a disk leaves it
    /// that has lost a write, although its checksums are right.
    ///
    /// - Parameters:
    ///   - entries: rows of the table `entries`.
    ///   - deferred: of the table `deferred`.
    func contradiction(entries: Int, deferred: Int) -> String? {
        let counted = lanes.all.reduce((entries: 0, deferred: 0)) { sum, lane in
            (sum.entries + lane.entries, sum.deferred + lane.deferred)
        }
        if counted.entries != entries {
            return "its lanes have \(counted.entries) entries that wait, and its table \(entries)"
        }
        if counted.deferred != deferred {
            return "its lanes have \(counted.deferred) entries that are deferred, and its table \(deferred)"
        }
        let last = lanes.all.reduce(0) { max($0, $1.lastUID) }
        return last < facts.nextUID ? nil : "its next number is \(facts.nextUID), and \(last) was given already"
    }
}
