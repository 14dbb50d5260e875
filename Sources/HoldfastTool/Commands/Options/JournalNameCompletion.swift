internal import ArgumentParser
internal import Foundation
internal import Holdfast
internal import HoldfastPostgres
internal import HoldfastService

/// Offers the journals of the fleet, when a shell completes a command line.
enum JournalNameCompletion {
    static let kind = CompletionKind.custom { arguments, _, _ in
        names(arguments, environment: ProcessInfo.processInfo.environment)
    }

    /// - Returns: none when there is no fleet, or its database can't be asked: a shell that completes must not complain.
    static func names(_ arguments: [String], environment: [String: String]) -> [String] {
        do {
            let settings = try LaneCompletion.configured(arguments, environment)
            guard let postgres = settings.postgres else { return [] }
            return try FleetRegister(postgres).listNow(timeout: .seconds(2)).map(\.name)
        } catch {
            return []
        }
    }
}
