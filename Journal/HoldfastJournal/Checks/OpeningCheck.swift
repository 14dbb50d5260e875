import Holdfast
import HoldfastLMDB

/// A look at the data files before liblmdb opens them, which dies by a signal, or never ends, where pages are not what they
/// say or name each other, and which believes an older page that lies in the place of a newer one.
///
/// Bounded by a number of pages, whatever is in them. For the owner, and for readers of a journal at rest.
enum OpeningCheck {
    /// - Returns: at how many places the blacklist is damaged that can be opened all the same; nil when it has more pages
    ///   than may be looked at.
    /// - Throws: ``JournalError`` with code `damaged` for what liblmdb would not survive, and for entries that contradict
    ///   themselves: what was sent might go again, and what was accepted never.
    ///
    /// - Parameter seals: how the files are sealed.
    @discardableResult
    static func run(
        _ place: JournalDirectory, _ seals: JournalSeals, greatestPageCount: Int
    ) throws(JournalError) -> Int? {
        let entries = check(.entries, try place.find(.entries), seals[.entries], greatestPageCount)
        if let damage = entries.contradiction { throw error(damage, place) }
        let finding = try place.find(.blacklist)
        guard let file = finding.file else { return 0 }
        let blacklist = check(.blacklist, finding, seals[.blacklist], greatestPageCount)
        if let damage = blacklist.fatal { throw error(damage, place) }
        // One whose making was interrupted lacks its tables, and holds nothing: its owner makes them.
        if Files.exists(place.incomplete) { return 0 }
        return file.lastPage < greatestPageCount ? blacklist.report.tokenDamage : nil
    }

    /// Whether there is a blacklist that can be opened and was found whole; nil where it has more pages than may be looked at.
    static func isWholeBlacklist(
        in place: JournalDirectory, _ seal: JournalSeal?, greatestPageCount: Int
    ) throws(JournalError) -> Bool? {
        let finding = try place.find(.blacklist)
        guard let file = finding.file else { return false }
        let blacklist = check(.blacklist, finding, seal, greatestPageCount)
        guard blacklist.fatal == nil, blacklist.report.damageCount == 0 else { return false }
        return file.lastPage < greatestPageCount ? true : nil
    }

    private static func check(
        _ part: JournalPart, _ finding: DataFile.Finding, _ seal: JournalSeal?, _ greatestPageCount: Int
    ) -> FileCheck {
        let opened = JournalImage.Opened(
            part: part, directory: "", finding: finding, path: nil, isInUse: false, seal: seal
        ) { true }
        let check = FileCheck(
            opened, VerificationReport(directory: "", owner: nil), greatestPageCount: greatestPageCount
        ) { _ in
        }
        check.run()
        return check
    }

    private static func error(_ damage: JournalDamage, _ place: JournalDirectory) -> JournalError {
        var subject = "\(place.path)/\(damage.file)"
        if let page = damage.page { subject += ", page \(page)" }
        if let table = damage.table {
            let isOurs = ![PageFault.freeList, PageFault.tables].contains(table)
            subject += (damage.page == nil ? "," : " of") + " the \(isOurs ? "table " : "")\(table)"
        }
        if let lane = damage.lane { subject += ", lane \(lane)" }
        if let uid = damage.uid { subject += ", UID \(uid)" }
        return .damaged("\(subject), is damaged: \(damage.what)", in: place.path)
    }
}

extension VerificationReport {
    /// Places that a look-up of a recipient depends on.
    var tokenDamage: Int {
        let others = damage.count { damage in !BlacklistTables.tableNames.contains(damage.table ?? "") }
        return damageCount - others
    }
}
