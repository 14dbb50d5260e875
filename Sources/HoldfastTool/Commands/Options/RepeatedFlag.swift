/// Finds a flag with one value that is given several times: the parser would take the last one.
enum RepeatedFlag {
    /// - Returns: the first of the flags that stands twice among the arguments, as `--flag value` or `--flag=value`; nil for
    ///   none.
    static func first(of flags: [String], in arguments: some Sequence<String>) -> String? {
        var seen: Set<Substring> = []
        // A value never begins with two dashes: the parser takes it for a flag.
        for argument in arguments.prefix(while: { $0 != "--" }) {
            let name = argument.prefix { $0 != "=" }
            guard flags.contains(where: { $0 == name }) else { continue }
            if !seen.insert(name).inserted { return String(name) }
        }
        return nil
    }
}
