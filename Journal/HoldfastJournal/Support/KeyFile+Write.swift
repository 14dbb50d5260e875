import Foundation
import Holdfast
import HoldfastLMDB
import HoldfastOpenSSL

/// Writing of key files: a key that was told to somebody is in the file, whoever else writes to it.
extension KeyFile {
    /// Waiting for another that adds a key, which takes some milliseconds.
    private static let patience = Duration.seconds(10)

    /// Makes the file with a key. One that is there stays as it is, also one that comes meanwhile.
    func make(_ key: SealKey) throws(JournalError) {
        let made = try written([key], path)
        defer { try? Files.remove(made.path) }
        do throws(LMDBError) { try Files.link(made.path, as: path) } catch {
            guard error.code == .alreadyExists else {
                throw JournalError(error, "write the key file", path)
            }
            throw JournalError(
                .alreadyExists, "\(path) is there already: it was left as it is, since a key that is lost opens nothing"
            )
        }
        try sync(path)
        removeLeftovers(of: path)
    }

    /// Puts a key before those of the file. Of several that do so at once, one waits for the other.
    ///
    /// A symbolic link stays one: what it leads to gets the key.
    func add(_ key: SealKey) throws(JournalError) {
        let real = target
        let lock = try locked(real)
        defer { lock.unlock() }
        removeLeftovers(of: real)
        let made = try written([key] + read(), real, like: real)
        do throws(JournalError) {
            try translated("write the key file", path) { () throws(LMDBError) in
                try Files.rename(made.path, to: real)
            }
        } catch {
            try? Files.remove(made.path)
            throw error
        }
        try sync(real)
    }

    /// The file, locked for whoever adds a key.
    private func locked(_ real: String) throws(JournalError) -> OpenFile {
        let deadline = ContinuousClock.now + Self.patience
        while true {
            // For its words about a file that is not there, or open to others.
            _ = try read()
            let found = try translated("lock the key file", path) { () throws(LMDBError) -> OpenFile? in
                let file = try OpenFile(real, .read)
                guard try file.tryLock(exclusive: true) else { return nil }
                // Another has put a new file there since this one was opened.
                return try file.identity == FileIdentity(of: real) ? file : nil
            }
            if let found { return found }
            guard ContinuousClock.now < deadline else {
                throw JournalError(
                    .inputOutput, "the key file \(path) is locked by another process, and no key was added: try again")
            }
            Thread.sleep(forTimeInterval: 0.005)
        }
    }

    /// Removes what killed processes have left beside the file, since keys are in there. One that is being written is locked.
    private func removeLeftovers(of real: String) {
        let (directory, base) = (Files.parent(of: real), URL(fileURLWithPath: real).lastPathComponent)
        for name in (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? [] {
            guard name.hasPrefix(base + "."), name.hasSuffix(".new"),
                UUID(uuidString: String(name.dropFirst(base.count + 1).dropLast(4))) != nil
            else { continue }
            let left = "\(directory)/\(name)"
            let type = try? FileManager.default.attributesOfItem(atPath: left)[.type] as? FileAttributeType
            guard type == .typeRegular, let file = try? OpenFile(left, .read) else { continue }
            guard (try? file.tryLock(exclusive: true)) == true else { continue }
            try? Files.remove(left)
            file.unlock()
        }
    }

    /// A new file beside another, on disk, under a name that nobody else takes, and locked for as long as it is open.
    ///
    /// - Parameter model: whose owner and mode it gets; nil for mode 0600.
    private func written(_ keys: [SealKey], _ other: String, like model: String? = nil) throws(JournalError) -> OpenFile
    {
        var text = Array(
            "# Keys of sealed journals of Holdfast. The first seals; all open. Without them nothing opens the journal.\n"
                .utf8)
        defer { RandomBytes.wipe(&text) }
        for key in keys { text += key.line + [UInt8(ascii: "\n")] }
        let part = "\(other).\(UUID().uuidString).new"
        return try translated("write the key file", path) { () throws(LMDBError) in
            let file = try OpenFile(part, .create)
            do throws(LMDBError) {
                _ = try file.tryLock(exclusive: true)
                if let model { try file.takeOwnerAndMode(of: model) }
                try file.replace(with: text)
                try file.sync()
            } catch {
                try? Files.remove(part)
                throw error
            }
            return file
        }
    }

    private func sync(_ real: String) throws(JournalError) {
        try translated("write the key file", path) { () throws(LMDBError) in
            try Files.syncDirectory(Files.parent(of: real))
        }
    }
}
