package import Logging

/// `log:` — what is said on standard error.
package struct LogSettings: Equatable, Sendable {
    /// `nil` for the default of the command.
    package var level: Logger.Level?
    /// From one line of a kind to the next.
    package var interval: Duration

    package static let section = ConfigSection(
        name: "log", meaning: "what is said on standard error",
        keys: [
            ConfigKey(
                "level", .choice(Logger.Level.allCases.map(\.rawValue)),
                "the least that is said. Without it, `send` and `recover` say errors, and `serve` says `info`; `--verbose`, "
                    + "which is `info`, goes before it"),
            ConfigKey(
                "interval", .duration(.zero...(.seconds(24 * 3600))), default: "60s",
                "from one line of a kind to the next, for what trouble may say again and again; `0s` says all of it"),
        ])

    package init(_ values: ConfigValues) {
        level = values.text("level").flatMap { Logger.Level(rawValue: $0) }
        interval = values.duration("interval") ?? .seconds(60)
    }
}
