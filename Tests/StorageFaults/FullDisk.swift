import Foundation
import Holdfast
import HoldfastJournal
import HoldfastLMDB

/// A journal on a small file system that is full: the real thing, without injected faults.
struct FullDisk {
    /// A directory on the small file system.
    let directory: String

    struct Result: Sendable {
        var accepted = 0
        var refused = 0
    }

    /// Fills to refusal, drains to zero without a restart, accepts again; the first time with a reader that pins every
    /// page it ever saw. Then a file takes what is left of the disk.
    func run() throws -> Result {
        var result = Result()
        var options = LMDBJournal.Options.small
        options.limit = 1 << 40
        let path = directory + Place.name
        Recorder.watch("the full file system", seconds: 300)
        let journal = try LMDBJournal(directory: path, options: options)
        defer { journal.close() }
        _ = try journal.openProducer("test")
        for key in Workload.lanes.dropLast() { _ = try journal.openLane(key) }

        guard let environment = try Environment.share(path + "/entries") else { throw Breach("it is not open") }
        let pool = ReaderPool(environment)
        let outcome = try pool.read { (_: borrowing Snapshot) in
            Swift.Result { try fillAndDrain(journal, path, &result) }
        }
        pool.close()
        environment.close()
        try outcome?.get()
        try fillAndDrain(journal, path, &result)

        // Others may fill the disk as well.
        let ballast = directory + "/ballast"
        try Self.fillDisk(ballast)
        try fillAndDrain(journal, path, &result)
        try FileManager.default.removeItem(atPath: ballast)
        _ = try journal.appendOne(1)
        try journal.drain(path)
        Recorder.watch(nil)
        return result
    }

    private func fillAndDrain(_ journal: LMDBJournal, _ path: String, _ result: inout Result) throws {
        var accepted = 0
        let refusal = try fill(journal, &accepted)
        try expect(
            refusal.code == .diskFull || refusal.code == .limitReached,
            "refused with \(refusal.code): \(refusal.message)")
        result.accepted += accepted
        result.refused += 1
        // The blacklist has its own reserve.
        let answer = Monitor<Swift.Result<Void, JournalError>?>(nil)
        journal.blacklist.add([BlacklistEntry(blacklisting: result.refused)]) { result in
            answer.withLock { answer in answer = result }
            answer.broadcast()
        }
        let added = answer.wait(atMost: .seconds(30)) { answer in answer }
        try added?.get()
        for lane in try journal.status().lanes { journal.raiseMark(of: lane.id, to: .max) }
        let left = try journal.status().unconfirmed
        try expect(left == accepted, "of \(accepted) accepted \(left) are there")
        try journal.drain(path)
    }

    private func fill(_ journal: LMDBJournal, _ accepted: inout Int) throws -> JournalError {
        for round in 0..<1_000_000 {
            var submission = Submission.empty
            for index in 0..<100 {
                submission.add(round * 100 + index, index, LaneID(rawValue: UInt32(1 + round % 2)), payload: 1500)
            }
            let answer = Monitor<Swift.Result<Appended, JournalError>?>(nil)
            journal.append(submission) { result in
                answer.withLock { answer in answer = result }
                answer.broadcast()
            }
            switch answer.wait(atMost: .seconds(30), for: { answer in answer }) {
            case .success: accepted += 100
            case .failure(let error): return error
            case nil: throw Breach("an append was not answered within 30 s")
            }
        }
        throw Breach("the disk never became full")
    }

    private static func fillDisk(_ path: String) throws {
        guard FileManager.default.createFile(atPath: path, contents: nil) else { throw Breach("no ballast") }
        let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
        defer { try? handle.close() }
        for size in [1 << 20, 4096] {
            let block = Data(count: size)
            while (try? handle.write(contentsOf: block)) != nil {}
        }
        try? handle.synchronize()
    }
}
