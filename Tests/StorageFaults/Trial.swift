import Foundation
import Holdfast
import HoldfastJournal

/// A directory for one run, on a file system in memory where there is one, with no symbolic link in its path.
struct Place: Sendable {
    let root: String

    init() throws {
        let memory = "/dev/shm"
        let base = FileManager.default.isWritableFile(atPath: memory) ? memory : NSTemporaryDirectory()
        let path = URL(fileURLWithPath: base).resolvingSymlinksInPath().path + "/holdfast-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        root = path
    }

    func remove() {
        do {
            try FileManager.default.removeItem(atPath: root)
        } catch {
            FileHandle.standardError.write(Data("\(root) stays: \(error)\n".utf8))
        }
    }

    static let name = "/test.journal"
    var journal: String { root + Self.name }
}

extension LMDBJournal.Options {
    /// The defaults, and a limit that a short run does not allocate much for.
    static var small: Self {
        var options = Self()
        options.limit = 64 << 20
        return options
    }

    /// Some runs end a commit within a settlement, for the number or for the time, so that appends go between; some by the
    /// defaults, which so little work rarely reaches.
    static func drawn(_ generator: inout SplitMix64) -> Self {
        var options = small
        options.greatestSettlementCommit = [7, 200, 1000][Int.random(in: 0..<3, using: &generator)]
        options.greatestCommitTime = [.zero, .milliseconds(50)][Int.random(in: 0..<2, using: &generator)]
        options.greatestCommit = [20_000, 8 << 20][Int.random(in: 0..<2, using: &generator)]
        return options
    }

    /// For the table.
    var words: String { "commits of \(greatestSettlementCommit) settlements, \(greatestCommitTime)" }
}

extension LMDBJournal {
    func appendOne(_ number: Int) throws -> UID {
        var submission = Submission.empty
        submission.add(number, 0, LaneID(rawValue: 1), payload: 100)
        let answer = Monitor<Result<Appended, JournalError>?>(nil)
        append(submission) { result in
            answer.withLock { answer in answer = result }
            answer.broadcast()
        }
        return try Self.wait(answer).first
    }

    private static func wait<Value: Sendable>(_ answer: Monitor<Result<Value, JournalError>?>) throws -> Value {
        guard let result = answer.wait(atMost: .seconds(30), for: { answer in answer }) else {
            throw Breach("a request was not answered within 30 s")
        }
        return try result.get()
    }

    /// Settles everything as an engine does, and removes the rejections.
    func drain(_ directory: String) throws {
        for lane in try status().lanes {
            while depth(lane.id) > 0 {
                let batch = try unconfirmed(lane.id, after: .none, through: .max, limit: 700)
                if batch.isEmpty {
                    try promoteAll(lane.id)
                    continue
                }
                let answer = Monitor<Result<SettlementReport, JournalError>?>(nil)
                let keys = batch.items.map { item in EntryKey(lane: lane.id, uid: item.uid) }
                settle(SettlementBatch(acknowledging: keys)) { result in
                    answer.withLock { answer in answer = result }
                    answer.broadcast()
                }
                _ = try Self.wait(answer)
            }
        }
        let reader = try JournalReader(directory: directory)
        let rejected = try reader.entries(limit: .max, states: [.rejected]).map(\.uid)
        reader.close()
        _ = try removeRejections(rejected)
        let status = try status()
        try expect(
            status.unconfirmed == 0 && status.rejections == 0, "it does not drain: \(status.unconfirmed) are left")
    }

    private func promoteAll(_ lane: LaneID) throws {
        let answer = Monitor<Result<[UID], JournalError>?>(nil)
        promoteDue(lane, after: nil, now: WallTime(milliseconds: .max), limit: 1000) { result in
            answer.withLock { answer in answer = result }
            answer.broadcast()
        }
        try expect(!(try Self.wait(answer).isEmpty), "entries are counted that are nowhere")
    }
}
