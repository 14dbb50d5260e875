internal import ArgumentParser
internal import Foundation
internal import Holdfast
internal import HoldfastService

struct DoctorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Examine everything that a service needs, and say what is wrong and what to do.",
        discussion: """
            Looks at the configuration, the rights of files, the journal and its disk, the process that uses it, \
            descriptors, limits, the listeners' certificates, the way to each push service, credentials, the clock, \
            webhooks and, for a journal in PostgreSQL, the database. It may run beside the service: it changes nothing, \
            takes no journal over and sends nothing to a device.

            To see whether a push service takes the credentials, it sends one request for each route, to a token of \
            zeros, which no device has; --no-probe leaves that out. On the disk it writes one small file of its own, and \
            removes it.

            Examples:
              holdfast doctor
              holdfast doctor --config /etc/holdfast/holdfast.yaml --json | jq '.findings[] | select(.level == "fault")'
              holdfast doctor --no-network

            Exit codes: 0 all is well · 1 there are warnings · 78 there are faults · others as in `holdfast --help`.
            """)

    @OptionGroup var journalOptions: JournalOptions

    @Flag(name: .long, help: "Look nothing up, and connect to nothing.")
    var noNetwork = false

    @Flag(name: .long, help: "Send no request: whether credentials are taken is not looked at.")
    var noProbe = false

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The service's unit. (default: holdfast.service where systemd looks for units)", valueName: "file"),
        completion: .file())
    var unit: String?

    @Flag(name: .long, help: "Print one JSON object.")
    var json = false

    func run() async throws { try await reporting { try await examine() } }

    private func examine() async throws -> ToolStatus {
        let console = Console.standard
        let start = ContinuousClock.now
        let (configuration, mistakes) = try load()
        let journal = journalOptions.journal ?? configuration.journal.path
        let run = DoctorRun(
            configuration: configuration, mistakes: mistakes, journal: journal,
            options: DoctorRun.Options(usesNetwork: !noNetwork, probes: !noProbe, unit: unit),
            notes: DoctorNotes(journal: journal))
        let text = DoctorText(console: console, width: TerminalSize.paragraph)
        var last: DoctorFinding.Area?
        let findings = await run.run {
            console.showStatus("looking at \($0) …")
        } tell: { area, findings in
            guard !json else { return }
            let lines = text.lines(area, findings)
            for line in area == last ? Array(lines.dropFirst()) : lines { console.print(line) }
            last = area
        }
        console.showStatus("")
        let report = DoctorReport(findings, configuration: configuration.file)
        console.print(json ? try JSONOutput.line(report) : report.summary(ContinuousClock.now - start))
        return report.status
    }

    /// What the environment says without a file; nothing where that has a mistake, too.
    private static func environment() throws(ConfigError) -> HoldfastConfiguration {
        do throws(ConfigError) { return try HoldfastConfiguration.load(file: "") } catch {
            return try HoldfastConfiguration.load(file: "", environment: [:])
        }
    }

    /// The configuration, or what can be read of one with mistakes.
    private func load() throws -> (HoldfastConfiguration, [ConfigProblem]) {
        let isNamed = journalOptions.isNamed && journalOptions.configOptions.config == nil
        do throws(ConfigError) {
            var configuration = try HoldfastConfiguration.load(
                file: journalOptions.configOptions.config, orElse: isNamed ? nil : HoldfastConfiguration.standardFile)
            journalOptions.takeKeyFile(&configuration.journal)
            guard !configuration.isEmpty else { return (configuration, []) }
            var rest = configuration
            if let journal = journalOptions.journal { rest.journal.path = journal }
            return (configuration, ServicePlan.problems(of: rest))
        } catch {
            guard var rest = error.rest else { return (try Self.environment(), error.problems) }
            journalOptions.takeKeyFile(&rest.journal)
            return (rest, error.adding { ServicePlan.problems(of: $0) }.problems)
        }
    }
}

/// Provider tokens that were kept by those who send. A new one goes into a file of this user's: the journal is not written to.
private struct DoctorNotes: RouteLook.ProbeNotes {
    let journal: String?

    func notes(_ name: String) async -> [[UInt8]] { await ProviderTokenNotes(journal: journal).notes(name) }

    func keep(_ note: [UInt8], as name: String) async { await ProviderTokenNotes(journal: nil).keep(note, as: name) }
}
