import Holdfast
import HoldfastLMDB

/// Makes a journal's directory, and tells a journal that has lost a part from one that is not complete yet.
///
/// The file `incomplete` is durable before anything else is in a new directory, and is removed when everything is there
/// and synced. If the making is interrupted, the next opening continues it. Without that file a missing part was there
/// once, with its contents.
extension JournalDirectory {
    var incomplete: String { path + "/incomplete" }

    private static let explanation =
        "This journal was never completely made and holds nothing. Its next opening makes it.\n"

    /// Whether there is something of a journal, complete or not.
    var isEvident: Bool {
        !Files.exists(incomplete) && ([ownerLock, entries, blacklist].contains { part in Files.exists(part) })
    }

    /// The directory that it is to be made in, where that is not there: a journal's own alone is made, with its mode.
    var missingParent: String? {
        let parent = Files.parent(of: path)
        return Files.exists(path) || Files.exists(parent) || Files.isHidden(parent) ? nil : parent
    }

    /// Refuses a place where the journal cannot be, and changes nothing: without the directory that it is to be made in, on
    /// a file system that cannot keep the promises, or with a file that leads elsewhere.
    func examine(create: Bool) throws(JournalError) {
        if !create && !isEvident { throw notFound }
        if let parent = missingParent {
            throw JournalError(.notFound, "cannot make \(path): there is no directory \(parent) yet; make it first")
        }
        if Files.exists(path), !Files.isDirectory(path) {
            throw JournalError(.notFound, "\(path) is a file, and a journal is a directory: give another path")
        }
        if !Files.exists(path), Files.isLink(path) {
            throw JournalError(
                .notFound, "\(path) is a symbolic link that leads nowhere: make what it leads to, or remove it")
        }
        try checkFileSystem()
        try refuseLinks()
    }

    /// Refuses files of the journal that lead elsewhere, also where they would only be read: a copy in their place would leave
    /// the file behind the link as it was.
    func refuseLinks() throws(JournalError) {
        try translated("look at", path) { () throws(LMDBError) in
            for file in [ownerLock] + dataFiles + lockFiles { try Files.refuseLink(file) }
        }
    }

    /// Makes the directory. What is in it, the owner makes.
    func prepare() throws(JournalError) {
        try making { () throws(LMDBError) in _ = try Files.makeDirectory(path, adopting: true) }
    }

    /// Says how much room a new journal needs, where there is none for its first files.
    private func making(_ body: () throws(LMDBError) -> Void) throws(JournalError) {
        do throws(JournalError) { try translated("make", path, body) } catch {
            guard error.code == .diskFull else { throw error }
            throw JournalError(.diskFull, "\(error.message) \(LMDBJournal.roomWords)")
        }
    }

    /// Makes the directories of a new journal, or goes on with the making of one. For the owner, before the first file of
    /// its own is there.
    func begin(create: Bool) throws(JournalError) {
        if isEvident { return try refuseIncomplete() }
        guard create else { throw notFound }
        try beginMaking()
        try makeDirectories()
    }

    /// Says, durably, that what is missing was never there.
    func beginMaking() throws(JournalError) {
        try making { () throws(LMDBError) in
            let marker = try OpenFile(incomplete, .create)
            try marker.replace(with: Array(Self.explanation.utf8))
            try marker.sync()
            try Files.syncDirectory(path)
        }
    }

    func makeDirectories() throws(JournalError) {
        try making { () throws(LMDBError) in
            for directory in [entries, blacklist] { _ = try Files.makeDirectory(directory, adopting: true) }
        }
    }

    /// Ends the making: everything is there, and durable.
    func finishMaking() throws(JournalError) {
        guard Files.exists(incomplete) else { return }
        try translated("make", path) { () throws(LMDBError) in
            try Files.remove(incomplete)
            try Files.syncDirectory(path)
        }
    }

    /// Throws when there is no journal, or when one has lost a data file. An empty one would be made in its place, and what
    /// it held be gone without a word.
    func refuseIncomplete() throws(JournalError) {
        guard isEvident else { throw notFound }
        for file in dataFiles {
            let directory = Files.parent(of: file)
            guard Files.exists(directory) else { throw missing(directory, "missing") }
            let isEmpty = try translated("look at", path) { () throws(LMDBError) -> Bool? in
                Files.exists(file) ? try OpenFile(file, .read).byteCount() == 0 : nil
            }
            guard let isEmpty else { throw missing(file, "missing") }
            if isEmpty { throw missing(file, "empty") }
        }
    }

    func missing(_ part: String, _ how: String) -> JournalError {
        JournalError(
            .damaged,
            "\(path) is a journal, but \(part) is \(how). It was left as it is: put back what was moved, or restore a backup; "
                + "`holdfast journal verify --journal \(ShellText.word(path)) --salvage NEW` copies what is left into a new "
                + "journal. Remove \(path) only if nothing of it is wanted.")
    }
}
