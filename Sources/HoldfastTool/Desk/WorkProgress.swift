internal import Holdfast
internal import HoldfastService

/// How far long work has come, drawn on the terminal: `withdrawn: 12,000 of 345,678`.
struct WorkProgress {
    let word: String
    /// `nil` if the total is not known.
    let total: Int?
    var console = Console.standard
    private(set) var done = 0

    init(_ word: String, of total: Int?) {
        self.word = word
        self.total = total
    }

    mutating func add(_ count: Int) {
        done += count
        let rest = total.map { " of \(Format.count($0))" } ?? ""
        console.showStatus("\(word): \(Format.count(done))\(rest)")
    }

    func end() { console.showStatus("") }
}
