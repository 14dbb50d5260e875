internal import Foundation
internal import Holdfast
internal import HoldfastJournal
internal import HoldfastLMDB
internal import HoldfastPlatform

/// The note of what a host waits for, in memory: for a host whose disk has no room for a note in its directory, or for that itself.
///
/// Tools on the same machine find it among the open files of the host's process, as root or as the user of the service.
package final class OpeningMemory: Sendable {
    private static let name = "holdfast-opening"

    private let path: String
    private let file = Monitor<MemoryFile?>(nil)

    /// - Parameter path: of the directory of working copies, which need not be there.
    package init(_ path: String) { self.path = path }

    /// - Parameter wait: `nil` where nothing is waited for any more.
    package func note(_ wait: OpeningWait?) {
        let next = wait.flatMap { wait in
            Self.place(path).flatMap { MemoryFile(Self.name, holding: "place \($0)\n\(wait.text)") }
        }
        // The one before is closed when the next can be found.
        file.withLock { $0 = next }
    }

    /// Names a directory for all who see it, also in other mount namespaces: by itself, or in the directory above it.
    private static func place(_ path: String) -> String? {
        let path = HostDirectory.plain(path)
        let isThere = Files.exists(path)
        let nearest = isThere ? path : Files.parent(of: path)
        guard let identity = try? FileIdentity(of: nearest) else { return nil }
        let name = isThere ? "" : "/\(path.split(separator: "/").last ?? "")"
        return "\(identity.device):\(identity.inode)\(name)"
    }

    /// - Parameter process: the only one that is looked at; `nil` for all.
    /// - Returns: what the process waits for that is to use the directory; `nil` where none is found.
    static func wait(in path: String, of process: Int32?) -> OpeningWait? {
        guard let place = place(path), let processes = ProcessFiles.processes else { return nil }
        let names = process.map { ["\($0)"] } ?? (try? FileManager.default.contentsOfDirectory(atPath: processes)) ?? []
        for process in names.compactMap({ Int32($0) }) {
            guard let text = text(of: process), text.hasPrefix("place \(place)\n"), let wait = OpeningWait(text: text),
                isTrusted("\(processes)/\(process)", path)
            else { continue }
            // By the number that it has here.
            return OpeningWait(
                process: process, since: wait.since, trouble: wait.trouble, words: wait.words,
                lacksRoom: wait.lacksRoom)
        }
        return nil
    }

    private static func text(of process: Int32) -> String? {
        let begin = MemoryFile.link(to: name)
        let file = ProcessFiles.links(of: Int(process))?.first { link in
            (try? FileManager.default.destinationOfSymbolicLink(atPath: link))?.hasPrefix(begin) ?? false
        }
        return file.flatMap(ProcessFiles.text)
    }

    /// Whether a process may speak for a directory: it is root's, this user's, or its owner's. Anybody can make such a note.
    private static func isTrusted(_ process: String, _ path: String) -> Bool {
        let place = Files.exists(path) ? path : Files.parent(of: path)
        guard let user = owner(of: process) else { return false }
        return user == 0 || user == geteuid() || user == owner(of: place)
    }

    private static func owner(of path: String) -> UInt32? {
        let attributes = try? FileManager.default.attributesOfItem(atPath: path)
        return (attributes?[.ownerAccountID] as? NSNumber)?.uint32Value
    }
}
