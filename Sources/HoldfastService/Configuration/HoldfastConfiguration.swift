internal import Foundation
package import Holdfast

/// The whole configuration of `holdfast serve`: what a file, the environment and an application say, and defaults for the rest.
///
/// `Docs/Reference/Configuration.md` has all keys. Reading one opens nothing but the files that it is read from.
public struct HoldfastConfiguration: Sendable {
    /// `nil` without a file.
    package var file: String?
    package var journal: JournalSettings
    /// Empty when none is configured: then what the journal remembers holds, or flags.
    package var routes: [RouteSettings]
    package var limits: LimitSettings
    package var log: LogSettings
    package var report: ReportSettings
    package var gateway: GatewaySettings
    package var webhooks: [WebhookSettings]
    package var traces: TraceSettings
    package var admin: AdminSettings
    /// Everything as it was given, in the order of the schema: for `config show`.
    package let values: [ConfigValues]
    /// The paths of its mistakes, and of the keys, groups, items and sections with such: none but for the rest of a
    /// configuration that can't be used (``ConfigError/rest``).
    private let unsound: Set<String>

    /// Whether no mistake is known of a section, an item, a group or a key, such as `routes[0].signing-key`.
    package func isSound(_ path: String) -> Bool { !unsound.contains(path) }

    /// The engine's part of the configuration.
    package var engine: EngineConfiguration {
        var engine = limits.engine
        engine.reportInterval = report.interval
        engine.logInterval = log.interval
        engine.history = journal.history
        return engine
    }

    /// Whether neither a file nor a variable has said anything.
    package var isEmpty: Bool {
        file == nil && values.allSatisfy { $0.entries.values.allSatisfy { $0.source == .standard } }
    }

    /// Reads a file, YAML.
    ///
    /// - Parameters:
    ///   - file: its path. Relative paths in it are relative to its directory.
    ///   - environment: variables such as `HOLDFAST_JOURNAL_PATH`, which go before the file. By default the process's own
    ///     are not looked at; give `ProcessInfo.processInfo.environment` for that, as `holdfast serve` does.
    ///     Relative paths in them are relative to the working directory.
    ///   - values: gives the value of each key that it is asked for, before file and environment; nil for none. Paths are as
    ///     those of variables.
    /// - Throws: ``ConfigError`` with all mistakes at once.
    public init(
        file: String, environment: [String: String] = [:], values: (Key) -> String? = { _ in nil }
    ) throws(ConfigError) {
        try self.init(try ConfigFile(file), environment, values)
    }

    /// Reads a text, YAML; an empty one where `environment` or `values` say everything.
    ///
    /// - Parameters:
    ///   - name: stands for a file's name where a mistake is told.
    ///   - directory: what relative paths are relative to; by default the working directory.
    ///   - environment: see ``init(file:environment:values:)``.
    ///   - values: see ``init(file:environment:values:)``.
    /// - Throws: ``ConfigError`` with all mistakes at once.
    public init(
        yaml text: String, named name: String = "configuration",
        relativeTo directory: String = ".", environment: [String: String] = [:],
        values: (Key) -> String? = { _ in nil }
    ) throws(ConfigError) {
        try self.init(try ConfigFile(text: text, name: name, directory: directory), environment, values)
    }

    private init(
        _ file: ConfigFile?, _ environment: [String: String], _ values: (Key) -> String?
    ) throws(ConfigError) {
        var reader = ConfigReader(file, environment: environment)
        let read = reader.read(over: values)
        self.init(read, file: file?.name, mistakes: reader.problems)
        guard reader.problems.isEmpty else { throw ConfigError(reader.problems, rest: self) }
    }

    /// The configuration of the installed service.
    package static let standardFile = "/etc/holdfast/holdfast.yaml"

    /// - Parameters:
    ///   - file: nil for the one that `HOLDFAST_CONFIG` names.
    ///   - standard: read if there is such a file and neither names another; nil for none. An empty `HOLDFAST_CONFIG`
    ///     names none, and this isn't read either.
    /// - Throws: ``ConfigError`` with all mistakes at once.
    package static func load(
        file: String?, orElse standard: String? = nil,
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws(ConfigError) -> HoldfastConfiguration {
        try HoldfastConfiguration(try opened(try name(file, orElse: standard, environment)), environment) { _ in nil }
    }

    /// The journal's part alone, for commands that need no other: a mistake elsewhere must not keep anybody from looking.
    package static func loadJournal(
        file: String?, orElse standard: String? = nil,
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws(ConfigError) -> JournalSettings {
        let name = try name(file, orElse: standard, environment)
        var reader = ConfigReader(try opened(name), environment: environment)
        let values = reader.read()[JournalSettings.section.name]?.first
        let start = JournalSettings.section.name + "."
        let problems = reader.problems.filter { $0.path.hasPrefix(start) || $0.path == JournalSettings.section.name }
        guard problems.isEmpty, let values else { throw ConfigError(problems) }
        return JournalSettings(values)
    }

    private static func name(
        _ file: String?, orElse standard: String?, _ environment: [String: String]
    ) throws(ConfigError) -> String? {
        if let file { return file.isEmpty ? nil : file }
        if let name = environment[ConfigVariables.file] {
            guard !name.isRepairedText else { throw ConfigError([.notUTF8(ConfigVariables.file, path: "")]) }
            return name.isEmpty ? nil : name
        }
        guard let standard else { return nil }
        // One that this user may not see is there all the same, and reading it says so.
        let directory = URL(fileURLWithPath: standard).deletingLastPathComponent().path
        let isHidden =
            FileManager.default.fileExists(atPath: directory)
            && !FileManager.default.isExecutableFile(atPath: directory)
        return isHidden || FileManager.default.fileExists(atPath: standard) ? standard : nil
    }

    private static func opened(_ name: String?) throws(ConfigError) -> ConfigFile? {
        guard let name else { return nil }
        return try ConfigFile(name)
    }

    /// - Parameter mistakes: those of the values. What they are about has its default, or nothing.
    private init(_ values: [String: [ConfigValues]], file: String?, mistakes: [ConfigProblem]) {
        func one(_ section: ConfigSection) -> ConfigValues {
            values[section.name]?.first ?? ConfigValues(section: section, path: section.name, source: .nowhere)
        }
        self.file = file
        journal = JournalSettings(one(JournalSettings.section))
        routes = (values[RouteSettings.section.name] ?? []).map { RouteSettings($0) }
        limits = LimitSettings(one(LimitSettings.section))
        log = LogSettings(one(LogSettings.section))
        report = ReportSettings(one(ReportSettings.section))
        gateway = GatewaySettings(
            one(GatewaySettings.section),
            clients: ClientSettings.subjects(values[ClientSettings.section.name] ?? []))
        webhooks = (values[WebhookSettings.section.name] ?? []).map { WebhookSettings($0) }
        traces = TraceSettings(one(TraceSettings.section))
        admin = AdminSettings(one(AdminSettings.section))
        self.values = ConfigSchema.sections.flatMap { values[$0.name] ?? [] }
        var unsound: Set<String> = []
        for mistake in mistakes {
            let ends = mistake.path.indices.filter { mistake.path[$0] == "." || mistake.path[$0] == "[" }
            unsound.formUnion(ends.map { String(mistake.path[..<$0]) } + [mistake.path])
        }
        self.unsound = unsound
    }
}
