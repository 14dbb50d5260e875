internal import Foundation
internal import Holdfast
internal import HoldfastJournal
internal import HoldfastPostgres

extension JournalReader {
    /// Opens a journal for a command; one that is a host's copy of a fleet's, with the host's copy of the blacklist.
    convenience init(at path: String) throws(JournalError) {
        try self.init(
            directory: path, blacklist: HostDirectory.blacklist(beside: path), keys: try KeyFileChoice.keys(of: path))
    }

    /// As ``JournalReader/ofMade(directory:keys:)``, with the keys of this command.
    static func ofMade(at path: String) throws(JournalError) -> JournalReader? {
        try ofMade(directory: path, keys: try KeyFileChoice.keys(of: path))
    }
}

/// A host's copy of the blacklist that hosts share.
enum BlacklistCopyWords {
    /// Refuses a working copy without one beside it: its own blacklist is empty, and says nothing.
    static func requireCopy(beside journal: String) throws(ToolError) {
        guard CopyPlace.isCopy(journal), HostDirectory.blacklist(beside: journal) == nil else { return }
        throw unknown("is not there")
    }

    /// - Parameter what: is the matter with the copy.
    static func unknown(_ what: String) -> ToolError {
        ToolError(
            .noInput,
            "it is not known what is on the blacklist: this host's copy of the fleet's \(what). The service makes it again as soon as "
                + "it has the database; until then ask on another host")
    }

    /// That it is one, and as of when.
    ///
    /// - Parameter owner: the process that keeps it up to date; nil when none does.
    /// - Returns: nil for a journal with a blacklist of its own.
    static func words(beside journal: String, owner: String?) -> String? {
        guard let copy = HostDirectory.blacklist(beside: journal) else { return nil }
        let file = LocalBlacklist.dataFile(in: copy)
        let changed = (try? FileManager.default.attributesOfItem(atPath: file))?[.modificationDate] as? Date
        let time = changed.map { WallTime(milliseconds: Int64($0.timeIntervalSince1970 * 1000)) }
        let last = time.map { ", last changed at \(Timestamp.format(WallTime(seconds: $0.seconds)))" } ?? ""
        let keeper = owner.map { "\($0) brings it up to date" } ?? "nothing on this host brings it up to date now"
        return "this is the host's copy of the fleet's blacklist\(last); \(keeper)"
    }
}
