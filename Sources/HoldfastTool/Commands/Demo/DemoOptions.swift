internal import ArgumentParser

/// Where the files of a demo go.
struct DemoOptions: ParsableArguments {
    @Option(
        name: .long,
        help: ArgumentHelp(
            """
            The directory for the files; made if there is none, and kept. (default: a temporary one, which is removed)
            """,
            valueName: "dir"), completion: .directory)
    var keep: String?

    func validate() throws {
        if keep?.isEmpty == true { throw ValidationError("--keep is empty: it names a directory.") }
    }
}
