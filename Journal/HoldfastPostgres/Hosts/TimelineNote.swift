internal import Foundation
package import HoldfastPQ

/// The newest timeline of each cluster that a host has seen, in its directory. By it a host that starts again notices a server that
/// is older than the one that it has used.
struct TimelineNote {
    private let path: String

    init(in directory: String) { path = directory + "/server.timelines" }

    /// The timelines by cluster. Empty if there is no note, or it can't be read: it only serves a warning.
    func read() -> [String: UInt32] {
        guard let data = FileManager.default.contents(atPath: path) else { return [:] }
        return (try? JSONDecoder().decode([String: UInt32].self, from: data)) ?? [:]
    }

    /// A note that can't be written costs a later start its warning, and nothing else. Several threads may write at once, each by a
    /// file of its own, so not by `Files.put`.
    func write(_ newest: [String: UInt32]) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        guard let data = try? encoder.encode(newest) else { return }
        try? data.write(to: URL(fileURLWithPath: path), options: .atomic)
    }
}

extension PQServers {
    /// A book for who only looks, with what a host has seen before.
    ///
    /// - Parameter directory: of the host's working copies; where nothing was seen, or nil, the book begins empty.
    package convenience init(
        seenFrom directory: String?, onNews: @escaping @Sendable (ServerWarning) -> Void = { _ in }
    ) {
        self.init(newest: directory.map { TimelineNote(in: $0).read() } ?? [:], onNews: onNews)
    }
}

extension HostTerms {
    /// Keeps a book of the database's servers from now on, with what was seen before in a host's directory.
    package mutating func watchServers(_ directory: HostDirectory) {
        let note = TimelineNote(in: directory.path)
        target.servers = PQServers(newest: note.read(), remember: { note.write($0) })
    }
}
