internal import ArgumentParser
internal import HoldfastService

struct ConfigCheckCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Find all mistakes of a configuration.",
        discussion: """
            Reads the file and the environment, and the certificates and keys that they name. Prints one mistake a \
            line.

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
    }

    func run() async throws { try await reporting { try check() } }

    private func check() throws -> ToolStatus {
        var report = Report(usable: true, file: nil, mistakes: [])
        do throws(ConfigError) {
            let configuration = try HoldfastConfiguration.load(
                file: file ?? configOptions.config, orElse: HoldfastConfiguration.standardFile)
            let problems = configuration.unusable()
            guard problems.isEmpty else { throw ConfigError(problems) }
            (report.file, report.routes) = (configuration.file, configuration.routes.count)
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
        }
        return report.usable ? .ok : .configuration
    }
}
