package import Holdfast
import HoldfastLMDB

/// Checks every page and every record of a journal: at rest or in use, and also one that does not open any more.
///
/// liblmdb walks nothing of it: it dies by signal on damaged files. The pages are read and checked here, within bounds,
/// whatever they hold: memory grows with the number of lanes and Producers, and by a bit for each page.
package enum JournalVerification {
    /// - Parameters:
    ///   - directory: the journal's, `NAME.journal`. Nothing in it is changed.
    ///   - keys: with which it may be sealed.
    ///   - limits: for a journal in use.
    ///   - progress: called now and then, on this thread.
    /// - Throws: ``JournalError`` with code `notFound`, `permissionDenied`, `unsupportedFileSystem` or `inputOutput`; and
    ///   `limitReached` when a journal in use would have had to be pinned for longer than the limits allow. Damage is not
    ///   thrown but reported.
    package static func run(
        directory: String, keys: JournalKeys? = nil, limits: InspectionLimits = InspectionLimits(),
        progress: @escaping (InspectionProgress) -> Void = { _ in }
    ) throws(JournalError) -> VerificationReport {
        try run(try JournalImage(directory, limits, keys), progress)
    }

    static func run(
        _ image: JournalImage, _ progress: @escaping (InspectionProgress) -> Void
    ) throws(JournalError) -> VerificationReport {
        var report = VerificationReport(directory: image.place.path, owner: image.owner)
        var seals: [JournalPart: Bool] = [:]
        for part in JournalImage.Part.allCases {
            let found = try image.read(part) { (opened) throws(JournalError) -> VerificationReport in
                // A file that can't be read says nothing of it.
                seals[part] = opened.finding.file == nil ? nil : opened.seal != nil
                let check = FileCheck(opened, VerificationReport(directory: "", owner: nil), progress)
                check.run()
                return check.report
            }
            report.add(found)
        }
        report.sealing = JournalSealing(seals)
        return report
    }
}

extension VerificationReport {
    fileprivate mutating func add(_ other: VerificationReport) {
        for damage in other.damage { add(damage) }
        // Beyond what is listed.
        damageCount += other.damageCount - other.damage.count
        pages += other.pages
        rows.merge(other.rows) { $1 }
        sealed.merge(other.sealed, uniquingKeysWith: +)
        remarks += other.remarks
    }
}
