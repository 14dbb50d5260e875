internal import ArgumentParser
internal import Foundation
internal import Holdfast
internal import HoldfastJournal

struct JournalImportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Take entries of another journal, as `journal export` wrote them.",
        discussion: """
            Each becomes what it was, in the lane in which it was, with the same apns-id, under a new UID: what waited waits, \
            what was rejected is a rejection, what may have been sent may have been sent. A journal that is not there is made; \
            one that is in use takes them through the process that uses it.

            The file is checked first, and nothing of it is taken when a line is bad, unless --skip-bad is given. How far it \
            was taken is written in the same commits: after a crash the same command goes on, and what was taken is not taken \
            twice; a file that was taken to its end is not taken again, unless --restart is given.

            Exit codes: 0 all of it was taken · 65 some lines are bad · 73, 74 the journal · 66 no such file.

            Examples:
              holdfast journal import waiting.ndjson --journal new.journal
              zcat old.ndjson.gz | holdfast journal import - --skip-bad
            """)

    @Argument(
        help: ArgumentHelp("NDJSON of `journal export`; - is standard input.", valueName: "file"), completion: .file())
    var file: String

    @OptionGroup var journalOptions: JournalOptions

    @Flag(name: .long, help: "Take the lines that are good, and leave the others.")
    var skipBad = false

    @Flag(name: .long, help: "Take a file that was taken before, or begun, from its first line.")
    var restart = false

    @Flag(name: .long, help: "Print one JSON object.")
    var json = false

    func run() async throws {
        try await reporting {
            let path = try journalOptions.path()
            let input = try InputFile(file)
            guard input.identity != nil || skipBad else {
                throw ToolError(
                    .usage, "\(input.name) can be read once, so it cannot be checked first: give a file, or --skip-bad")
            }
            let job = JournalImport(journal: path, input: input, skipsBad: skipBad, restarts: restart)
            let report = try await job.run()
            Console.standard.print(json ? try JSONOutput.line(report) : report.text())
            return report.malformed > 0 ? .badInput : .ok
        }
    }
}
