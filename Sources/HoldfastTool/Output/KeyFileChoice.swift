internal import Holdfast
internal import HoldfastJournal

/// The key file of the journal that this command is about: by a flag, by the environment, or by the configuration.
enum KeyFileChoice {
    private static let file = Monitor<String?>(nil)

    /// Takes a file, unless one was named before.
    static func take(_ name: String?) { file.withLock { file in file = file ?? name } }

    /// Whether it is a credential of systemd's that this process was not given.
    static var isWithheld: Bool { file.withLock(\.self).map(JournalKeys.isWithheld) ?? false }

    /// Its keys; nil where no file is named.
    ///
    /// - Parameter journal: the directory of the journal, which names the keys that it needs when the file has none.
    /// - Throws: ``JournalError`` when the file can't be read.
    static func keys(of journal: String) throws(JournalError) -> JournalKeys? {
        guard let name = file.withLock(\.self) else { return nil }
        return try JournalKeys(file: name, of: journal)
    }

    /// The options of a journal that is opened by a command.
    static func options(of journal: String) throws(JournalError) -> LMDBJournal.Options {
        var options = LMDBJournal.Options()
        options.keys = try keys(of: journal)
        return options
    }
}
