internal import ArgumentParser
internal import Foundation
internal import HoldfastService

/// Offers the routes of the configuration and the journal that are meant, when a shell completes a command line.
enum RouteCompletion {
    static let kind = CompletionKind.custom { arguments, _, _ in
        names(arguments, environment: ProcessInfo.processInfo.environment)
    }

    /// - Returns: none when nothing can be read: a shell that completes must not complain.
    static func names(_ arguments: [String], environment: [String: String]) -> [String] {
        var names = configured(arguments, environment)
        for lane in LaneCompletion.names(arguments, environment: environment) {
            // A lane is its route, urgency and guarantee.
            let route = lane.split(separator: "/").dropLast(2).joined(separator: "/")
            if !names.contains(route) { names.append(route) }
        }
        return names
    }

    /// The routes of a configuration, also of one with mistakes; none where a journal is named by itself.
    private static func configured(_ arguments: [String], _ environment: [String: String]) -> [String] {
        let file = LaneCompletion.value("--config", in: arguments)
        let isJournalNamed = LaneCompletion.value("--journal", in: arguments) != nil
        do throws(ConfigError) {
            let configuration = try HoldfastConfiguration.load(
                file: file, orElse: isJournalNamed ? nil : HoldfastConfiguration.standardFile, environment: environment)
            return configuration.routes.map(\.name)
        } catch {
            return error.rest?.routes.map(\.name) ?? []
        }
    }
}
