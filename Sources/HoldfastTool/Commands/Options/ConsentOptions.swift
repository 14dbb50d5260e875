internal import ArgumentParser
internal import Foundation

/// Asks before something that cannot be undone.
struct ConsentOptions: ParsableArguments {
    @Flag(
        name: .shortAndLong,
        help: """
            Do not ask. Needed if there is no terminal to ask on.
            """)
    var yes = false

    /// - Parameter question: without its "?".
    /// - Throws: ``ToolError``: with status `usage` when nobody can be asked, with code 1 when the answer is no.
    func ask(_ question: @autoclosure () -> String, console: Console = .standard) throws(ToolError) {
        guard !yes else { return }
        guard isatty(STDIN_FILENO) == 1 else {
            throw ToolError(.usage, "nothing was changed: without a terminal to ask on, this needs --yes")
        }
        console.prompt("\(question())? [y/N] ")
        let answer = readLine(strippingNewline: true) ?? ""
        guard ["y", "yes"].contains(answer.lowercased()) else {
            throw ToolError(.notAllConfirmed, "nothing was changed")
        }
    }
}
