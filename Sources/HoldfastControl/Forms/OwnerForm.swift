internal import Foundation

/// The process that serves a journal's socket.
struct OwnerForm: Codable {
    /// Always `control`: so that whoever meets the socket knows what it is.
    var holdfast = "control"
    /// Of the protocol; the one before was none of HTTP.
    var version = OwnerForm.currentVersion
    var pid: Int32
    var program: String

    static let currentVersion = 2

    static var current: OwnerForm {
        let process = ProcessInfo.processInfo
        return OwnerForm(pid: process.processIdentifier, program: process.processName)
    }

    var name: String { "process \(pid) (\(program))" }
}
