internal import Foundation
internal import HoldfastPlatform

/// What the kernel tells of the service's process.
enum ProcessLook {
    /// - Returns: how many files it may have open, and how many it has; nil where the kernel does not say.
    static func look(_ process: Int) -> (limit: Int?, open: Int?) {
        let limits = ProcessFiles.limits(of: process).flatMap { try? String(contentsOfFile: $0, encoding: .utf8) } ?? ""
        let line = limits.split(separator: "\n").first { $0.hasPrefix("Max open files") }
        let words = line?.split(separator: " ").dropFirst(3) ?? []
        let open = ProcessFiles.descriptors(of: process)
            .flatMap { try? FileManager.default.contentsOfDirectory(atPath: $0) }?.count
        return (words.first.flatMap { Int($0) }, open)
    }
}

extension JournalFacts {
    /// The process that uses the journal; nil at rest, and where its name has no number.
    var process: Int? {
        guard case .open(let figures) = state, let owner = figures.owner, owner.hasPrefix("process ") else {
            return nil
        }
        return Int(owner.dropFirst("process ".count).prefix { $0.isNumber })
    }
}
