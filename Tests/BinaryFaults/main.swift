// Sends through the binary protocol to a service that misbehaves, in every way there is; see Scripts/binary-faults.
import Foundation

let options: FaultOptions
do {
    options = try FaultOptions(Array(CommandLine.arguments.dropFirst()))
} catch {
    FileHandle.standardError.write(Data("binary-faults: \(error)\n\(FaultOptions.usage)\n".utf8))
    exit(64)
}
exit(await FaultMatrix(options: options).run() ? 0 : 1)
