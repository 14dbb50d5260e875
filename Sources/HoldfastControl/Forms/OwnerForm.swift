internal import Foundation

/// The process that serves a journal's socket.
struct OwnerForm: Codable {
    /// Always `control`, which tells a client what socket this is.
    var holdfast = "control"
    /// The version of the protocol. Version 1 was not HTTP.
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
