internal import Foundation

/// The lines of an input, one after the other; blank ones are skipped.
struct LineReader {
    let file: InputFile
    private var splitter = LineSplitter()
    private var hasEnded = false

    init(_ file: InputFile) { self.file = file }

    enum Line {
        case text(number: Int, bytes: ArraySlice<UInt8>)
        case tooLong(number: Int)
    }

    /// `nil` at the end.
    mutating func next() async throws(ToolError) -> Line? {
        while true {
            while let line = splitter.next() {
                if line.isTooLong { return .tooLong(number: line.number) }
                let bytes = splitter.bytes[line.range]
                if !bytes.allSatisfy({ [0x20, 0x09, 0x0D].contains($0) }) {
                    return .text(number: line.number, bytes: bytes)
                }
            }
            if hasEnded { return nil }
            let data = try await file.source.read(name: file.name)
            if data.isEmpty {
                hasEnded = true
                splitter.finish()
            } else {
                splitter.append(data)
            }
        }
    }
}
