internal import ArgumentParser
internal import Foundation
internal import Holdfast
internal import HoldfastJournal

struct JournalImportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Take the entries that `journal export` wrote into a journal.",
        discussion: """
            Each entry keeps its lane, its apns-id and its state, and gets a new UID: a waiting entry waits, a \
            rejected one is rejected, and one that may have been sent still counts so. A journal that does not exist \
            is made. If a process uses the journal, that process takes the entries.

            The file is checked first, and none of it is taken if a line is bad, unless --skip-bad is given. The \
            journal remembers the place in the file. So after a crash the same command continues, and takes nothing \
            twice; a file that was taken to its end is not taken again, unless --restart is given.

            With --good-for, what waits counts as accepted now, and expires so long after that: for entries that were \
            accepted while this machine's clock was wrong.

            Examples:
              holdfast journal import waiting.ndjson --journal new.journal
              holdfast journal import waiting.ndjson --good-for 1h
              zcat old.ndjson.gz | holdfast journal import - --skip-bad

            Exit codes: 0 all lines were taken · 65 some lines are bad · 66 there is no such file · 73, 74 the \
            journal.
            """)

    @Argument(
        help: ArgumentHelp("The output of `journal export`; - is standard input.", valueName: "file"),
        completion: .file())
    var file: String

    @OptionGroup var placeOptions: PlaceOptions

    @Flag(name: .long, help: "Take the good lines, and skip the others.")
    var skipBad = false

    @Flag(name: .long, help: "Take a file again, from its first line.")
    var restart = false

    @Option(
        name: .long,
        help: ArgumentHelp(
            "How long what waits is good for, from now on (30m, 24h). (default: until the expiration in the file)",
            valueName: "duration"),
        transform: DurationArgument.parse)
    var goodFor: Duration?

    @Flag(name: .long, help: "Print one JSON object.")
    var json = false

    func validate() throws {
        if let goodFor, !(.seconds(1)...(.seconds(30 * 86_400))).contains(goodFor) {
            throw ValidationError("--good-for must be 1s to 30d.")
        }
    }

    func run() async throws {
        try await reporting {
            let path = try placeOptions.path()
            let input = try InputFile(file)
            guard input.identity != nil || skipBad else {
                throw ToolError(
                    .usage, "\(input.name) can be read once, so it cannot be checked first: give a file, or --skip-bad")
            }
            let job = JournalImport(journal: path, input: input, skipsBad: skipBad, restarts: restart, goodFor: goodFor)
            let report = try await job.run()
            Console.standard.print(json ? try JSONOutput.line(report) : report.text())
            return report.malformed > 0 ? .badInput : .ok
        }
    }
}
