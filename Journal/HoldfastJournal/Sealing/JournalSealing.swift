import Holdfast

/// Whether a journal is sealed. This list is complete.
package enum JournalSealing: Hashable, Sendable {
    case clear
    case sealed
    /// A compaction that was to seal it, or to take the seals away, was interrupted between the two files. No process opens it for
    /// writing until the next compaction has ended.
    ///
    /// - Parameter sealed: the file that is sealed; the other one is in the clear.
    case half(sealed: String)

    /// - Parameters:
    ///   - entries: whether the file of the entries is sealed.
    ///   - blacklist: whether the file of the blacklist is; nil where the journal uses another.
    init(entries: Bool, blacklist: Bool?) {
        switch (entries, blacklist ?? entries) {
        case (true, true): self = .sealed
        case (false, false): self = .clear
        case (true, false): self = .half(sealed: JournalPart.entries.file)
        case (false, true): self = .half(sealed: JournalPart.blacklist.file)
        }
    }

    /// - Parameter sealed: whether each file is sealed. One that is not there, or can't be read, is left out, and says nothing.
    init(_ sealed: [JournalPart: Bool]) {
        self.init(entries: sealed[.entries] ?? sealed[.blacklist] ?? false, blacklist: sealed[.blacklist])
    }

    /// For people; a part of a sentence.
    package var words: String {
        switch self {
        case .clear: "it is not sealed"
        case .sealed: "it is sealed"
        case .half(let sealed):
            "\(sealed) is sealed, and \(Self.other(than: sealed)) is in the clear, since a compaction was interrupted"
        }
    }

    private static func other(than file: String) -> String {
        let entries = JournalPart.entries.file
        return file == entries ? JournalPart.blacklist.file : entries
    }

    /// The next step where it is sealed by half; nil otherwise.
    ///
    /// - Parameter journal: its directory.
    package func remedy(of journal: String) -> String? {
        guard case .half = self else { return nil }
        return
            "`holdfast journal compact --journal \(ShellText.word(journal)) --key-file FILE` again, with the service "
            + "stopped, ends it; with --unseal it takes the seals away"
    }
}
