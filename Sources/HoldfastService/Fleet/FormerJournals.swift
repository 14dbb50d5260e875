internal import Foundation
package import Holdfast
internal import HoldfastJournal
internal import HoldfastPostgres

/// Journals of a directory where working copies of journals in PostgreSQL are to lie: they were used before `journal.postgres`
/// was configured, and nobody would deliver what is left in them.
package enum FormerJournals {
    /// - Parameter path: the directory of working copies.
    /// - Throws: ``JournalError`` when it is a journal itself, or has one in it with notifications that wait.
    package static func refuse(in path: String) throws(JournalError) {
        if let waiting = try waiting(in: path) {
            throw JournalError(
                .alreadyExists,
                "\(path) is a journal of a directory, in which \(words(waiting)), and can't have working copies of journals "
                    + "in PostgreSQL, too: \(advice(waiting))")
        }
        let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
        for name in names.sorted() where !isOfHost(name) {
            let place = "\(path)/\(name)"
            guard let waiting = try waiting(in: place), waiting > 0 else { continue }
            throw JournalError(
                .alreadyExists,
                "\(place) is a journal of a directory, in which \(words(waiting)). With `journal.postgres` nobody would "
                    + "deliver them: \(advice(waiting))")
        }
    }

    /// Whether a host of a fleet gives such names to what it has in its directory.
    private static func isOfHost(_ name: String) -> Bool {
        let number = name.prefix { $0.isNumber }
        return name.hasPrefix("own.journal") || name == "blacklist"
            || !number.isEmpty && name.dropFirst(number.count).hasPrefix(".journal")
    }

    /// - Returns: nil where there is no journal.
    private static func waiting(in place: String) throws(JournalError) -> Int? {
        // A directory of copies has a blacklist, as a journal has.
        guard FileManager.default.fileExists(atPath: LMDBJournal.entries(in: place)) else { return nil }
        // A copy that somebody has moved away: the database has what is in it, and other hosts may have delivered it.
        guard !CopyPlace.isCopy(place) else { return nil }
        do throws(JournalError) {
            guard let reader = try JournalReader.ofMade(directory: place) else { return nil }
            defer { reader.close() }
            return try reader.status().unconfirmed
        } catch {
            throw JournalError(
                error.code, "whether anything waits in the journal \(place) can't be seen: \(error.message)")
        }
    }

    private static func words(_ waiting: Int) -> String {
        waiting == 0 ? "nothing waits" : Format.plural(waiting, "notification waits", "notifications wait")
    }

    private static func advice(_ waiting: Int) -> String {
        let other = "move it away, or name another `journal.path`"
        return waiting == 0
            ? other
            : "let it run empty without `journal.postgres`, or take what waits with `holdfast journal export`, and import it when "
                + "the host serves. Then \(other)"
    }
}
