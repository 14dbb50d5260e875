internal import Foundation

/// The attributes of a file that change when it is written, replaced, or made readable; none of its content.
package struct FileStamp: Hashable, Sendable {
    private struct Attributes: Hashable, Sendable {
        var device: UInt64?
        var file: UInt64?
        var size: UInt64?
        var modified: Date?
        var mode: UInt64?
        var owner: UInt64?
    }

    /// nil where there is no file.
    private let attributes: Attributes?

    /// Takes the stamp of the file that a path leads to, through symbolic links: secrets are often mounted behind such.
    package init(_ path: String) {
        let real = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
        guard let found = try? FileManager.default.attributesOfItem(atPath: real) else {
            attributes = nil
            return
        }
        func number(_ key: FileAttributeKey) -> UInt64? { (found[key] as? NSNumber)?.uint64Value }
        attributes = Attributes(
            device: number(.systemNumber), file: number(.systemFileNumber), size: number(.size),
            modified: found[.modificationDate] as? Date, mode: number(.posixPermissions),
            owner: number(.ownerAccountID))
    }
}
