package import Logging

/// `log:` — what is said on standard error.
package struct LogSettings: Equatable, Sendable {
    /// `nil` for the default of the command.
    package var level: Logger.Level?
    /// From one line of a kind to the next.
    package var interval: Duration
    /// How lines are written; nil for text.
    package var format: LogFormat?
    /// Notifications of which each has a line when it ends.
    package var follow: LogFollow

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
            ConfigKey(
                "format", .choice(LogFormat.allCases.map(\.rawValue)),
                "how `serve` writes its lines: `text`, `json` (an object a line, the metadata as members), or `journald` "
                    + "(the metadata as fields of systemd's journal). Without it, `text`"),
            ConfigKey(
                "follow.topics", .topics(most: 100),
                "`serve` logs a line for each notification of these topics when it has ended, 100 a second at most. Needs "
                    + "`journal.history`"),
            ConfigKey(
                "follow.tags", .texts("tags", 1...256, most: 100), "the same for notifications with one of these tags"),
        ])

    package init(_ values: ConfigValues) {
        level = values.text("level").flatMap { Logger.Level(rawValue: $0) }
        interval = values.duration("interval") ?? .seconds(60)
        format = values.text("format").flatMap { LogFormat(rawValue: $0) }
        follow = LogFollow(topics: values.texts("follow.topics") ?? [], tags: values.texts("follow.tags") ?? [])
    }
}

/// How lines of the log are written.
package enum LogFormat: String, CaseIterable, Sendable {
    /// The message, for people.
    case text
    /// An object a line: time, level, message, and the metadata as members.
    case json
    /// Entries of systemd's journal, with the metadata as fields.
    case journald
}

/// Notifications of which each has a line of the log when it ends.
package struct LogFollow: Equatable, Sendable {
    package var topics: Set<String>
    package var tags: Set<[UInt8]>

    package init(topics: [String] = [], tags: [String] = []) {
        (self.topics, self.tags) = (Set(topics), Set(tags.map { Array($0.utf8) }))
    }

    package var isEmpty: Bool { topics.isEmpty && tags.isEmpty }
}
