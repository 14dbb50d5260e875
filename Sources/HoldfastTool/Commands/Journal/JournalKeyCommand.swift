internal import ArgumentParser
internal import Holdfast
internal import HoldfastJournal

struct JournalKeyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "key", abstract: "Make and look at the keys of sealed journals.",
        discussion: """
            A key file has one key a line; the first seals, all open. Its mode is 0600 or 0400. Keep a copy of it where the \
            journal's disk and its backups are not: without the key, nothing in a sealed journal can be read, by anybody.
            """,
        subcommands: [JournalKeyNewCommand.self, JournalKeyAddCommand.self, JournalKeyListCommand.self])
}

struct JournalKeyNewCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "new", abstract: "Make a key file with a new key.",
        discussion: """
            Prints the id of the key, never the key. A file that is there is left as it is.

            Example:
              holdfast journal key new /etc/holdfast/journal.key
            """)

    @Argument(help: ArgumentHelp("The file, which must not exist.", valueName: "file"), completion: .file())
    var file: String

    @Flag(name: .long, help: "Print one JSON object.")
    var json = false

    func run() async throws {
        try await reporting {
            let id = try JournalKeys.makeFile(file)
            Console.standard.print(json ? try JSONOutput.line(["key": id]) : "\(file) has key \(id)")
            return .ok
        }
    }
}

struct JournalKeyAddCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add", abstract: "Put a new key before those of a key file.",
        discussion: """
            A service that uses the file seals with the new key from its next reload or start on, and still opens what the \
            others have sealed. `holdfast journal compact` seals all of a journal with the new key; when every journal and \
            backup that needs the others is gone, delete their lines.

            Example:
              holdfast journal key add /etc/holdfast/journal.key
            """)

    @Argument(help: ArgumentHelp("The key file.", valueName: "file"), completion: .file())
    var file: String

    @Flag(name: .long, help: "Print one JSON object.")
    var json = false

    func run() async throws {
        try await reporting {
            let id = try JournalKeys.addKey(toFile: file)
            Console.standard.print(
                json
                    ? try JSONOutput.line(["key": id])
                    : "\(file) has key \(id) before the others: it seals from now on")
            return .ok
        }
    }
}

struct JournalKeyListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the ids of the keys in a key file.",
        discussion: """
            The first one seals. `journal status` and `journal verify` say which ids a journal needs.

            Example:
              holdfast journal key list /etc/holdfast/journal.key
            """)

    @Argument(help: ArgumentHelp("The key file.", valueName: "file"), completion: .file())
    var file: String

    @Flag(name: .long, help: "Print one JSON object.")
    var json = false

    func run() async throws {
        try await reporting {
            let ids = try JournalKeys(file: file).ids
            Console.standard.print(json ? try JSONOutput.line(["keys": ids]) : ids.joined(separator: "\n"))
            return .ok
        }
    }
}
