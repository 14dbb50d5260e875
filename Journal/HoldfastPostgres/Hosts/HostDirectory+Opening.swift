internal import Foundation
internal import Holdfast
internal import HoldfastJournal
internal import HoldfastLMDB

/// A note in the host's directory while it waits for its first journal, for tools on the same machine: it answers none yet.
extension HostDirectory {
    private static func openingNote(in path: String) -> String { path + "/opening" }

    /// Only tools miss a note that can't be written.
    package func note(_ wait: OpeningWait?) {
        let place = Self.openingNote(in: path)
        do throws(LMDBError) {
            guard let wait else { return try Files.remove(place) }
            try Files.put(wait.text, at: place)
        } catch {
            return
        }
    }

    /// Why the process that uses the directory, or waits for room to do so, has no journal yet. `nil` if there is no such process,
    /// or if it has its journal.
    ///
    /// - Parameter path: of the directory.
    package static func wait(in path: String) -> OpeningWait? {
        let process = process(in: path)
        // A process that was killed has left its note.
        if let process, let text = try? String(contentsOfFile: openingNote(in: path), encoding: .utf8),
            let wait = OpeningWait(text: text), wait.process == process
        {
            return wait
        }
        return OpeningMemory.wait(in: path, of: process)
    }

    /// The process that uses a directory, with its journal or before it has one; `nil` where none does.
    package static func process(in path: String) -> Int32? { LockList.holder(ofFile: lockFile(in: path))?.process }

    /// A process that uses a directory, and the name of its host; `nil` where it has not said it, as earlier versions.
    package struct User: Hashable, Sendable {
        package let process: Int32
        package let host: String?
    }

    /// - Returns: `nil` where no process uses the directory.
    package static func user(of path: String) -> User? {
        guard let process = process(in: path) else { return nil }
        let text = (try? String(contentsOfFile: lockFile(in: path), encoding: .utf8)) ?? ""
        let lines = text.split(separator: "\n").map(String.init)
        // What another process has written there before says nothing.
        guard lines.count == 2, lines[0] == "pid \(process)", lines[1].hasPrefix("host ") else {
            return User(process: process, host: nil)
        }
        return User(process: process, host: String(lines[1].dropFirst("host ".count)))
    }

    static func lockFile(in path: String) -> String { path + "/host.lock" }

    /// The directory that has a host's own journal; nil for the path of another one.
    package static func directory(ofOwn journal: String) -> String? {
        let name = "/own.journal"
        return journal.hasSuffix(name) ? String(journal.dropLast(name.count)) : nil
    }
}
