internal import Foundation
internal import Holdfast
internal import HoldfastService

/// Reads an input batch by batch, naming what is malformed.
struct NotificationInput {
    /// Bounds of one batch, which is one commit.
    static let batchCount = 4000
    static let batchByteCount = 1 << 20

    /// One batch of lines. It may have no notifications, since malformed and empty lines are taken, too.
    struct Batch {
        var notifications: [PushNotification] = []
        /// Under whose name all of them are submitted; nil for the standard one.
        var producer: String?
        /// The line that it begins with.
        var firstLine = 1
        /// The line that each notification comes from.
        var lines: [Int] = []
        /// The malformed lines.
        var faults: [(line: Int, fault: LineFault)] = []
        /// Where the input stands behind it.
        var offset: UInt64 = 0
        var lineCount = 0
        /// Notifications of the line behind it that are among them, where a line is taken in parts.
        var part: Int?
        var fingerprint: UInt64 = 0
        /// Whether the input has ended with it.
        var isLast = false
        var byteCount = 0
        /// The next line is another Producer's: it begins the next batch, since a batch is one commit of one Producer.
        var isCut = false

        func isFull(at limit: Int) -> Bool {
            isCut || notifications.count >= limit || byteCount >= batchByteCount || faults.count >= batchCount
        }
    }

    let file: InputFile
    private let defaults: LineDefaults
    /// Gives ids to lines without one; nil leaves that to the journal.
    private let ids: LineIDs?
    private let limit: Int
    /// The first line, and how many of its notifications were taken before.
    private let partly: (line: Int, part: Int)?
    private var splitter: LineSplitter
    private var hasEnded = false

    /// - Parameters:
    ///   - limit: the most notifications of a batch of several lines. A batch may have one line with more.
    ///   - place: where to begin, with the bytes before it; nil for the start.
    init(
        _ file: InputFile, defaults: LineDefaults = LineDefaults(), ids: LineIDs? = nil,
        limit: Int = batchCount, after place: (progress: FileProgress, history: [UInt8])? = nil
    ) {
        self.ids = ids
        self.limit = limit
        partly = place.flatMap { place in place.progress.part.map { (place.progress.lines + 1, $0) } }
        self.defaults = defaults
        self.file = file
        if let place {
            splitter = LineSplitter(
                offset: place.progress.offset, lineCount: place.progress.lines, history: place.history)
        } else {
            splitter = LineSplitter()
        }
    }

    /// The next batch. A stream's batch ends where the stream has nothing more for the moment.
    mutating func next() async throws(ToolError) -> Batch {
        var batch = Batch()
        batch.firstLine = splitter.lineCount + 1
        while true {
            while !batch.isFull(at: limit), let line = splitter.next() { take(line, into: &batch) }
            let holdsSomething = !batch.notifications.isEmpty || !batch.faults.isEmpty
            if hasEnded || batch.isFull(at: limit) { break }
            if case .stream = file.source, holdsSomething { break }
            let data = try await file.source.read(name: file.name)
            if data.isEmpty {
                hasEnded = true
                splitter.finish()
            } else {
                splitter.append(data)
            }
        }
        batch.offset = splitter.offset
        batch.lineCount = splitter.lineCount
        batch.fingerprint = splitter.fingerprint
        batch.isLast = hasEnded && !batch.isFull(at: limit)
        return batch
    }

    private mutating func take(_ line: LineSplitter.Line, into batch: inout Batch) {
        if line.isTooLong {
            batch.faults.append(
                (line.number, LineFault("is longer than \(Format.bytes(LineSplitter.maximumLineLength))")))
            return
        }
        guard !isBlank(line.range) else { return }
        do throws(LineFault) {
            let parsed = try NotificationLine(splitter.bytes, in: line.range, defaults: defaults)
            let notifications = named(parsed.notifications, line: line.number)
            let isOthers = !batch.notifications.isEmpty && parsed.producer != batch.producer
            // A small limit is one of bytes, too: no line may go beyond it but one that has the batch for itself.
            let isTooMany =
                limit < Self.batchCount && line.number > batch.firstLine
                && batch.notifications.count + notifications.count > limit
            if isOthers || isTooMany {
                splitter.unread(line)
                batch.isCut = true
                return
            }
            batch.producer = parsed.producer
            batch.notifications.append(contentsOf: notifications)
            batch.lines.append(contentsOf: repeatElement(line.number, count: notifications.count))
            batch.byteCount += notifications.count * line.range.count
        } catch {
            batch.faults.append((line.number, error))
        }
    }

    /// Those of a line that were not taken before, with their ids.
    private func named(_ notifications: [PushNotification], line: Int) -> [PushNotification] {
        var notifications = notifications
        if let ids {
            for index in notifications.indices where notifications[index].id == nil {
                notifications[index].id = ids.id(line: line, index: index)
                notifications[index].hasAssignedID = true
            }
        }
        if let partly, partly.line == line { notifications.removeFirst(min(max(partly.part, 0), notifications.count)) }
        return notifications
    }

    private func isBlank(_ range: Range<Int>) -> Bool {
        splitter.bytes[range].allSatisfy { [0x20, 0x09, 0x0D].contains($0) }
    }
}

extension NotificationInput.Batch {
    /// How far the file was taken with it; nil for what is no regular file.
    func progress(of file: InputFile) -> FileProgress? {
        guard file.identity != nil, let path = file.path else { return nil }
        return FileProgress(
            path: path, offset: offset, lines: lineCount, fingerprint: fingerprint, finished: isLast, part: part)
    }

    /// The batch in parts of at most so many notifications, each with the place where it ends. Only a batch of one line is
    /// longer: all parts but the last end within that line.
    ///
    /// - Parameters:
    ///   - start: the place where the batch begins; nil for the start of the file.
    func parts(of count: Int, from start: FileProgress?) -> [NotificationInput.Batch] {
        guard notifications.count > count else { return [self] }
        let before = start?.part ?? 0
        return stride(from: 0, to: notifications.count, by: count).map { first in
            let end = min(first + count, notifications.count)
            var part = self
            part.notifications = Array(notifications[first..<end])
            part.lines = Array(lines[first..<end])
            guard end < notifications.count else { return part }
            (part.offset, part.lineCount) = (start?.offset ?? 0, start?.lines ?? 0)
            (part.fingerprint, part.part) = (start?.fingerprint ?? Fingerprint.empty, before + end)
            (part.faults, part.isLast) = ([], false)
            return part
        }
    }
}
