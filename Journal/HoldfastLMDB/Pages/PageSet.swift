/// A set of pages of a file: a bit for each.
struct PageSet {
    private var words: [UInt64]
    private(set) var count = 0

    init(last: UInt64) { words = [UInt64](repeating: 0, count: Int(last / 64) + 1) }

    /// - Precondition: the page is not beyond the last.
    func contains(_ page: UInt64) -> Bool { words[Int(page / 64)] & (1 << (page % 64)) != 0 }

    /// - Returns: whether it is new.
    mutating func insert(_ page: UInt64) -> Bool {
        if contains(page) { return false }
        words[Int(page / 64)] |= 1 << (page % 64)
        count += 1
        return true
    }
}
