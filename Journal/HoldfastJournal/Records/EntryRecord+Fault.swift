import Holdfast

extension EntryRecord.Fault {
    /// The fault of a row that was sealed and could not be opened; nil for other bytes.
    static func strange(_ bytes: Span<UInt8>) -> String? {
        guard SealedRow.begins(bytes) else { return nil }
        return "its seal does not hold: it was changed, or is not of this place, or its key is not there"
    }

    var words: String {
        switch self {
        case .newer(let version): "it has version \(version), which this Holdfast does not know"
        case .damaged(let what): what
        }
    }

    /// - Parameter what: whose record it is.
    func error(what: String, in directory: String) -> JournalError {
        switch self {
        case .newer(let version):
            JournalError(
                .newerFormat, "\(directory): \(what) has version \(version), which this Holdfast does not know")
        case .damaged(let fault):
            .damaged("\(directory): \(what) is damaged: \(fault)", in: directory)
        }
    }
}
