internal import HoldfastPlatform

/// The words that this program was started with.
enum ProgramArguments {
    /// Without the program's name; bytes that are no UTF-8 are replaced.
    ///
    /// As the kernel has them. Swift looks for them beside the environment, and finds none when a library that was loaded before
    /// (`LD_PRELOAD`: monitoring agents, libfaketime) has moved that: `serve` would print its help, and end as if all were well.
    static let all: [String] = {
        guard let path = ProcessFiles.arguments, let text = ProcessFiles.text(path), text.utf8.last == 0 else {
            return Array(CommandLine.arguments.dropFirst())
        }
        return text.utf8.dropLast().split(separator: 0, omittingEmptySubsequences: false).dropFirst().map {
            String(Substring($0))
        }
    }()
}
