import BuiltProgram
import Foundation
import Testing

/// Short runs of what `Scripts/power-loss` does at length: see Docs/Internals/StorageTests.md. The program is one of its own, since
/// it stands in for libc's calls.
@Suite("Storage") struct StorageTests {
    /// One seed: what stands in everybody's way must not be a lottery. `Scripts/power-loss` draws others.
    private static let seed = 376_814_383

    private static func program() throws -> URL { try #require(BuiltProgram.named("StorageFaults")) }

    private static func storageFaults(_ arguments: String...) async throws -> BuiltProgram.Outcome {
        try await BuiltProgram.run(program(), ["--seed", "\(seed)"] + arguments)
    }

    @Test("Whatever the disk holds after a loss of power, no receipt is missing", .timeLimit(.minutes(5)))
    func powerLoss() async throws {
        let outcome = try await Self.storageFaults("--parts", "power", "--rounds", "2", "--states", "120")
        #expect(outcome.status == 0, "\(outcome.text)")
        #expect(try outcome.count("powerLossStates") >= 240)
        #expect(try outcome.count("secondLosses") >= 50)
        // Appends between the commits of a large settlement.
        #expect(try outcome.count("overtakings") >= 20)
        #expect(try outcome.count("overtakenStates") >= 20)
    }

    @Test("On a disk that says it has synced and has not, the loss would be noticed", .timeLimit(.minutes(2)))
    func lyingDisk() async throws {
        let outcome = try await Self.storageFaults("--parts", "power", "--states", "60", "--lying-disk", "1")
        // liblmdb may die of such a disk, which is reported as well.
        #expect(outcome.status == 1 || outcome.status == 3, "\(outcome.text)")
        #expect(outcome.text.contains("breach: "), "\(outcome.text)")
    }

    @Test(
        "Whichever call fails, nothing accepted is lost, no receipt is false, and work goes on", .timeLimit(.minutes(5))
    )
    func faults() async throws {
        let outcome = try await Self.storageFaults("--parts", "faults", "--faults", "150")
        #expect(outcome.status == 0, "\(outcome.text)")
        #expect(try outcome.count("faultsStruck") >= 70)
        #expect(try outcome.count("overtakingsInFaultRuns") >= 50)
    }

    @Test("After a meta page that is written and not confirmed, a loss of power does no harm", .timeLimit(.minutes(5)))
    func unconfirmedMetaPage() async throws {
        let outcome = try await Self.storageFaults("--parts", "faults", "--kind", "syncWrite", "--faults", "40")
        #expect(outcome.status == 0, "\(outcome.text)")
        #expect(try outcome.count("powerLossesAfterFaults") >= 60)
    }

    @Test(
        "Small file systems, filled to refusal with a reader pinned, drain without a restart", .timeLimit(.minutes(5)))
    func fullFileSystem() async throws {
        let outcome = try await BuiltProgram.run(
            URL(fileURLWithPath: "/bin/bash"), ["Scripts/power-loss", "--parts", "full", "--seed", "\(Self.seed)"],
            environment: ["STORAGE_FAULTS": Self.program().path])
        #expect(outcome.status == 0, "\(outcome.text)")
        for line in outcome.text.split(separator: "\n") where line.contains("skipped:") { print(line) }
    }
}

extension BuiltProgram.Outcome {
    /// A number of the summary.
    fileprivate func count(_ name: String) throws -> Int {
        let line = try #require(summary, "\(text)")
        let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
        return try #require(object?[name] as? Int, "\(name) in \(line)")
    }
}
