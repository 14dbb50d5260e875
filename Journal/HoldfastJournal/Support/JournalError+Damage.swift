package import Holdfast
import HoldfastLMDB

extension JournalError {
    /// The error for damage in a journal: the place, and how to recover what is sound.
    static func damaged(_ what: String, in directory: String) -> JournalError {
        JournalError(.damaged, "\(what). \(salvageAdvice(directory))")
    }

    /// The error for a data file in use that the next opening will not find, with the notifications in it.
    static func lost(_ file: String, _ loss: DataFileLoss, in directory: String) -> JournalError {
        let advice =
            switch loss {
            case .deleted:
                "What was in it is lost with the process that has it open: restore a backup, or begin a new journal"
            case .moved: "Put it back, or what is in it is not delivered"
            case .replaced: "Put back the one that was there, or what is in it is not delivered"
            }
        return JournalError(
            .damaged,
            "\(file) \(loss.words) while \(directory) was in use. Nothing is accepted or sent any more, since the next start "
                + "would not find it. \(advice); and see to it that nobody touches the files of a journal in use.")
    }

    /// The error for a data file in use of a working copy, which the next opening makes again.
    static func copyLost(_ file: String, _ loss: DataFileLoss, in directory: String) -> JournalError {
        copyLost("\(file) \(loss.words) while the working copy \(directory) was in use")
    }

    /// - Parameter what: what happened to the copy, without a full stop.
    package static func copyLost(_ what: String) -> JournalError {
        JournalError(
            .copyLost,
            "\(what). What was accepted is in the database, from which this host makes another copy. See to it that nobody touches "
                + "the files of a copy in use")
    }

    static func salvageAdvice(_ directory: String) -> String {
        "`holdfast journal verify --journal \(ShellText.word(directory))` says what is damaged; with `--salvage NEW` it "
            + "copies what is sound into a new journal."
    }
}

extension LMDBError.Code {
    /// Whether liblmdb reports damage with this code.
    var isDamage: Bool {
        switch self {
        // It was to write where no page can be.
        case .fileTooLarge: !isWantOfRoom
        default:
            [
                .corrupted, .invalid, .pageNotFound, .cursorFull, .versionMismatch, .incompatible, .badTransaction,
            ].contains(self)
        }
    }
}

extension DataFileLoss {
    /// What was done to the file.
    fileprivate var words: String {
        switch self {
        case .deleted: "was deleted"
        case .moved: "was moved away"
        case .replaced: "was replaced by another file"
        }
    }
}

extension Environment {
    /// The error when the data file is not where it was, so that nothing written to it lasts; `nil` while it is there.
    ///
    /// - Parameter isCopy: whether somebody else has all that is in it.
    func loss(in directory: String, isCopy: Bool) -> JournalError? {
        let file = path + "/data.mdb"
        do throws(LMDBError) {
            return try dataFileLoss().map { loss in
                isCopy ? .copyLost(file, loss, in: directory) : .lost(file, loss, in: directory)
            }
        } catch {
            return JournalError(error, "look after", directory)
        }
    }
}
