internal import HoldfastLMDB

/// The library that stores journals.
package enum JournalLibrary {
    /// The version of liblmdb, such as 0.9.24.
    package static var version: String { LMDBLibrary.version }
}
