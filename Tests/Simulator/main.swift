// Runs simulations; see Scripts/simulate. A process of its own for each job, so that a seed that crashes the engine, or
// hangs it, is named like any other that breaks a promise.
import Foundation

let options: SimulatorOptions
do {
    options = try SimulatorOptions(Array(CommandLine.arguments.dropFirst()))
} catch {
    FileHandle.standardError.write(Data("simulate: \(error)\n\(SimulatorOptions.usage)\n".utf8))
    exit(64)
}

switch options.role {
case .one(let seed): exit(OneSeed(seed: seed, medium: options.medium, isVerbose: options.isVerbose).run())
case .worker: Worker(options).run()
case .supervisor: exit(Supervisor(options).run())
}
