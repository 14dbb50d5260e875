import Foundation
import Holdfast
import HoldfastLMDB
import HoldfastOpenSSL
import HoldfastPlatform

/// A file with the keys of sealed journals, one a line, of which the first seals. Lines that begin with `#` are comments.
struct KeyFile {
    /// Before each key.
    static let mark = Array("holdfast-journal-key-1:".utf8)
    /// Where systemd puts the credentials of a unit.
    static let credentials = "$CREDENTIALS_DIRECTORY/"
    private static let greatestByteCount = 64 << 10
    private static let greatestKeyCount = 100

    let path: String
    private let given: String

    /// - Parameter path: may begin with `$CREDENTIALS_DIRECTORY/`.
    init(_ path: String) throws(JournalError) {
        given = path
        guard path.hasPrefix(Self.credentials) else {
            self.path = path
            return
        }
        guard !Self.isWithheld(path), let directory = ProcessInfo.processInfo.environment["CREDENTIALS_DIRECTORY"]
        else {
            let name = path.dropFirst(Self.credentials.count)
            throw JournalError(
                .wrongKey,
                "the key file \(path) is a credential of systemd's, and this process was given none. A service gets it by "
                    + "`LoadCredential=\(name):FILE` in its unit. For a command, name a file by HOLDFAST_JOURNAL_KEY_FILE or "
                    + "--key-file: that FILE, or while the service runs, as root, /run/credentials/holdfast.service/\(name)"
            )
        }
        self.path = directory + "/" + path.dropFirst(Self.credentials.count)
    }

    /// Whether a path is that of a credential of systemd's, which looks after its access: by rights for a user beside the mode, whose
    /// group bits show them.
    static func isCredential(_ path: String) -> Bool {
        path.hasPrefix(credentials)
            || URL(fileURLWithPath: path).standardizedFileURL.path.hasPrefix("/run/credentials/")
    }

    /// Whether a path is that of a credential of systemd's, and this process was given none: its service alone can read it so.
    static func isWithheld(_ path: String) -> Bool {
        path.hasPrefix(credentials)
            && (ProcessInfo.processInfo.environment["CREDENTIALS_DIRECTORY"] ?? "").isEmpty
    }

    /// - Throws: ``JournalError`` with code `wrongKey`, whatever keeps the keys away: an operator must mend it.
    func read() throws(JournalError) -> [SealKey] {
        try checkRights()
        var bytes: [UInt8]
        do throws(JournalError) {
            bytes = try translated("read the key file", path) { () throws(LMDBError) in
                try OpenFile(path, .read).read(Self.greatestByteCount + 1, at: 0)
            }
        } catch {
            throw JournalError(.wrongKey, error.message)
        }
        defer { RandomBytes.wipe(&bytes) }
        guard bytes.count <= Self.greatestByteCount else {
            throw fault("it has more than \(Self.greatestByteCount) bytes")
        }
        var keys: [SealKey] = []
        for (index, line) in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).enumerated() {
            let line = line.last == UInt8(ascii: "\r") ? line.dropLast() : line
            if line.isEmpty || line.first == UInt8(ascii: "#") { continue }
            let key = try Self.key(Array(line))
            guard let key else { throw fault("line \(index + 1) is no key") }
            guard !keys.contains(where: { $0.id == key.id }) else {
                throw fault("line \(index + 1) repeats key \(key.id)")
            }
            keys.append(key)
        }
        guard !keys.isEmpty else { throw fault("it has no key") }
        guard keys.count <= Self.greatestKeyCount else { throw fault("it has more than \(Self.greatestKeyCount) keys") }
        return keys
    }

    /// What is wrong with the file, never what is in it.
    private func fault(_ what: String) -> JournalError {
        JournalError(
            .wrongKey,
            "\(path) is no key file: \(what). Each line is a key as `holdfast journal key new` writes it, or begins with #"
        )
    }

    private static func key(_ line: [UInt8]) throws(JournalError) -> SealKey? {
        guard line.starts(with: mark) else { return nil }
        guard var bytes = Base64URL.decode(Array(line.dropFirst(mark.count)).span), bytes.count == SealKey.byteCount
        else {
            return nil
        }
        defer { RandomBytes.wipe(&bytes) }
        do throws(OpenSSLError) { return try SealKey(bytes) } catch { throw JournalError(error) }
    }

    /// The file itself, where ``path`` is a symbolic link to it.
    var target: String { URL(fileURLWithPath: path).resolvingSymlinksInPath().path }

    /// Why it can't be looked at.
    private var absence: String {
        if Files.isHidden(path) { return "the key file \(path) can't be looked at: this user may not" }
        let place =
            Files.isLink(path)
            ? "\(path), a symbolic link, leads to no file" : "there is no key file \(path)"
        return "\(place): put it back; `holdfast journal key new` makes one for a new journal"
    }

    /// Nobody but its owner, or root, may have access. Of a credential, the service manager looks after that.
    private func checkRights() throws(JournalError) {
        let attributes: [FileAttributeKey: Any]
        do {
            attributes = try FileManager.default.attributesOfItem(atPath: target)
        } catch {
            throw JournalError(.wrongKey, absence)
        }
        switch attributes[.type] as? FileAttributeType {
        // What can't be reached through a link, Foundation tells of as a link.
        case .typeSymbolicLink?: throw JournalError(.wrongKey, absence)
        case .typeDirectory?:
            throw JournalError(.wrongKey, "the key file \(path) is a directory: name the file itself")
        default: break
        }
        let mode = (attributes[.posixPermissions] as? NSNumber)?.intValue ?? 0
        let open = Self.isCredential(given) ? 0o027 : 0o077
        guard mode & open == 0 else {
            throw JournalError(
                .wrongKey,
                "the key file \(path) is open to others of this machine (mode 0\(String(mode & 0o777, radix: 8))): "
                    + "`chmod 600 \(path)`, and if others may have read it, add a new key and `holdfast journal compact`"
            )
        }
    }
}

extension JournalError {
    init(_ error: OpenSSLError) { self.init(.inputOutput, "libcrypto does not do its work: \(error)") }
}
