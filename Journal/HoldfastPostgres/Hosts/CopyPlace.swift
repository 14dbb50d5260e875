internal import Foundation
internal import Holdfast
internal import HoldfastJournal
internal import HoldfastLMDB
internal import HoldfastPlatform

/// The place of one working copy.
package struct CopyPlace: Sendable {
    /// The directory of the journal.
    package let directory: String
    var noteFile: String { directory + "/copy" }

    init(_ directory: String) { self.directory = directory }

    /// Whether a directory has a working copy, wherever it was moved. What waits in one that nobody uses may have been delivered by
    /// another host.
    package static func isCopy(_ directory: String) -> Bool { Files.exists(CopyPlace(directory).noteFile) }

    /// Whether a directory is a copy that was set aside: what waits in it is in no journal, and no host delivers it.
    package static func isSetAside(_ directory: String) -> Bool {
        isCopy(directory) && URL(fileURLWithPath: directory).lastPathComponent.contains(aside)
    }

    private static let aside = ".aside"

    /// Whether its file and the note beside it are there.
    var isThere: Bool { Files.exists(entries + "/data.mdb") && Files.exists(noteFile) }

    var entries: String { LMDBJournal.entries(in: directory) }

    /// The note beside the copy; `nil` where there is none, or where it is of another boot of the machine: such a copy may have lost
    /// pages.
    func note() -> CopyNote? {
        guard let boot = Self.boot, let text = try? String(contentsOfFile: noteFile, encoding: .utf8),
            let note = CopyNote(text: text), note.boot == boot
        else { return nil }
        return note
    }

    /// Notes an ownership, before the copy is opened under it.
    func note(epoch: Int64, fleet: String, name: String, _ lineage: Lineage) throws(JournalError) {
        let note = CopyNote(
            epoch: epoch, boot: Self.boot ?? "unknown-\(UUID())", fleet: fleet, name: name, lineage: lineage)
        do throws(LMDBError) {
            try put(note)
        } catch {
            throw JournalError(error, "write to", directory)
        }
    }

    func put(_ note: CopyNote) throws(LMDBError) { try Files.put(note.text, at: noteFile) }

    /// The copy's last commit, while nobody has it open; `nil` where there is none, or it can't be read.
    func lastCommit(mapByteCount: Int) -> UInt64? {
        guard Files.exists(entries + "/data.mdb") else { return nil }
        do throws(LMDBError) {
            let environment = try Environment.open(entries, .readWriteUnsynced, mapByteCount: mapByteCount, tables: 64)
            defer { environment.close() }
            return try WorkingCopy.place(in: environment)?.number
        } catch {
            return nil
        }
    }

    /// The rows of the outbox that the copy's journal has taken behind a commit, while nobody has it open; `nil` where they can't
    /// be read.
    func takenRows(after number: UInt64, mapByteCount: Int) -> TakenRows? {
        do throws(LMDBError) {
            let environment = try Environment.open(entries, .readWriteUnsynced, mapByteCount: mapByteCount, tables: 64)
            defer { environment.close() }
            return try TakenRows(in: environment, after: number)
        } catch {
            return nil
        }
    }

    /// Moves the copy out of the way, as it is.
    ///
    /// - Returns: where it is now.
    func setAside() throws(LMDBError) -> String {
        var (place, number) = (directory + Self.aside, 1)
        while Files.exists(place) { (place, number) = ("\(directory)\(Self.aside)-\(number + 1)", number + 1) }
        try Files.rename(directory, to: place)
        return place
    }

    /// Bytes of its files.
    var byteCount: Int {
        [entries + "/data.mdb", LocalBlacklist.dataFile(in: directory)].reduce(0) { sum, file in
            let size = (try? FileManager.default.attributesOfItem(atPath: file))?[.size] as? NSNumber
            return sum + (size?.intValue ?? 0)
        }
    }

    /// Removes what was made of a copy that found no room. What can't be removed stays, and the next opening goes on with it.
    func remove() { try? FileManager.default.removeItem(atPath: directory) }

    /// Removes the copy, which is built anew.
    func discard() throws(JournalError) {
        do throws(LMDBError) { try Environment.remove(from: entries) } catch {
            throw JournalError(error, "remove", error.path)
        }
    }

    private static let boot: String? = {
        guard let path = KernelNames.bootIdentity, let text = try? String(contentsOfFile: path, encoding: .utf8)
        else { return nil }
        let name = text.trimmingCharacters(in: .whitespacesAndNewlines)
        return name.isEmpty || name.contains(" ") ? nil : name
    }()
}
