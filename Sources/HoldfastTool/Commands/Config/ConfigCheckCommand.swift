internal import ArgumentParser
internal import HoldfastService

struct ConfigCheckCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Find all mistakes of a configuration.",
        discussion: """
            Reads the file and the environment, and the certificates, keys and secrets that they name. Prints one \
            mistake a line, all that can be found at once; of a good configuration, warnings of keys and of a journal \
            that others may read.

            A mistake:
              holdfast.yaml:7:12: routes[0].connections: is "many"; takes a whole number
              from 1 to 1000

            Examples:
              holdfast config check /etc/holdfast.yaml
              HOLDFAST_CONFIG=/etc/holdfast.yaml holdfast config check --json

            Exit codes: 0 the configuration can be used · 78 it has mistakes.
            """)

    @Argument(
        help: ArgumentHelp(
            "The configuration. (default: that of --config)", valueName: "file"),
        completion: .file(extensions: ["yaml", "yml"]))
    var file: String?

    @OptionGroup var configOptions: ConfigOptions

    @Flag(name: .long, help: "Print one JSON object.")
    var json = false

    func validate() throws {
        if file != nil, configOptions.config != nil { throw ValidationError("Give the file once.") }
    }

    private struct Report: Encodable {
        struct Mistake: Encodable {
            var place: String
            var key: String
            var message: String
        }

        var usable: Bool
        var file: String?
        var routes: Int?
        var mistakes: [Mistake]
        var warnings: [String] = []
    }

    func run() async throws { try await reporting { try check() } }

    private func check() throws -> ToolStatus {
        var report = Report(usable: true, file: nil, mistakes: [])
        do throws(ConfigError) {
            let configuration = try load()
            (report.file, report.routes) = (configuration.file, configuration.routes.count)
            report.warnings = configuration.openedSecrets
        } catch {
            report.usable = false
            report.mistakes = error.problems.prefix(ConfigError.greatestCount).map { problem in
                .init(place: problem.source.description, key: problem.path, message: problem.message)
            }
            if !json { for line in error.lines { Console.standard.print(line) } }
        }
        if json {
            Console.standard.print(try JSONOutput.line(report))
        } else if report.usable {
            let name = report.file ?? "the environment, without a file,"
            Console.standard.print("\(name) can be used: \(Format.plural(report.routes ?? 0, "route"))")
            for warning in report.warnings { Console.standard.print("warning: \(warning)") }
        }
        return report.usable ? .ok : .configuration
    }

    /// - Throws: everything that is wrong.
    private func load() throws(ConfigError) -> HoldfastConfiguration {
        let configuration: HoldfastConfiguration
        do throws(ConfigError) {
            configuration = try HoldfastConfiguration.load(
                file: file ?? configOptions.config, orElse: HoldfastConfiguration.standardFile)
        } catch {
            throw error.adding { $0.unusable() }
        }
        let problems = configuration.unusable()
        guard problems.isEmpty else { throw ConfigError(problems.sorted(by: ConfigProblem.isBefore)) }
        return configuration
    }
}
