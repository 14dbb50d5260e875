internal import Holdfast

/// A service that runs with an address of a configuration and with another journal than that of the configuration: `journal.path`
/// was changed since it began.
struct ServiceElsewhere: Encodable, Equatable {
    let process: Int
    /// The directory of the journal that it uses.
    let journal: String

    /// For people.
    var words: String {
        "the service that runs, process \(process), has the configuration's addresses and another journal, \(journal): a changed "
            + "journal.path needs a restart"
    }

    var next: String {
        "restart it, and look at the journal that it has now: holdfast status --journal \(ShellText.word(journal))"
    }
}
