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
        /// The line that each notification comes from.
        var lines: [Int] = []
        /// The malformed lines.
        var faults: [(line: Int, fault: LineFault)] = []
        /// Where the input stands behind it.
        var offset: UInt64 = 0
        var lineCount = 0
        var fingerprint: UInt64 = 0
        /// Whether the input has ended with it.
        var isLast = false
        var byteCount = 0
        /// The next line is another Producer's: it begins the next batch, since a batch is one commit of one Producer.
        var isCut = false

        var isFull: Bool {
            isCut || notifications.count >= batchCount || byteCount >= batchByteCount || faults.count >= batchCount
        }
    }

    let file: InputFile
    private let defaultTopic: String?
    private let defaultEnvironment: PushEnvironment?
    private var splitter: LineSplitter
    private var hasEnded = false

    /// - Parameter place: where to begin, with the bytes before it; nil for the start.
    init(
        _ file: InputFile, defaultTopic: String?, defaultEnvironment: PushEnvironment? = nil,
        after place: (progress: FileProgress, history: [UInt8])? = nil
    ) {
        self.defaultEnvironment = defaultEnvironment
        self.file = file
        self.defaultTopic = defaultTopic
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
        while true {
            while !batch.isFull, let line = splitter.next() { take(line, into: &batch) }
            let holdsSomething = !batch.notifications.isEmpty || !batch.faults.isEmpty
            if hasEnded || batch.isFull { break }
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
        batch.isLast = hasEnded && !batch.isFull
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
            let parsed = try NotificationLine(
                splitter.bytes, in: line.range, defaultTopic: defaultTopic, defaultEnvironment: defaultEnvironment)
            if !batch.notifications.isEmpty, parsed.producer != batch.producer {
                splitter.unread(line)
                batch.isCut = true
                return
            }
            batch.producer = parsed.producer
            batch.notifications.append(contentsOf: parsed.notifications)
            batch.lines.append(contentsOf: repeatElement(line.number, count: parsed.notifications.count))
            batch.byteCount += parsed.notifications.count * line.range.count
        } catch {
            batch.faults.append((line.number, error))
        }
    }

    private func isBlank(_ range: Range<Int>) -> Bool {
        splitter.bytes[range].allSatisfy { [0x20, 0x09, 0x0D].contains($0) }
    }
}
