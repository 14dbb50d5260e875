internal import Foundation
package import HoldfastPlatform

extension ProcessFiles {
    /// A link for each open descriptor of a process, to what it leads to.
    ///
    /// - Returns: nil where this user may not see them.
    package static func links(of process: Int) -> [String]? {
        guard let directory = descriptors(of: process),
            let names = try? FileManager.default.contentsOfDirectory(atPath: directory)
        else { return nil }
        return names.map { "\(directory)/\($0)" }
    }

    /// The targets of the links: paths, and sockets as `socket:[INODE]`.
    package static func openFiles(of process: Int) -> (any Sequence<String>)? {
        links(of: process)?.lazy.compactMap { try? FileManager.default.destinationOfSymbolicLink(atPath: $0) }
    }
}
