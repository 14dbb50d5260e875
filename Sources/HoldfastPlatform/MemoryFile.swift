/// A file in memory, which needs no room on any disk, and is gone with the process that has it open. Others find it among that
/// process's open files. Darwin has none.
package final class MemoryFile: Sendable {
    private let descriptor: Int32

    /// - Returns: nil where the system has no such files.
    package init?(_ name: String, holding text: String) {
        #if canImport(Darwin)
        return nil
        #else
        let made = unsafe holdfast_memory_file(name)
        descriptor = made
        guard made >= 0 else { return nil }
        let bytes = Array(text.utf8)
        let written = unsafe bytes.withUnsafeBytes { unsafe write(made, $0.baseAddress, $0.count) }
        guard written == bytes.count else { return nil }
        #endif
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// How the link of an open descriptor to such a file begins.
    package static func link(to name: String) -> String { "/memfd:\(name)" }
}
