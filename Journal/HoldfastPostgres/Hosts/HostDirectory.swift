internal import Foundation
package import Holdfast
internal import HoldfastJournal
internal import HoldfastLMDB
internal import HoldfastPlatform

/// The directory of a host: the working copies of the journals that it has, and a lock by which one process has them.
package final class HostDirectory: Sendable {
    package let path: String
    private let lock: OpenFile

    /// - Parameter path: made with mode 0700 when it is not there; the directory above it exists.
    /// - Throws: ``JournalError`` with `ownedByAnotherProcess` while another process has it, or what the system says.
    package init(_ path: String) throws(JournalError) {
        let path = path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path
        self.path = path
        guard Files.exists(path) || Files.exists(Files.parent(of: path)) else {
            throw JournalError(
                .notFound, "cannot make \(path): there is no directory \(Files.parent(of: path)) yet; make it first")
        }
        do throws(LMDBError) {
            _ = try Files.makeDirectory(path, adopting: true)
            lock = try OpenFile(path + "/host.lock", .createHere)
            guard try lock.tryLock(exclusive: true) else {
                throw LMDBError(.openInThisProcess, "flock", path: path)
            }
        } catch {
            guard error.code == .openInThisProcess else { throw JournalError(error, "use", path) }
            throw JournalError(
                .ownedByAnotherProcess,
                "\(path) is in use by another process, which has its working copies: end that one, or name another "
                    + "`journal.path` for this one")
        }
    }

    deinit { lock.unlock() }

    package func copy(of journal: Int32) -> CopyPlace { CopyPlace("\(path)/\(journal).journal") }

    /// Where tools find the journal that this host accepts into.
    package static func ownJournal(in path: String) -> String { path + "/own.journal" }

    /// The number of the journal that this host accepts into, or did last; nil where there is none.
    package static func ownNumber(in path: String) -> Int32? {
        guard let name = try? FileManager.default.destinationOfSymbolicLink(atPath: ownJournal(in: path)) else {
            return nil
        }
        return Int32(name.split(separator: ".").first ?? "")
    }

    /// The copy of the blacklist that hosts share.
    package static func blacklist(in path: String) -> String { path + "/blacklist" }

    /// The copy of the shared blacklist that goes with a working copy.
    ///
    /// - Returns: nil for a journal that is no working copy, and while there is no copy of the blacklist.
    package static func blacklist(beside journal: String) -> String? {
        guard Files.exists(CopyPlace(journal).noteFile) else { return nil }
        let path = URL(fileURLWithPath: journal).resolvingSymlinksInPath().deletingLastPathComponent().path
        return Files.exists(blacklist(in: path)) ? blacklist(in: path) : nil
    }

    /// Lets tools find a journal as this host's own.
    func noteOwn(_ journal: Int32) throws(JournalError) {
        let (link, made) = (Self.ownJournal(in: path), path + "/own.journal.new")
        do {
            if Files.isLink(made) || Files.exists(made) { try FileManager.default.removeItem(atPath: made) }
            try FileManager.default.createSymbolicLink(atPath: made, withDestinationPath: "\(journal).journal")
            try Files.rename(made, to: link)
        } catch let error as LMDBError {
            throw JournalError(error, "link", link)
        } catch {
            throw JournalError(.inputOutput, "cannot make the link \(link): \(error)")
        }
    }
}

/// The place of one working copy.
package struct CopyPlace: Sendable {
    /// The directory of the journal.
    package let directory: String
    fileprivate var noteFile: String { directory + "/copy" }

    init(_ directory: String) { self.directory = directory }

    var entries: String { LMDBJournal.entries(in: directory) }

    /// The ownership under which the copy was opened last, in this boot of the machine. A copy of an earlier boot may have
    /// lost pages, since nothing of it is synced.
    func epoch() -> Int64? {
        guard let boot = Self.boot, let text = try? String(contentsOfFile: noteFile, encoding: .utf8) else {
            return nil
        }
        let words = text.split(separator: "\n").map { $0.split(separator: " ") }
        guard words.count == 2, words[0].count == 2, words[0][0] == "epoch", words[1] == ["boot", boot[...]] else {
            return nil
        }
        return Int64(words[0][1])
    }

    /// Notes an ownership, before the copy is opened under it.
    func note(epoch: Int64) throws(JournalError) {
        let text = "epoch \(epoch)\nboot \(Self.boot ?? "unknown-\(UUID())")\n"
        do throws(LMDBError) {
            let made = noteFile + ".new"
            let file = try OpenFile(made, .createHere)
            try file.replace(with: Array(text.utf8))
            try Files.rename(made, to: noteFile)
        } catch {
            throw JournalError(error, "write to", directory)
        }
    }

    /// Removes the copy, which is built anew.
    func discard() throws(JournalError) {
        for name in ["data.mdb", "lock.mdb"] where Files.exists(entries + "/" + name) {
            do throws(LMDBError) { try Files.remove(entries + "/" + name) } catch {
                throw JournalError(error, "remove", entries + "/" + name)
            }
        }
    }

    private static let boot: String? = {
        guard let path = KernelNames.bootIdentity, let text = try? String(contentsOfFile: path, encoding: .utf8)
        else { return nil }
        let name = text.trimmingCharacters(in: .whitespacesAndNewlines)
        return name.isEmpty || name.contains(" ") ? nil : name
    }()
}
