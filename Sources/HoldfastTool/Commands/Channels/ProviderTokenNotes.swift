internal import Foundation
internal import Holdfast
internal import HoldfastChannels
internal import HoldfastJournal
internal import HoldfastService
internal import HoldfastTransport
internal import NIOPosix

/// Where commands that manage channels find the provider token of those who send, and leave theirs: the service counts new
/// ones, and a command lives for a moment.
///
/// The journal has the token of its engine, whether that runs or not. It is written to at rest only; while somebody else
/// owns it, and without a journal, a file of this user's takes what is new.
struct ProviderTokenNotes: ProviderTokenStore {
    let journal: String?
    var folder = Self.standardFolder

    func notes(_ name: String) async -> [[UInt8]] { [inJournal(name), inFile(name)].compactMap { $0 } }

    func keep(_ note: [UInt8], as name: String) async {
        if let journal, await Self.write(note, name, to: journal) { return }
        await writeFile(note, name)
    }

    // MARK: The journal

    private func inJournal(_ name: String) -> [UInt8]? {
        guard let journal, let reader = try? JournalReader(at: journal) else { return nil }
        defer { reader.close() }
        return try? reader.note(ConnectorHost.notePrefix + name)
    }

    private static func write(_ note: [UInt8], _ name: String, to journal: String) async -> Bool {
        var options = LMDBJournal.Options()
        options.create = false
        guard let opened = try? await JournalOpening.open(journal, options, patience: .zero) else { return false }
        defer { opened.close() }
        do {
            try opened.setNote(ConnectorHost.notePrefix + name, to: note)
            return true
        } catch {
            return false
        }
    }

    // MARK: The file

    /// `XDG_CACHE_HOME`, or `~/.cache`, and `holdfast` in it; nil where there is neither.
    private static var standardFolder: URL? {
        let environment = ProcessInfo.processInfo.environment
        let cache = environment["XDG_CACHE_HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil }
        let home = environment["HOME"].flatMap { $0.hasPrefix("/") ? $0 + "/.cache" : nil }
        return (cache ?? home).map { URL(fileURLWithPath: $0).appendingPathComponent("holdfast") }
    }

    private func file(_ name: String) -> URL? {
        folder?.appendingPathComponent(name.replacingOccurrences(of: "/", with: "-"))
    }

    private func inFile(_ name: String) -> [UInt8]? {
        guard let file = file(name), let handle = try? FileHandle(forReadingFrom: file) else { return nil }
        defer { try? handle.close() }
        return (try? handle.read(upToCount: 4096)).map { Array($0) }
    }

    /// Only this user may read it, from its first moment on. Without it the next command makes a token of its own.
    private func writeFile(_ note: [UInt8], _ name: String) async {
        guard let folder, let file = file(name) else { return }
        let fresh = folder.appendingPathComponent(UUID().uuidString)
        do {
            try FileManager.default.createDirectory(
                at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            let made = try PrivateFile(fresh.path)
            try made.write(note)
            try await made.finish()
            try await NonBlockingFileIO(threadPool: .singleton).rename(path: fresh.path, newName: file.path)
        } catch {
            try? FileManager.default.removeItem(at: fresh)
            let words = (error as? ToolError)?.message ?? FileFailure.words(error)
            Console.standard.warning("the token that the service was shown is not kept in \(file.path): \(words)")
        }
    }
}
