internal import ArgumentParser
internal import HoldfastService

/// Refuses arguments that are not UTF-8: repaired, as Swift reads them, they would be the names of other tags and other files.
enum ArgumentEncoding {
    /// - Parameter arguments: as Swift reads them, without the program's name.
    /// - Returns: nil where all arguments are as they are read.
    static func error(_ arguments: [String]) -> ValidationError? {
        guard let index = arguments.firstIndex(where: \.isRepairedText) else { return nil }
        return ValidationError(
            "Argument \(index + 1), `\(arguments[index].printable(maximumLength: 64))`, is not UTF-8, so it would be read as "
                + "another text: write it in UTF-8. A tag of other bytes is paused and resumed by `--tag-base64`, with "
                + "the `tag-base64` that `holdfast tags list --json` has.")
    }
}
