internal import Foundation
package import Holdfast
package import HoldfastJournal
internal import HoldfastLMDB

/// The directory of a host: the working copies of the journals that it has, and a lock by which one process has them.
package final class HostDirectory: Sendable {
    package let path: String
    private let lock: OpenFile

    /// - Parameter path: made with mode 0700 when it is not there; the directory above it exists.
    /// - Throws: ``JournalError`` with `ownedByAnotherProcess` while another process has it, or what the system says.
    package init(_ path: String) throws(JournalError) {
        let path = Self.plain(path)
        self.path = path
        try Self.examine(path)
        do throws(LMDBError) {
            _ = try Files.makeDirectory(path, adopting: true)
            lock = try OpenFile(Self.lockFile(in: path), .create)
            guard try lock.tryLock(exclusive: true) else {
                throw LMDBError(.openInThisProcess, "flock", path: path)
            }
        } catch {
            guard error.code == .openInThisProcess else { throw JournalError(error, "use", path) }
            throw Self.inUse(path)
        }
    }

    /// The error of a host whose directory another process has.
    package static func inUse(_ path: String) -> JournalError {
        let user = user(of: path)
        let host = user?.host.map { ", host \($0)" } ?? ""
        let words = user.map { "process \($0.process)\(host)" } ?? "another process"
        return JournalError(
            .ownedByAnotherProcess,
            "\(plain(path)) is in use by \(words), which has its working copies: end that one, or name another "
                + "`journal.path` for this one")
    }

    /// Says in the lock file whose it is, for tools. On a full disk no host is named.
    package func introduce(_ host: String) {
        let text = "pid \(ProcessInfo.processInfo.processIdentifier)\nhost \(host)\n"
        do throws(LMDBError) { try lock.replace(with: Array(text.utf8)) } catch { return }
    }

    deinit { lock.unlock() }

    /// Whether nobody has removed or replaced it.
    var isInPlace: Bool { lock.isInPlace }

    /// The error of a step that had the directory; another one, where somebody has removed or replaced that meanwhile, with all
    /// copies. Then it is to be made again.
    package func failure(_ error: JournalError) -> JournalError {
        isInPlace ? error : .copyLost("\(path) was deleted or replaced while this host had its working copies there")
    }

    static func plain(_ path: String) -> String {
        path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path
    }

    /// Finds out whether working copies can lie in a directory, and changes nothing.
    ///
    /// - Returns: whether it is there; else it can be made.
    /// - Throws: ``JournalError`` that says what is in the way.
    @discardableResult
    package static func examine(_ path: String) throws(JournalError) -> Bool {
        let path = plain(path)
        let isThere = Files.exists(path)
        let place = isThere ? path : Files.parent(of: path)
        if isThere, !Files.isDirectory(path) {
            throw JournalError(
                .alreadyExists, "\(path) is a file, and working copies need a directory: name another `journal.path`")
        }
        let link = ownJournal(in: path)
        if isThere, Files.exists(link), !Files.isLink(link) {
            throw JournalError(
                .alreadyExists,
                "\(link) is no link, as after a copy of \(path) that followed links. It is a copy of a journal in the same directory, "
                    + "and what was accepted is in the database: move it away (mv \(link) \(path)-own.journal.copied), and start again"
            )
        }
        if !Files.isDirectory(place), !Files.isHidden(path) {
            throw JournalError(.notFound, "cannot make \(path): there is no directory \(place) yet; make it first")
        }
        guard FileManager.default.isWritableFile(atPath: place) else {
            throw JournalError(
                .permissionDenied, "\(path) can't be used for working copies: this user may not write to \(place)")
        }
        return isThere
    }

    /// Bytes without which the first files of a host can't be made: lock files, notes, and the first pages of a copy.
    private static let leastRoom = 256 << 10

    /// Finds out whether the file system of a directory of working copies could hold those of a host if it were empty, and changes
    /// nothing.
    ///
    /// - Throws: ``JournalError``, with code `diskFull` where it is too small.
    package static func examineFileSystem(_ path: String) throws(JournalError) {
        let path = plain(path)
        let isThere = Files.exists(path)
        try LMDBJournal.refuseSmallFileSystem(ofHost: isThere ? path : Files.parent(of: path))
        // As for the first journal there.
        try LMDBJournal.examine(isThere ? path + "/new.journal" : path)
    }

    /// Refuses a journal of its own in the place of the working copy that this host had last, as its opening does. Changes nothing.
    package static func examineOwnCopy(_ path: String) throws(JournalError) {
        let path = plain(path)
        guard let number = ownNumber(in: path) else { return }
        let copy = CopyPlace("\(path)/\(number).journal")
        // Without a note it is made anew.
        guard copy.note() != nil else { return }
        let isCopy: Bool
        do throws(JournalError) {
            guard let reader = try JournalReader.ofMade(directory: copy.directory) else { return }
            defer { reader.close() }
            isCopy = try reader.isCopy()
        } catch {
            // What can't be read at rest is for the opening, which makes damaged copies anew.
            return
        }
        if !isCopy { throw CopyError.notACopy(copy.entries).journalError }
    }

    /// Refuses the working copy that this host had last where the keys are not its own, as its opening does: before the copy of the
    /// blacklist is sealed, or filled in the clear. Changes nothing. Where there is no copy, only the opening can know.
    ///
    /// - Throws: ``JournalError`` with code `wrongKey`.
    package static func examineOwnSeal(_ path: String, _ keys: JournalKeys?) throws(JournalError) {
        let path = plain(path)
        guard let number = ownNumber(in: path) else { return }
        let copy = CopyPlace("\(path)/\(number).journal")
        // Without a note it is made anew.
        guard let note = copy.note() else { return }
        let isClear: Bool
        do throws(JournalError) {
            guard let reader = try JournalReader.ofMade(directory: copy.directory, keys: keys) else { return }
            defer { reader.close() }
            isClear = reader.sealing == .clear
        } catch {
            // What can't be read at rest is for the opening, which makes damaged copies anew.
            guard error.code == .wrongKey else { return }
            throw error
        }
        if isClear, keys != nil { throw .ownNotSealed(note.name) }
    }

    /// Finds out whether the file system of a directory of working copies has room for a host to begin, and changes nothing.
    ///
    /// - Throws: ``JournalError`` with code `diskFull` where it is full.
    package static func examineRoom(_ path: String) throws(JournalError) {
        let path = plain(path)
        let place = Files.exists(path) ? path : Files.parent(of: path)
        let available: Int
        do throws(LMDBError) { available = try Files.availableBytes(at: place) } catch {
            throw JournalError(error, "look at", place)
        }
        if let refusal = refusal(available: available, at: path) { throw refusal }
    }

    package static func refusal(available: Int, at path: String) -> JournalError? {
        guard available < leastRoom else { return nil }
        return JournalError(
            .diskFull,
            "the file system of \(path) has \(available >> 10) KiB free, and a host can't begin with less than "
                + "\(leastRoom >> 10): make room there, or name another `journal.path`. \(wants(at: path))")
    }

    /// How much must be free for a host without any copy, for whoever makes room.
    package static func wants(at path: String) -> String {
        "With \(LMDBJournal.roomForHost >> 20) MiB free on the file system of \(path), a host takes notifications"
    }

    /// Bytes that are free for working copies; nil where the system does not say.
    var availableBytes: Int? {
        do throws(LMDBError) { return try Files.availableBytes(at: path) } catch { return nil }
    }

    /// Bytes that must be free before a journal is opened here.
    ///
    /// - Parameter byteCount: of the journal, in the database.
    func roomNeeded(for journal: Int32, byteCount: Int, _ options: JournalOptions) -> Int {
        max(LMDBJournal.roomForCopy(of: byteCount, options) - copy(of: journal).byteCount, 0)
    }

    package func copy(of journal: Int32) -> CopyPlace { CopyPlace("\(path)/\(journal).journal") }

    /// The numbers of the journals of which there is a copy.
    var copies: [Int32] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
        return names.filter { $0.hasSuffix(".journal") }.compactMap { Int32($0.dropLast(".journal".count)) }.sorted()
    }

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
