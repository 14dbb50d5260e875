private import CHoldfastBuild
internal import HoldfastJournal
internal import HoldfastOpenSSL

/// The version of the program and of the parts that decide how it behaves.
enum ProgramVersion {
    /// The only place that says the version. Scripts/package reads it from here.
    static let number = "0.9.0"

    /// The commit of the source; `unknown` unless Scripts/package built it.
    static var commit: String { unsafe word(holdfast_build_commit()) }

    /// One part a line: its name, a space, its version.
    static var text: String {
        let swift = unsafe word(holdfast_build_swift())
        return """
            holdfast \(number)
            commit \(commit)
            Swift \(swift)
            LMDB \(JournalLibrary.version)
            OpenSSL \(OpenSSLLibrary.version)
            """
    }

    /// Only Scripts/package says these two: the package manager caches its own idea of the commit.
    private static func word(_ text: UnsafePointer<CChar>?) -> String {
        guard let text = unsafe text else { return "unknown" }
        let word = unsafe String(cString: text)
        return word.isEmpty ? "unknown" : word
    }
}
