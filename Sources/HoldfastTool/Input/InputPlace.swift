internal import Holdfast
internal import HoldfastService

/// Where in an input to begin, as the journal's note and the file itself say.
struct InputPlace {
    var decision: ResumeDecision
    /// The file's note; `nil` if reading begins at its start.
    var progress: FileProgress?
    /// The bytes before the place, to fingerprint later places with.
    var history: [UInt8] = []

    /// Looks up how far `send` has taken the file, and leaves it standing at the place where to begin.
    ///
    /// - Throws: ``ToolError`` when it must not be begun, saying why and what to do.
    static func find(
        _ file: InputFile, in journal: any JournalService, mode: ResumeMode
    ) throws(ToolError) -> InputPlace {
        try find(file, mode: mode) { (identity) throws(JournalError) in try journal.note(identity.noteName) }
    }

    /// - Parameter note: what the journal has noted of a file.
    static func find(
        _ file: InputFile, mode: ResumeMode, note: (FileIdentity) throws(JournalError) -> [UInt8]?
    ) throws(ToolError) -> InputPlace {
        guard let identity = file.identity, let path = file.path, let size = file.size else {
            guard mode == .fresh else {
                throw ToolError(.usage, "\(file.name) is not a regular file: how far it was taken cannot be told")
            }
            return InputPlace(decision: .fromStart)
        }
        let noted = try progress(try noted(identity, note), path: path)
        var history: [UInt8]?
        if let noted { history = try file.history(before: noted.offset) }
        let isUnchanged = history.map { Fingerprint.of($0) == noted?.fingerprint } ?? false
        let decision = ResumeDecision.decide(noted, path: path, size: size, isUnchanged: isUnchanged, mode: mode)
        switch decision {
        case .refuse(let message):
            throw ToolError(.usage, message)
        case .fromStart, .nothingToResume:
            try file.seek(to: 0)
            return InputPlace(decision: decision)
        case .goOn(let progress), .alreadyFinished(let progress):
            let history = history ?? []
            try checkLineEnd(of: file, behind: progress, history, size: size)
            try file.seek(to: progress.offset)
            return InputPlace(decision: decision, progress: progress, history: history)
        }
    }

    private static func noted(
        _ identity: FileIdentity, _ note: (FileIdentity) throws(JournalError) -> [UInt8]?
    ) throws(ToolError) -> [UInt8]? {
        do throws(JournalError) {
            return try note(identity)
        } catch {
            throw ToolError(error)
        }
    }

    private static func progress(_ note: [UInt8]?, path: String) throws(ToolError) -> FileProgress? {
        guard let note else { return nil }
        return try FileProgress.decode(note, path: path)
    }

    /// A file may end without a newline; when it has grown since, its last line must not be what has grown.
    private static func checkLineEnd(
        of file: InputFile, behind progress: FileProgress, _ history: [UInt8], size: UInt64
    ) throws(ToolError) {
        guard progress.offset < size, let last = history.last, last != UInt8(ascii: "\n") else { return }
        try file.seek(to: progress.offset)
        let next = try file.read(count: 1)
        guard next.first == UInt8(ascii: "\n") else {
            throw ToolError(
                .usage,
                "\(file.name) cannot be resumed: its last line, number \(Format.count(progress.lines)), has grown since it was "
                    + "taken. Write new lines after it, or use --restart to send the file from its first line.")
        }
    }
}

/// An input and where it begins.
struct InputTask {
    let input: NotificationInput
    let place: InputPlace

    /// - Parameters:
    ///   - ids: gives ids to lines without one; nil leaves that to the journal.
    ///   - limit: the most notifications of a batch of several lines.
    init(
        _ file: InputFile, defaults: LineDefaults = LineDefaults(), ids: LineIDs? = nil,
        limit: Int = NotificationInput.batchCount, _ place: InputPlace
    ) {
        self.place = place
        input = NotificationInput(
            file, defaults: defaults, ids: ids, limit: limit,
            after: place.progress.map { ($0, place.history) })
    }
}
