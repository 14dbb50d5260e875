internal import ArgumentParser
internal import HoldfastService

/// A word where a command's name was expected, and the command that may have been meant.
struct CommandHint: Equatable {
    /// As it was typed: `holdfast lanes puase`.
    let typed: String
    /// `holdfast lanes pause`; nil if none is near.
    let meant: String?
    /// The names that may stand there.
    let known: [String]

    /// - Returns: nil if all words that should name commands do.
    init?(_ arguments: [String], below root: any ParsableCommand.Type) {
        var command = root
        var path = root.configuration.commandName ?? "holdfast"
        // `help` takes the same names.
        for word in arguments.first == "help" ? arguments.dropFirst() : arguments[...] {
            let commands = command.configuration.subcommands
            guard !commands.isEmpty, !word.hasPrefix("-") else { return nil }
            guard let next = commands.first(where: { $0.configuration.commandName == word }) else {
                known = commands.compactMap { $0.configuration.commandName }
                typed = "\(path) \(word.printable(maximumLength: 64))"
                meant = NearestName.of(word, in: known).map { "\(path) \($0)" }
                return
            }
            command = next
            path += " \(word)"
        }
        return nil
    }

    var error: ValidationError {
        let path = typed.split(separator: " ").dropLast().joined(separator: " ")
        guard let meant else {
            return ValidationError("There is no command `\(typed)`. `\(path)` has: \(known.joined(separator: ", ")).")
        }
        return ValidationError("There is no command `\(typed)`. Did you mean `\(meant)`?")
    }
}
