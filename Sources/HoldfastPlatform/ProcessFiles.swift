/// Where the kernel tells of another process of this machine. Darwin has no such files.
package enum ProcessFiles {
    #if canImport(Darwin)
    package static func limits(of process: Int) -> String? { nil }
    package static func descriptors(of process: Int) -> String? { nil }
    package static let sockets: [String] = []
    package static let processes: String? = nil
    package static let arguments: String? = nil
    package static func text(_ path: String) -> String? { nil }
    #else
    /// The file with the limits of a process.
    package static func limits(of process: Int) -> String? { "/proc/\(process)/limits" }
    /// The directory with a link for each open descriptor of a process.
    package static func descriptors(of process: Int) -> String? { "/proc/\(process)/fd" }
    /// The tables of TCP sockets.
    package static let sockets = ["/proc/net/tcp", "/proc/net/tcp6"]
    /// The directory with one for each process, by its number, in which `comm` has its name.
    package static let processes: String? = "/proc"
    /// The file with the words that this process was started with, each ended by a zero.
    package static let arguments: String? = "/proc/self/cmdline"

    /// What the kernel writes into one of its files at this moment; nil where it can't be read.
    ///
    /// To its end. Such a file gives a page at a time and calls itself empty, and who takes a short read for the end, as
    /// Foundation does, has the first page: the sockets of a busy machine are far more.
    package static func text(_ path: String) -> String? {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var text: [UInt8] = []
        var page = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = unsafe page.withUnsafeMutableBytes { unsafe read(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return count == 0 ? String(decoding: text, as: UTF8.self) : nil }
            text += page[..<count]
        }
    }
    #endif
}
