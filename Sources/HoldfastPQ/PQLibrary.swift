private import CHoldfastPQ

/// The libpq that runs, which may be another one than was compiled against.
package enum PQLibrary {
    /// Such as 15.18.
    package static var version: String {
        let number = PQlibVersion()
        return "\(number / 10_000).\(number % 10_000)"
    }
}
