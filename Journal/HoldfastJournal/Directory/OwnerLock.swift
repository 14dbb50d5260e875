import Foundation
import Holdfast
import HoldfastLMDB
import HoldfastPlatform

/// The lock by which one process owns a journal: `flock` on the journal's directory, on its data file, and on a file of its
/// own whose text says who owns it. The kernel lets go of them when the process ends, however it ends.
///
/// Removing `owner.lock` removes a name and no lock. A directory that is moved stays locked, and a data file that is
/// linked into another directory has one owner all the same. (Holdfast 0.1 locks `owner.lock` alone.) A reader of a journal
/// at rest holds them shared, so that no owner comes in between.
final class OwnerLock: Sendable {
    private let files: Monitor<[OpenFile]>

    /// Takes the lock for writing, and writes into it who we are.
    ///
    /// - Parameter prepare: called when nobody else can own the directory, before there is a file of the lock's in it.
    /// - Throws: ``JournalError/Code/ownedByAnotherProcess`` or ``JournalError/Code/beingRead``, naming the other.
    init(owning place: JournalDirectory, prepare: () throws(JournalError) -> Void = {}) throws(JournalError) {
        let directory = try Self.take(place.path, .directory, exclusive: true, place)
        guard let directory else { throw Self.inUse(place) }
        try prepare()
        var files = [directory]
        for path in [place.ownerLock] + (Files.exists(place.data) ? [place.data] : []) {
            let mode: OpenFile.Mode = path == place.ownerLock ? .create : .read
            guard let file = try Self.take(path, mode, exclusive: true, place) else { throw Self.inUse(place) }
            files.append(file)
        }
        self.files = Monitor(files)
        try Self.introduce(in: files[1], place)
    }

    /// Adds the lock of a data file that was made since. Does nothing when there was one.
    func lockData(of place: JournalDirectory) throws(JournalError) {
        guard files.withLock({ files in files.count == 2 }) else { return }
        guard let file = try Self.take(place.data, .read, exclusive: true, place) else { throw Self.inUse(place) }
        files.withLock { files in files.append(file) }
    }

    deinit { files.withLock { files in for file in files { file.unlock() } } }

    /// Takes the lock for reading at rest.
    ///
    /// - Returns: nil when there is an owner.
    init?(reading place: JournalDirectory) throws(JournalError) {
        var files: [OpenFile] = []
        // A copy made by hand may have no `owner.lock`.
        for path in [place.path, place.ownerLock, place.data] where Files.exists(path) {
            let mode: OpenFile.Mode = path == place.path ? .directory : .read
            guard let file = try Self.take(path, mode, exclusive: false, place) else {
                for file in files { file.unlock() }
                return nil
            }
            files.append(file)
        }
        self.files = Monitor(files)
    }

    /// Locks a file by its name, and makes sure that it is the name's file still.
    ///
    /// - Returns: nil when another holds it.
    private static func take(
        _ path: String, _ mode: OpenFile.Mode, exclusive: Bool, _ place: JournalDirectory
    ) throws(JournalError) -> OpenFile? {
        do throws(LMDBError) {
            for _ in 0..<greatestTries {
                let file = try OpenFile(path, mode)
                guard try file.tryLock(exclusive: exclusive) else { return nil }
                if try file.identity == FileIdentity(of: path) { return file }
                file.unlock()
            }
            throw LMDBError(.noEntry, "flock", path: path)
        } catch {
            throw JournalError(error, "lock", place.path)
        }
    }

    /// Attempts at locking a file that others exchange meanwhile.
    private static let greatestTries = 10

    /// Says who owns the journal, for people. A full disk is no reason not to own it.
    private static func introduce(in file: OpenFile, _ place: JournalDirectory) throws(JournalError) {
        try translated("own", place.path) { () throws(LMDBError) in
            do throws(LMDBError) {
                try file.replace(with: Array(introduction.utf8))
                try file.sync()
            } catch {
                guard error.code.isWantOfRoom else { throw error }
            }
        }
    }

    private static func inUse(_ directory: JournalDirectory) -> JournalError {
        if let holder = holder(of: directory), !holder.isWriter {
            return JournalError(
                .beingRead,
                "\(directory.path) is in use by process \(holder.process), which reads it: nobody may write to it meanwhile"
            )
        }
        return JournalError(
            .ownedByAnotherProcess,
            "\(directory.path) is in use by \(owner(of: directory)): "
                + "only one process at a time may write to it")
    }

    private static var introduction: String {
        let process = ProcessInfo.processInfo
        let started = Date().formatted(.iso8601)
        return "pid \(process.processIdentifier)\nprogram \(process.processName)\nsince \(started)\n"
    }

    /// The holder of the lock, for people; "another process" where it cannot be found.
    ///
    /// The kernel's list of locks says which process it is; the text in the file says more, if it is that process's.
    static func owner(of directory: JournalDirectory) -> String {
        guard let (process, words) = namedOwner(of: directory) else { return "another process" }
        return LockList.isStopped(process)
            ? "\(words), which is stopped (`kill -CONT \(process)` lets it go on)" : words
    }

    private static func namedOwner(of directory: JournalDirectory) -> (process: Int32, words: String)? {
        let text = (try? String(contentsOfFile: directory.ownerLock, encoding: .utf8)) ?? ""
        var fields: [Substring: Substring] = [:]
        for line in text.split(separator: "\n") {
            guard let space = line.firstIndex(of: " ") else { continue }
            fields[line[..<space]] = line[line.index(after: space)...]
        }
        let written = fields["pid"].flatMap { Int32($0) }
        let holder = holder(of: directory)
        if let holder, !holder.isWriter { return (holder.process, "process \(holder.process), which reads it") }
        guard let process = holder?.process ?? written else { return nil }
        guard process == written, let program = fields["program"], let since = fields["since"] else {
            return (process, "process \(process)")
        }
        return (process, "process \(process) (\(program), since \(since))")
    }
}

extension OwnerLock {
    /// The holder of any of the files: `owner.lock` may be a newer file than the one that the owner has locked. This
    /// process may hold some of them already, where another path leads to the same data, so another process goes first.
    private static func holder(of place: JournalDirectory) -> LockList.Holder? {
        let holders = [place.ownerLock, place.path, place.data].compactMap { LockList.holder(ofFile: $0) }
        let own = ProcessInfo.processInfo.processIdentifier
        return holders.first { $0.process != own } ?? holders.first
    }
}

/// The kernel's list of file locks, `/proc/locks`.
package enum LockList {
    package struct Holder: Hashable {
        package let process: Int32
        /// Whether it holds the lock alone.
        package let isWriter: Bool
    }

    /// A process that holds a `flock` on the file.
    package static func holder(ofFile path: String) -> Holder? {
        guard let identity = try? FileIdentity(of: path),
            let text = ProcessFiles.text("/proc/locks")
        else { return nil }
        return holder(ofInode: identity.inode, device: identity.device, in: text) { has($0, open: identity) }
    }

    /// Whether a process has a file open; false also where this user may not see its files.
    private static func has(_ process: Int32, open file: FileIdentity) -> Bool {
        ProcessFiles.links(of: Int(process))?.contains { (try? FileIdentity(of: $0)) == file } ?? false
    }

    /// Whether a process has been stopped, by SIGSTOP or a terminal or a debugger. It keeps its locks and does nothing.
    static func isStopped(_ process: Int32) -> Bool {
        guard let text = ProcessFiles.text("/proc/\(process)/stat") else { return false }
        return isStopped(text)
    }

    /// A line like `1234 (name) T 1 …`. The name is in parentheses, and may have some of its own.
    static func isStopped(_ line: String) -> Bool {
        guard let end = line.lastIndex(of: ")") else { return false }
        let state = line[line.index(after: end)...].drop { $0 == " " }.first
        return state == "T" || state == "t"
    }

    /// Lines like `1: FLOCK  ADVISORY  WRITE 1234 fe:00:5678 0 EOF`. Waiters have `->` after the number.
    ///
    /// Files of different file systems have the same inode numbers, so the device is compared, too. btrfs and overlay show files
    /// with another device than the kernel's list has: there a process that has the file open is taken, and never any other.
    ///
    /// - Parameters:
    ///   - device: of the file system, as stat(2) gives it.
    ///   - hasOpen: whether a process is known to have the file open.
    static func holder(
        ofInode inode: UInt64, device: UInt64, in text: String, hasOpen: (Int32) -> Bool
    ) -> Holder? {
        let major = (device >> 8) & 0xFFF | (device >> 32) & 0xFFFF_F000
        let minor = device & 0xFF | (device >> 12) & 0xFFFF_FF00
        var elsewhere: [Holder] = []
        for line in text.split(separator: "\n") {
            let words = line.split(separator: " ", omittingEmptySubsequences: true)
            guard words.count >= 6, words[1] == "FLOCK", let process = Int32(words[4]), process > 0 else { continue }
            let place = words[5].split(separator: ":")
            guard place.count == 3, UInt64(place[2]) == inode else { continue }
            let holder = Holder(process: process, isWriter: words[3] == "WRITE")
            if UInt64(place[0], radix: 16) == major, UInt64(place[1], radix: 16) == minor { return holder }
            elsewhere.append(holder)
        }
        return elsewhere.first { hasOpen($0.process) }
    }
}
