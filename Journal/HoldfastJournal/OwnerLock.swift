import Foundation
import Holdfast
import HoldfastLMDB

/// The lock by which one process owns a journal: `flock` on a file of its own, which the kernel lets go when the process
/// ends, however it ends.
///
/// Its text says who owns it. A reader of a journal at rest holds it shared, so that no owner comes in between.
final class OwnerLock: Sendable {
    private let file: OpenFile

    /// Takes the lock for writing, and writes into it who we are.
    ///
    /// - Throws: ``JournalError/Code/ownedByAnotherProcess`` or ``JournalError/Code/beingRead``, naming the other.
    init(owning directory: JournalDirectory) throws(JournalError) {
        let path = directory.ownerLock
        file = try translated("own", directory.path) { () throws(LMDBError) in try OpenFile(path, .create) }
        guard try Self.lock(file, exclusive: true, directory) else { throw Self.inUse(directory) }
        let file = file
        try translated("own", directory.path) { () throws(LMDBError) in
            try file.replace(with: Array(Self.introduction.utf8))
            try file.sync()
        }
    }

    deinit { file.unlock() }

    /// Takes the lock for reading at rest.
    ///
    /// - Returns: nil when there is an owner.
    init?(reading directory: JournalDirectory) throws(JournalError) {
        let path = directory.ownerLock
        file = try translated("read", directory.path) { () throws(LMDBError) in try OpenFile(path, .read) }
        guard try Self.lock(file, exclusive: false, directory) else { return nil }
    }

    private static func lock(_ file: OpenFile, exclusive: Bool, _ directory: JournalDirectory) throws(JournalError)
        -> Bool
    {
        try translated("lock", directory.path) { () throws(LMDBError) in try file.tryLock(exclusive: exclusive) }
    }

    private static func inUse(_ directory: JournalDirectory) -> JournalError {
        if let holder = LockList.holder(ofFile: directory.ownerLock), !holder.isWriter {
            return JournalError(
                .beingRead,
                "\(directory.path) is in use by process \(holder.process), which reads it: nobody may write to it meanwhile"
            )
        }
        return JournalError(
            .ownedByAnotherProcess,
            "\(directory.path) is in use by \(owner(of: directory) ?? "another process"): "
                + "only one process at a time may write to it")
    }

    private static var introduction: String {
        let process = ProcessInfo.processInfo
        let started = Date().formatted(.iso8601)
        return "pid \(process.processIdentifier)\nprogram \(process.processName)\nsince \(started)\n"
    }

    /// Who holds the lock, for people; nil when nobody does or nobody can say.
    ///
    /// The kernel's list of locks says which process it is; the text in the file says more, if it is that process's.
    static func owner(of directory: JournalDirectory) -> String? {
        let text = (try? String(contentsOfFile: directory.ownerLock, encoding: .utf8)) ?? ""
        var fields: [Substring: Substring] = [:]
        for line in text.split(separator: "\n") {
            guard let space = line.firstIndex(of: " ") else { continue }
            fields[line[..<space]] = line[line.index(after: space)...]
        }
        let written = fields["pid"].flatMap { Int32($0) }
        let holder = LockList.holder(ofFile: directory.ownerLock)
        if let holder, !holder.isWriter { return "process \(holder.process), which reads it" }
        guard let process = holder?.process ?? written else { return nil }
        guard process == written, let program = fields["program"], let since = fields["since"] else {
            return "process \(process)"
        }
        return "process \(process) (\(program), since \(since))"
    }
}

/// The kernel's list of file locks, `/proc/locks`.
enum LockList {
    struct Holder: Hashable {
        let process: Int32
        /// Whether it holds the lock alone.
        let isWriter: Bool
    }

    /// A process that holds a `flock` on the file.
    static func holder(ofFile path: String) -> Holder? {
        guard let identity = try? FileIdentity(of: path),
            let text = try? String(contentsOfFile: "/proc/locks", encoding: .utf8)
        else { return nil }
        return holder(ofInode: identity.inode, in: text)
    }

    /// Lines like `1: FLOCK  ADVISORY  WRITE 1234 fe:00:5678 0 EOF`. Waiters have `->` after the number.
    static func holder(ofInode inode: UInt64, in text: String) -> Holder? {
        for line in text.split(separator: "\n") {
            let words = line.split(separator: " ", omittingEmptySubsequences: true)
            guard words.count >= 6, words[1] == "FLOCK", let process = Int32(words[4]), process > 0,
                words[5].split(separator: ":").last.flatMap({ UInt64($0) }) == inode
            else { continue }
            return Holder(process: process, isWriter: words[3] == "WRITE")
        }
        return nil
    }
}
