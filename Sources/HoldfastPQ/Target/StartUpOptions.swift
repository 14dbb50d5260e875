/// The `options` of a connection string: words of a server's command line, as `-c name=value`.
enum StartUpOptions {
    /// Settings behind those of the string, over which they win.
    static func adding(_ settings: [String: String], to own: String?) -> String {
        let words = settings.sorted { $0.key < $1.key }.map { "-c \($0.key)=\(escaped($0.value))" }
        return ([whole(own ?? "")] + words).filter { !$0.isEmpty }.joined(separator: " ")
    }

    /// The server splits words at spaces that have no backslash before them.
    private static func escaped(_ value: String) -> String {
        value.map { $0 == " " || $0 == "\\" ? "\\\($0)" : String($0) }.joined()
    }

    /// Without a backslash at the end that stands before nothing: it would join the last word with the next one.
    private static func whole(_ own: String) -> String {
        let backslashes = own.reversed().prefix { $0 == "\\" }.count
        return backslashes % 2 == 0 ? own : String(own.dropLast())
    }
}
