internal import ArgumentParser

struct PostgresCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "postgres",
        abstract: "The database that keeps the journals of many hosts: make its schema, see who has what.",
        discussion: """
            Docs/Operate/ManyMachines.md describes how hosts share a database.
            """,
        subcommands: [PostgresMigrateCommand.self, PostgresStatusCommand.self])
}
