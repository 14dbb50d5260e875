import Foundation
import Holdfast
import HoldfastLMDB
import HoldfastPlatform

/// Unfinished copies of journals, left by killed processes. They hold payloads, and nothing else removes them.
enum UnfinishedCopies {
    private static let mark = ".partial-"
    /// The only names in such a copy. A directory with anything else in it belongs to somebody.
    private static let parts: Set<String> = ["owner.lock", "entries", "blacklist", "scratch"]

    /// The name of a copy that this process makes, until it is complete.
    static func name(for destination: String) -> String {
        destination + mark + String(ProcessInfo.processInfo.processIdentifier)
    }

    /// Removes unfinished copies in the directory of `destination` whose process has ended.
    ///
    /// A copy that cannot be examined or removed stays. It does not prevent another copy.
    static func remove(beside destination: String) {
        let directory = Files.parent(of: destination)
        do {
            for name in try FileManager.default.contentsOfDirectory(atPath: directory) {
                guard let process = process(of: name) else { continue }
                let path = directory + "/" + name
                do {
                    if try isAbandoned(path, by: process) { try FileManager.default.removeItem(atPath: path) }
                } catch {}
            }
        } catch {}
    }

    /// The process that has made what has this name; nil for other names.
    static func process(of name: String) -> Int32? {
        guard let place = name.range(of: mark, options: .backwards), place.lowerBound > name.startIndex,
            let process = Int32(name[place.upperBound...]), process > 0
        else { return nil }
        return process
    }

    private static func isAbandoned(_ path: String, by process: Int32) throws -> Bool {
        let files = FileManager.default
        let facts = try files.attributesOfItem(atPath: path)
        let isOurs = geteuid() == 0 || facts[.ownerAccountID] as? NSNumber == NSNumber(value: geteuid())
        guard isOurs, facts[.type] as? FileAttributeType == .typeDirectory,
            try parts.isSuperset(of: files.contentsOfDirectory(atPath: path)), !isAlive(process)
        else { return false }
        // Its maker holds the lock. So the number may be that of another process by now, in another container, say.
        return try OpenFile(path, .directory).tryLock(exclusive: true)
    }

    /// Whether there is another process of this number. This one makes no two copies of one name at a time.
    private static func isAlive(_ process: Int32) -> Bool {
        guard process != ProcessInfo.processInfo.processIdentifier else { return false }
        return kill(process, 0) == 0 || errno != ESRCH
    }
}
