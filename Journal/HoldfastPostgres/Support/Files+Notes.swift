internal import HoldfastLMDB

extension Files {
    /// Puts a small file there as a whole, in place of an older one, with mode 0600. Not synced: notes of a host may be lost with its
    /// machine.
    static func put(_ text: String, at path: String) throws(LMDBError) {
        let file = try OpenFile(path + ".new", .create)
        try file.replace(with: Array(text.utf8))
        try rename(path + ".new", to: path)
    }
}
