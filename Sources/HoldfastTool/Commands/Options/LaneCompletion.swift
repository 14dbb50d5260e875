internal import ArgumentParser
internal import Foundation
internal import Holdfast
internal import HoldfastJournal
internal import HoldfastService

/// Offers the lanes of the journal that is meant, when a shell completes a command line.
enum LaneCompletion {
    static let kind = CompletionKind.custom { arguments, _, _ in
        names(arguments, environment: ProcessInfo.processInfo.environment)
    }

    /// - Returns: none when there is no such journal, or it cannot be read: a shell that completes must not complain.
    static func names(_ arguments: [String], environment: [String: String]) -> [String] {
        do {
            let named = value("--journal", in: arguments) ?? environment[ConfigVariables.journal]
            let settings = try named == nil ? configured(arguments, environment) : nil
            guard let path = named ?? settings?.path, !path.isEmpty else { return [] }
            let key = ConfigVariables.name("journal", nil, "key-file")
            KeyFileChoice.take(value("--key-file", in: arguments) ?? environment[key] ?? settings?.keyFile)
            let reader = try JournalReader(at: path)
            defer { reader.close() }
            return try reader.status().lanes.map(\.key.description)
        } catch {
            return []
        }
    }

    static func configured(
        _ arguments: [String], _ environment: [String: String]
    ) throws(ConfigError) -> JournalSettings {
        try HoldfastConfiguration.loadJournal(
            file: value("--config", in: arguments), orElse: HoldfastConfiguration.standardFile, environment: environment
        )
    }

    static func value(_ flag: String, in arguments: [String]) -> String? {
        for (index, argument) in arguments.enumerated() {
            if argument.hasPrefix("\(flag)=") { return String(argument.dropFirst(flag.count + 1)) }
            if argument == flag, index + 1 < arguments.count { return arguments[index + 1] }
        }
        return nil
    }
}
