import Holdfast
import HoldfastLMDB

/// How a journal's two files are sealed, found out before liblmdb opens them, and before anything is written.
struct JournalSeals {
    private let seals: [JournalPart: JournalSeal]

    subscript(_ part: JournalPart) -> JournalSeal? { seals[part] }

    private init(_ seals: [JournalPart: JournalSeal]) { self.seals = seals }

    /// For whoever reads a journal at rest. One that is not sealed can be read with keys, too.
    init(reading place: JournalDirectory, _ keys: JournalKeys?) throws(JournalError) {
        var seals: [JournalPart: JournalSeal] = [:]
        for part in JournalPart.allCases {
            seals[part] = try SealSearch(part, keys, in: place.path).find(in: try place.find(part))
        }
        self.init(seals)
    }

    /// For whoever opens a journal for writing: with keys a new one is sealed, and one that is not sealed is refused.
    ///
    /// - Parameters:
    ///   - parts: those that are opened.
    ///   - isCopy: whether the entries came from elsewhere, and so are new only where none came.
    init(
        opening place: JournalDirectory, _ keys: JournalKeys?, _ parts: [JournalPart] = JournalPart.allCases,
        isCopy: Bool = false
    ) throws(JournalError) {
        var seals: [JournalPart: JournalSeal] = [:]
        var (sealed, clear): ([JournalPart], [JournalPart]) = ([], [])
        for part in parts {
            let finding = try place.find(part)
            if let seal = try SealSearch(part, keys, in: place.path).find(in: finding) {
                seals[part] = seal
                sealed.append(part)
            } else if let keys {
                // The entries of a working copy are made before its journal is.
                let isInTheMaking = Files.exists(place.incomplete) && !(isCopy && part == .entries)
                if !isInTheMaking, !Self.isNew(part, finding) { clear.append(part) }
                seals[part] = try JournalSeal(part, keys, listed: nil, index: nil)
            }
        }
        guard clear.isEmpty else {
            throw sealed.first.map { .halfSealed(place.path, .half(sealed: $0.file)) } ?? .notSealed(place.path)
        }
        self.init(seals)
    }

    /// How much of a journal is sealed. A file that is not there, or can't be read, says nothing of it.
    func sealing(of place: JournalDirectory) throws(JournalError) -> JournalSealing {
        var sealed: [JournalPart: Bool] = [:]
        for part in JournalPart.allCases where try place.find(part).file != nil { sealed[part] = seals[part] != nil }
        return JournalSealing(sealed)
    }

    /// The ids of the keys that a journal needs; none for one that is not sealed, or can't be looked at.
    static func idsNeeded(in directory: String) -> [SealKeyID] {
        let place = JournalDirectory(directory)
        var ids: [SealKeyID] = []
        for part in JournalPart.allCases {
            guard let finding = try? place.find(part) else { continue }
            ids += SealSearch.ids(in: finding).filter { !ids.contains($0) }
        }
        return ids
    }

    /// Whether nothing was ever put into a file.
    static func isNew(_ part: JournalPart, _ finding: DataFile.Finding) -> Bool {
        // One that can't be read is left to the check that comes next.
        guard let facts = StoredFacts(finding) else { return true }
        return facts.value(of: Array((part == .entries ? "format" : "opening").utf8)) == nil
    }
}

extension JournalDirectory {
    /// A data file as it lies there.
    func find(_ part: JournalPart) throws(JournalError) -> DataFile.Finding {
        let path = path + "/" + part.file
        guard Files.exists(path) else { return .absent }
        return try translated("look at", self.path) { () throws(LMDBError) in try DataFile.find(path) }
    }
}
