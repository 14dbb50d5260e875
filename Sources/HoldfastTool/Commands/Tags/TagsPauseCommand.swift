internal import ArgumentParser
internal import Holdfast
internal import HoldfastControl
internal import HoldfastService

struct TagsPauseCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pause",
        abstract: "Pause tags: no notification with them is sent until they are resumed.",
        discussion: """
            All others go on. Those in flight get their answers; all others with the tag wait in the journal, also those \
            that are accepted later. The pause outlasts restarts. What waits can be dropped: holdfast journal drop \
            --tag TAG

            Examples:
              holdfast tags pause spring-sale --reason "wrong price"
            """)

    @Argument(help: ArgumentHelp("The tag, exactly as the notifications have it.", valueName: "tag"))
    var tags: [String]

    @OptionGroup var journalOptions: JournalOptions

    @OptionGroup var why: PauseReasonOptions

    @Flag(name: .long, help: "Print one JSON object a line.")
    var json = false

    func validate() throws {
        for tag in tags where !(1...256).contains(tag.utf8.count) {
            throw ValidationError("A tag has 1 to 256 bytes, not \(tag.utf8.count).")
        }
    }

    func run() async throws {
        try await reporting {
            try await DeskOpener(journal: try journalOptions.path()).withDesk { desk in
                for tag in tags {
                    try await desk.pause(tag: Array(tag.utf8), reason: why.reason)
                    try TagsPauseCommand.tell(TagChangeForm(Array(tag.utf8), "paused", reason: why.reason), json: json)
                }
            }
            return .ok
        }
    }

    static func tell(_ change: TagChangeForm, json: Bool) throws {
        let name = change.tag.map { $0.text.printable(maximumLength: 256) } ?? "all tags"
        Console.standard.print(json ? try JSONOutput.line(change) : "\(name): \(change.state)")
    }
}

struct TagsResumeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "resume",
        abstract: "Resume paused tags.",
        discussion: """
            What waits for them goes in its order, beside everything else.

            Examples:
              holdfast tags resume spring-sale
              holdfast tags resume --all
            """)

    @Argument(help: ArgumentHelp("The tag, exactly as the notifications have it.", valueName: "tag"))
    var tags: [String] = []

    @Flag(name: .long, help: "All paused tags; at rest also if the journal's record of them can't be read.")
    var all = false

    @OptionGroup var journalOptions: JournalOptions

    @Flag(name: .long, help: "Print one JSON object a line.")
    var json = false

    func validate() throws {
        guard all != !tags.isEmpty else { throw ValidationError("Name tags, or say --all.") }
    }

    func run() async throws {
        try await reporting {
            try await DeskOpener(journal: try journalOptions.path()).withDesk { desk in
                if all {
                    try await desk.resumeAllTags()
                    try TagsPauseCommand.tell(TagChangeForm(nil, "running"), json: json)
                }
                for tag in tags {
                    try await desk.resume(tag: Array(tag.utf8))
                    try TagsPauseCommand.tell(TagChangeForm(Array(tag.utf8), "running"), json: json)
                }
            }
            return .ok
        }
    }
}
