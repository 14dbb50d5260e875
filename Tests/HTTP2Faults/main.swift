// Sends through APNs over HTTP/2 to a service that misbehaves, in every way there is; see Scripts/http2-faults.
import Foundation

let options: FaultOptions
do {
    options = try FaultOptions(Array(CommandLine.arguments.dropFirst()))
} catch {
    FileHandle.standardError.write(Data("http2-faults: \(error)\n\(FaultOptions.usage)\n".utf8))
    exit(64)
}
exit(await FaultMatrix(options: options).run() ? 0 : 1)
