internal import ArgumentParser

/// The root of the program `holdfast-bench`.
@main
struct BenchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "holdfast-bench", abstract: "Measure, side by side with a yardstick.",
        subcommands: [
            BenchDeliveryCommand.self, BenchBacklogCommand.self, BenchIdentitiesCommand.self, BenchCodecCommand.self,
            BenchGatewayCommand.self, BenchRoutesCommand.self, BenchBulkCommand.self, BenchOutcomesCommand.self,
            BenchPostgresCommand.self,
        ])
}
