public import Holdfast
import HoldfastOpenSSL

/// The keys with which journals are sealed: AES-256-GCM over payloads, recipients, tags and notes.
///
/// The first key seals what is written; all of them open what is there. Printing shows the keys' ids, never the keys.
public struct JournalKeys: Sendable, CustomStringConvertible {
    let keys: [SealKey]

    /// Reads a key file.
    ///
    /// - Parameter file: the path of a file with mode 0600 or 0400, or `$CREDENTIALS_DIRECTORY/NAME` for a credential of
    ///   systemd's.
    /// - Throws: ``Holdfast/JournalError`` with code `wrongKey` where there is no such file, where others may read it, and where
    ///   it has something else in it.
    public init(file: String) throws(JournalError) { keys = try KeyFile(file).read() }

    init(_ keys: [SealKey]) { self.keys = keys }

    /// Makes a file with a new key, mode 0600, durable on return.
    ///
    /// - Returns: the id of the key.
    /// - Throws: ``Holdfast/JournalError`` with code `alreadyExists`, or whatever the disk says.
    @discardableResult
    public static func makeFile(_ file: String) throws(JournalError) -> String {
        let key = try randomKey()
        try KeyFile(file).make(key)
        return key.id.description
    }

    /// Puts a new key before those of a file, durable on return. Whoever opens a journal with the file from then on seals with
    /// the new key, and reads what the others sealed.
    ///
    /// - Returns: the id of the key.
    @discardableResult
    public static func addKey(toFile file: String) throws(JournalError) -> String {
        let key = try randomKey()
        try KeyFile(file).add(key)
        return key.id.description
    }

    /// The ids of the keys, the one that seals first: 16 hexadecimal digits each, derived from the key.
    public var ids: [String] { keys.map(\.id.description) }

    /// The ids of the keys.
    public var description: String { "keys \(ids.joined(separator: ", "))" }

    /// The key that seals.
    var current: SealKey { keys[0] }

    func key(_ id: SealKeyID) -> SealKey? { keys.first { $0.id == id } }

    private static func randomKey() throws(JournalError) -> SealKey {
        do throws(OpenSSLError) { return try SealKey.random() } catch { throw JournalError(error) }
    }
}
