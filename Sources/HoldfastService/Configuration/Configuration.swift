internal import Foundation
internal import Holdfast

/// The whole configuration: what the file and the environment say, and defaults for the rest.
struct Configuration: Sendable {
    /// Nil without a file.
    var file: String?
    var journal: JournalSettings
    /// Empty when none is configured: then what the journal remembers holds, or flags.
    var routes: [RouteSettings]
    var limits: LimitSettings
    var log: LogSettings
    var report: ReportSettings
    var gateway: GatewaySettings
    var admin: AdminSettings
    /// Everything as it was given, in the order of the schema: for `config show`.
    let values: [ConfigValues]

    /// What the engine is to know of it.
    var engine: EngineConfiguration {
        var engine = limits.engine
        engine.reportInterval = report.interval
        engine.logInterval = log.interval
        return engine
    }

    /// - Parameter file: nil for the one that `HOLDFAST_CONFIG` names, or none.
    /// - Throws: ``ConfigError`` with all mistakes at once.
    static func load(
        file: String?, environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws(ConfigError) -> Configuration {
        let name = name(file, environment)
        var reader = ConfigReader(try opened(name), environment: environment)
        let values = reader.read()
        guard reader.problems.isEmpty else { throw ConfigError(reader.problems) }
        return Configuration(values, file: name)
    }

    /// The journal's part alone, for commands that need no other: a mistake elsewhere must not keep anybody from looking.
    static func loadJournal(
        file: String?, environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws(ConfigError) -> JournalSettings {
        var reader = ConfigReader(try opened(name(file, environment)), environment: environment)
        let values = reader.read()[JournalSettings.section.name]?.first
        let start = JournalSettings.section.name + "."
        let problems = reader.problems.filter { $0.path.hasPrefix(start) || $0.path == JournalSettings.section.name }
        guard problems.isEmpty, let values else { throw ConfigError(problems) }
        return JournalSettings(values)
    }

    private static func name(_ file: String?, _ environment: [String: String]) -> String? {
        let name = file ?? environment[ConfigVariables.file] ?? ""
        return name.isEmpty ? nil : name
    }

    private static func opened(_ name: String?) throws(ConfigError) -> ConfigFile? {
        guard let name else { return nil }
        return try ConfigFile(name)
    }

    private init(_ values: [String: [ConfigValues]], file: String?) {
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
        admin = AdminSettings(one(AdminSettings.section))
        self.values = ConfigSchema.sections.flatMap { values[$0.name] ?? [] }
    }
}
