private import CHoldfastLMDB

/// The liblmdb that runs, which may be another one than was compiled against.
package enum LMDBLibrary {
    /// Such as 0.9.24.
    package static var version: String {
        var (major, minor, patch): (CInt, CInt, CInt) = (0, 0, 0)
        _ = unsafe mdb_version(&major, &minor, &patch)
        return "\(major).\(minor).\(patch)"
    }
}
