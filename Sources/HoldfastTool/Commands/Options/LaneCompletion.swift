internal import ArgumentParser
internal import Foundation
internal import Holdfast
internal import HoldfastJournal

/// Offers the lanes of the journal that is meant, when a shell completes a command line.
enum LaneCompletion {
    static let kind = CompletionKind.custom { arguments, _, _ in
        names(arguments, environment: ProcessInfo.processInfo.environment)
    }

    /// - Returns: none when there is no such journal, or it cannot be read: a shell that completes must not complain.
    static func names(_ arguments: [String], environment: [String: String]) -> [String] {
        guard let path = journal(arguments) ?? environment["HOLDFAST_JOURNAL"], !path.isEmpty else { return [] }
        do {
            let reader = try JournalReader(directory: path)
            defer { reader.close() }
            return try reader.status().lanes.map(\.key.description)
        } catch {
            return []
        }
    }

    private static func journal(_ arguments: [String]) -> String? {
        for (index, argument) in arguments.enumerated() {
            if argument.hasPrefix("--journal=") { return String(argument.dropFirst("--journal=".count)) }
            if argument == "--journal", index + 1 < arguments.count { return arguments[index + 1] }
        }
        return nil
    }
}
