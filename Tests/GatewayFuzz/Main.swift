import ArgumentParser
import Foundation
import Holdfast
import Trials

/// Plays hostile clients to the gateway's listeners, at random, and holds it to what must be true whatever they do.
/// `Scripts/fuzz-gateway` runs it at length.
@main struct GatewayFuzz: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "fuzz-gateway")

    @OptionGroup var options: FuzzOptions

    func run() throws {
        let campaign = FuzzCampaign(options, trials: 1000, trialLimit: .seconds(20), memoryLimit: 400_000)
        let tally = Monitor(HTTP2IngressTally())
        let outcome = try campaign.run { number, seed in
            try Self.wait {
                if number.isMultiple(of: 2) {
                    try await HTTP2IngressTrial.run(seed: seed, tally)
                } else {
                    try await BinaryIngressTrial.run(seed: seed)
                }
            }
        }
        try SummaryLine(outcome, tally.withLock { $0 }).show()
        if outcome.breaches > 0 { throw ExitCode.failure }
    }

    /// Trials come one after the other, and the campaign's thread has nothing else to do.
    private static func wait(_ body: @escaping @Sendable () async throws -> Void) throws {
        let result = Monitor<Result<Void, any Error>?>(nil)
        Task {
            let outcome: Result<Void, any Error>
            do { outcome = .success(try await body()) } catch { outcome = .failure(error) }
            result.withLock { $0 = outcome }
            result.broadcast()
        }
        try result.wait { $0 }?.get()
    }
}
