/// One of a journal's two files.
enum JournalPart: String, CaseIterable, Sendable {
    case entries, blacklist

    var file: String { rawValue + "/data.mdb" }
}
