internal import ArgumentParser
internal import Foundation
internal import HoldfastJournal

/// Where a benchmark's files lie meanwhile.
struct ScratchOptions: ParsableArguments {
    @Option(help: "Where the journals lie meanwhile; a new directory there is removed afterwards.") var directory =
        NSTemporaryDirectory()

    /// - Returns: a new directory that is nobody else's to read.
    func make() throws -> ScratchDirectory {
        let path = "\(directory)/holdfast-bench-\(ProcessInfo.processInfo.processIdentifier)"
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        return ScratchDirectory(path: path)
    }
}

struct ScratchDirectory {
    let path: String

    // What is left behind lies where temporary files do, and ends no measurement.
    func remove() { try? FileManager.default.removeItem(atPath: path) }
}

/// A journal that is there for one measurement.
struct ScratchJournal {
    let journal: LMDBJournal
    private let path: String

    /// - Parameter isSealed: whether it has a key, which is made anew.
    init(_ name: String, in directory: String, durability: LMDBJournal.Durability, isSealed: Bool = false) throws {
        path = "\(directory)/\(name).journal"
        var options = LMDBJournal.Options()
        options.durability = durability
        if isSealed {
            let keyFile = "\(directory)/\(UUID().uuidString).key"
            try JournalKeys.makeFile(keyFile)
            options.keys = try JournalKeys(file: keyFile)
        }
        journal = try LMDBJournal(directory: path, options: options)
    }

    func remove() {
        journal.close()
        try? FileManager.default.removeItem(atPath: path)
    }
}
