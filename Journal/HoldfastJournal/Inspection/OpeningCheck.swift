import Holdfast
import HoldfastLMDB

/// A look at the data files before liblmdb opens them, which dies by a signal, or never ends, where pages are not what they
/// say or name each other.
///
/// Bounded by a number of pages, whatever is in them. For the owner.
enum OpeningCheck {
    /// - Returns: at how many places the blacklist is damaged that can be opened all the same; nil when it has more pages
    ///   than may be looked at.
    /// - Throws: ``JournalError`` with code `damaged` for what liblmdb would not survive.
    static func run(_ place: JournalDirectory, greatestPageCount: Int) throws(JournalError) -> Int? {
        if let file = try find(.entries, place).file, let fault = fatalFault(of: file, greatestPageCount) {
            throw error(fault, .entries, place)
        }
        let finding = try find(.blacklist, place)
        guard let file = finding.file else { return 0 }
        let check = check(finding, greatestPageCount, isInUse: false)
        check.run()
        if let fault = check.fatal { throw error(fault, .blacklist, place) }
        return file.lastPage < greatestPageCount ? check.report.tokenDamage : nil
    }

    private static func find(_ part: JournalImage.Part, _ place: JournalDirectory) throws(JournalError)
        -> DataFile.Finding
    {
        let path = place.path + "/" + part.file
        guard Files.exists(path) else { return .absent }
        return try translated("look at", place.path) { () throws(LMDBError) in try DataFile.find(path) }
    }

    private static func check(_ finding: DataFile.Finding, _ greatestPageCount: Int, isInUse: Bool) -> FileCheck {
        var looks = 0
        let opened = JournalImage.Opened(
            part: .blacklist, directory: "", finding: finding, path: nil, isInUse: isInUse
        ) {
            looks += 1
            return looks <= greatestPageCount
        }
        return FileCheck(opened, VerificationReport(directory: "", owner: nil)) { _ in }
    }

    /// The first fault of the trees that liblmdb does not survive.
    private static func fatalFault(of file: DataFile, _ greatestPageCount: Int) -> PageFault? {
        var found: PageFault?
        let walk = FileWalk(file, looksIntoDisorder: true) { visited in
            found == nil && visited < greatestPageCount
        } fault: { fault in
            if fault.isFatal, found == nil { found = fault }
        }
        for table in walk.tables() { walk.walk(table.record, name: table.name) { _, _, _ in } }
        walk.checkFreeList()
        return found
    }

    private static func error(
        _ fault: PageFault, _ part: JournalImage.Part, _ place: JournalDirectory
    ) -> JournalError {
        let page = fault.page.map { ", page \($0)" } ?? ""
        let table = fault.table.map { name in
            [PageFault.freeList, PageFault.tables].contains(name) ? " of the \(name)" : " of the table \(name)"
        }
        return .damaged(
            "\(place.path)/\(part.file)\(page)\(table ?? "") is damaged: \(fault.what)", in: place.path)
    }
}

extension VerificationReport {
    /// Places that a look-up of a token depends on.
    var tokenDamage: Int {
        let others = damage.count { damage in damage.table != LMDBBlacklist.tableNames[0] }
        return damageCount - others
    }
}
