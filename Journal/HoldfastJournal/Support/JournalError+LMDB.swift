package import Holdfast
package import HoldfastLMDB

extension JournalError {
    /// Describes an error of liblmdb or the system in the journal's words.
    ///
    /// - Parameter doing: the verb for the message, such as "append to".
    package init(_ error: LMDBError, _ doing: String, _ directory: String) {
        if let what = Self.notAFile(error) {
            self.init(.permissionDenied, what)
            return
        }
        self.init(
            Self.code(of: error.code),
            "cannot \(doing) \(directory): \(error.operation) says: \(error.code)\(Self.advice(on: error.code, directory))"
        )
    }

    /// The message where a link, a pipe, a directory or a device lies in the place of a file; nil for other errors.
    private static func notAFile(_ error: LMDBError) -> String? {
        let advice =
            error.path.hasSuffix("lock.mdb") || error.path.hasSuffix(".lock")
            ? "remove it, it is made anew" : "put the file itself there"
        return switch error.code {
        case .tooManyLinks where Files.isLink(error.path):
            "\(error.path) is a symbolic link, and what is written there would go elsewhere: \(advice)"
        case .notAFile: "\(error.path) is a directory, a pipe or a device, and a file is needed there: \(advice)"
        default: nil
        }
    }

    private static func code(of code: LMDBError.Code) -> Code {
        switch code {
        case _ where code.isDamage: .damaged
        case .noSpace, .overQuota, .fileTooLarge: .diskFull
        case .mapFull, .transactionFull: .limitReached
        case .access, .notPermitted: .permissionDenied
        case .readOnly: .readOnly
        case .noEntry, .notADirectory: .notFound
        default: .inputOutput
        }
    }

    private static func advice(on code: LMDBError.Code, _ directory: String) -> String {
        switch code {
        case _ where code.isDamage: ". \(salvageAdvice(directory))"
        case .noSpace: ". Make room on the file system."
        case .overQuota: ". The quota of its owner is used up: make room within it, or raise it."
        case .fileTooLarge: ". \(fileLimitAdvice)"
        case .readersFull: ". Too many processes read it at once; close some."
        case .panic: ". An earlier commit failed; reopen the journal."
        case .openInThisProcess: ". Use the handle that is open, or close it first."
        case .access, .notPermitted:
            ". This user may not: run this as the user to whom \(directory) belongs; if it is that one, see the modes of "
                + "the files."
        case .readOnly:
            ". Its file system is mounted for reading only: mount it for writing, or copy the journal elsewhere."
        default: ""
        }
    }

    /// The advice where this process's limit on the size of files is in the way.
    static let fileLimitAdvice =
        "The limit on the size of this process's files is in the way (`LimitFSIZE=` of a systemd unit, `ulimit -f` of a "
        + "shell): raise it, and start the process again."

    static func closed(_ directory: String) -> JournalError { JournalError(.closed, "\(directory) is closed") }
}

/// Runs a store's call and puts its error into the journal's words.
func translated<R>(
    _ doing: String, _ directory: String, _ body: () throws(LMDBError) -> R
) throws(JournalError) -> R {
    do throws(LMDBError) { return try body() } catch { throw JournalError(error, doing, directory) }
}
