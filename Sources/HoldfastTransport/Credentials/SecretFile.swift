internal import Foundation

/// A file with a secret by which people or programs are believed: nobody but its owner, and a group that reads it, may have
/// access. Service managers give such files mode 0400 or 0440.
package struct SecretFile {
    /// The reason not to trust the file, for people; nil for a closed file. Never says what is in it.
    ///
    /// - Parameter path: may lead through symbolic links, behind which secrets are often mounted.
    /// - Throws: the error of the system if the file's mode can't be read.
    package static func objection(to path: String) throws -> String? {
        let attributes = try attributes(of: path)
        guard let mode = mode(attributes), mode & 0o027 != 0 else { return nil }
        let owner =
            attributes[.ownerAccountName] as? String
            ?? (attributes[.ownerAccountID] as? NSNumber).map { "user \($0)" } ?? "unknown"
        return
            "the file \(path) is open to others of this machine (mode \(text(mode)), owner \(owner)), so what is in it "
            + "is no secret: put a new one into it, and `chmod 600 \(path)`"
    }

    /// The permissions of the file or directory to which a path leads; nil if there is none, or if it is hidden: opening it
    /// tells of that.
    package static func mode(of path: String) -> Int? {
        do { return mode(try attributes(of: path)) } catch { return nil }
    }

    /// Permissions as `chmod` takes them.
    package static func text(_ mode: Int) -> String { "0" + String(mode & 0o777, radix: 8) }

    private static func attributes(of path: String) throws -> [FileAttributeKey: Any] {
        // The link's own mode says nothing.
        let path = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
        return try FileManager.default.attributesOfItem(atPath: path)
    }

    private static func mode(_ attributes: [FileAttributeKey: Any]) -> Int? {
        (attributes[.posixPermissions] as? NSNumber)?.intValue
    }
}
