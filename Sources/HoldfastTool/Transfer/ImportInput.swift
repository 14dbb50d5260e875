internal import Foundation
internal import Holdfast
internal import HoldfastService

/// Reads an export batch by batch, naming what is malformed.
struct ImportInput {
    /// Of one batch, which is one commit, beside the desk's own bound.
    static let batchByteCount = 1 << 20

    struct Batch {
        var entries: [RestoredEntry] = []
        var faults: [(line: Int, fault: LineFault)] = []
        /// How far the file is taken with it.
        var progress: FileProgress?
        var lineCount = 0
        /// Whether the input has ended with it.
        var isLast = false
        fileprivate var byteCount = 0

        fileprivate var isFull: Bool {
            entries.count >= OperatorDeskLimits.batch || byteCount >= batchByteCount
                || faults.count >= OperatorDeskLimits.batch
        }
    }

    private let file: InputFile
    private var splitter: LineSplitter
    private var hasEnded = false

    /// - Parameter file: standing where `place` says.
    init(_ file: InputFile, _ place: InputPlace) {
        self.file = file
        if let progress = place.progress {
            splitter = LineSplitter(offset: progress.offset, lineCount: progress.lines, history: place.history)
        } else {
            splitter = LineSplitter()
        }
    }

    mutating func next() async throws(ToolError) -> Batch {
        var batch = Batch()
        while true {
            while !batch.isFull, let line = splitter.next() { take(line, into: &batch) }
            if hasEnded || batch.isFull { break }
            let data = try await file.source.read(name: file.name)
            if data.isEmpty {
                hasEnded = true
                splitter.finish()
            } else {
                splitter.append(data)
            }
        }
        batch.isLast = hasEnded && !batch.isFull
        batch.lineCount = splitter.lineCount
        batch.progress = file.path.map { path in
            FileProgress(
                path: path, offset: splitter.offset, lines: splitter.lineCount, fingerprint: splitter.fingerprint,
                finished: batch.isLast)
        }
        return batch
    }

    private func isBlank(_ range: Range<Int>) -> Bool {
        splitter.bytes[range].allSatisfy { [0x20, 0x09, 0x0D].contains($0) }
    }

    private func take(_ line: LineSplitter.Line, into batch: inout Batch) {
        if line.isTooLong {
            batch.faults.append(
                (line.number, LineFault("is longer than \(Format.bytes(LineSplitter.maximumLineLength))")))
            return
        }
        guard !isBlank(line.range) else { return }
        do throws(LineFault) {
            batch.entries.append(try ImportLine(splitter.bytes, in: line.range).entry)
            batch.byteCount += line.range.count
        } catch {
            batch.faults.append((line.number, error))
        }
    }
}
