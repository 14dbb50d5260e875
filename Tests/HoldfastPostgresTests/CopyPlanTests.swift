import HoldfastLMDB
import HoldfastPostgres
import Testing

@Suite("How a copy is brought to the end of its log")
struct CopyPlanTests {
    private func log(_ last: UInt64, checkpoint: UInt64 = 0, sum: UInt64? = nil) -> LogState {
        LogState(last: last, checkpoint: checkpoint, checkpointSum: 70, checkpointChunks: 1, sum: sum)
    }

    private func plan(_ number: UInt64, sum: UInt64 = 7, _ log: LogState) throws -> CopyPlan {
        try CopyPlan.decide(copy: WorkingCopy.Place(number: number, sum: sum), log: log)
    }

    @Test("It goes on from its own commit, if the log has the same one")
    func goesOn() throws {
        #expect(try plan(5, log(9, sum: 7)) == .goOn)
        #expect(try plan(9, log(9, sum: 7)) == .upToDate)
        #expect(try plan(5, sum: 70, log(9, checkpoint: 5)) == .goOn)
        #expect(try plan(5, sum: 70, log(5, checkpoint: 5)) == .upToDate)
    }

    @Test("It is made anew where there is none, where it is unfinished, and where the log begins behind it")
    func anew() throws {
        #expect(try CopyPlan.decide(copy: nil, log: log(9)) == .anew)
        #expect(try CopyPlan.decide(copy: nil, log: log(0)) == .upToDate)
        #expect(try CopyPlan.decide(copy: .unfinished, log: log(9)) == .anew)
        #expect(try CopyPlan.decide(copy: .unfinished, log: log(0)) == .anew)
        #expect(try plan(5, log(9, checkpoint: 6)) == .anew)
    }

    @Test("A log that ends before the copy, or has another commit in its place, was rolled back")
    func rolledBack() throws {
        for log in [log(4), log(0), log(9, sum: 8), log(5, checkpoint: 5)] {
            do {
                _ = try plan(5, log)
                Issue.record("\(log)")
            } catch let error as CopyError {
                guard case .rolledBack(copy: 5, log: log.last) = error else {
                    Issue.record("\(error)")
                    continue
                }
                #expect("\(error)".contains("the database has lost commits: this host's copy has commit 5"))
            }
        }
    }

    @Test("A log that lacks the copy's commit has lost rows")
    func missing() throws {
        let error = #expect(throws: CopyError.self) { try plan(5, log(9)) }
        #expect(error.map { "\($0)" }?.hasPrefix("the log lacks rows of commit 5") == true)
    }

    @Test("A checkpoint is due when the commits behind the last one are longer than the journal, and 64 MB")
    func rule() {
        func log(_ bytes: Int) -> LogState {
            LogState(last: 1, checkpoint: 0, checkpointSum: 0, checkpointChunks: 0, logByteCount: bytes)
        }
        #expect(!CheckpointRule.isDue(log(64 << 20), journalByteCount: 0))
        #expect(CheckpointRule.isDue(log((64 << 20) + 1), journalByteCount: 0))
        #expect(!CheckpointRule.isDue(log(1 << 30), journalByteCount: 1 << 30))
        #expect(CheckpointRule.isDue(log((1 << 30) + 1), journalByteCount: 1 << 30))
    }
}
