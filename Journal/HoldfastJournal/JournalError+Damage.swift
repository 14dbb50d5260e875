import Holdfast
import HoldfastLMDB

extension JournalError {
    /// That something in a journal is damaged, where, and how to get out what is sound.
    static func damaged(_ what: String, in directory: String) -> JournalError {
        JournalError(.damaged, "\(what). \(salvageAdvice(directory))")
    }

    static func salvageAdvice(_ directory: String) -> String {
        "`holdfast journal verify --journal \(directory)` says what is damaged; with `--salvage NEW` it copies what is sound "
            + "into a new journal."
    }
}

extension LMDBError.Code {
    /// What liblmdb says when it meets damage, and survives it.
    var isDamage: Bool { [.corrupted, .invalid, .pageNotFound, .versionMismatch].contains(self) }
}
