internal import Holdfast

/// A piece of a stored message that is written otherwise.
struct MessageEdit {
    /// The bytes that it takes the place of; empty to insert.
    let range: Range<Int>
    let bytes: [UInt8]

    /// Appends a part of a message with these changes, which are within it and apart from each other.
    static func append(_ bytes: [UInt8], in range: Range<Int>, _ edits: [Self], to output: inout [UInt8]) {
        var start = range.lowerBound
        for edit in edits.sorted(by: { $0.range.lowerBound < $1.range.lowerBound }) {
            output.append(contentsOf: bytes[start..<edit.range.lowerBound])
            output.append(contentsOf: edit.bytes)
            start = edit.range.upperBound
        }
        output.append(contentsOf: bytes[start..<range.upperBound])
    }
}
