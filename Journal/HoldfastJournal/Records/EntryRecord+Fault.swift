import Holdfast

extension EntryRecord.Fault {
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
