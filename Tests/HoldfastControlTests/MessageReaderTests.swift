import Holdfast
import Testing

@testable import HoldfastControl

@Suite("Putting messages together")
struct MessageReaderTests {
    private let limits = MessageLimits(lineByteCount: 20, lineCount: 4, byteCount: 50)

    @Test("However the bytes are cut, the same messages come out")
    func anyCut() throws {
        let text = "\n\n{\"a\":1}\n\n{\"b\":2}\n{\"c\":3}\n\n\nhead\nitem\nitem\n\nhalf"
        var random = Xoshiro256(seed: 4711)
        for _ in 0..<500 {
            var reader = MessageReader(limits: limits)
            var messages: [ControlMessage] = []
            var rest = Array(text.utf8)[...]
            while !rest.isEmpty {
                let count = Int.random(in: 1...min(7, rest.count), using: &random)
                messages += try reader.take(rest.prefix(count))
                rest = rest.dropFirst(count)
            }
            let words = messages.map { $0.lines.map { String(decoding: $0, as: UTF8.self) } }
            #expect(words == [[#"{"a":1}"#], [#"{"b":2}"#, #"{"c":3}"#], ["head", "item", "item"]])
            #expect(reader.isAmidMessage)
        }
    }

    @Test(
        "What is larger than the limits is refused as soon as that is known, whether or not its line ends",
        arguments: [
            String(repeating: "x", count: 21), "a\nb\nc\nd\ne", String(repeating: "123456789012345678\n", count: 3),
        ])
    func refusesLarge(text: String) throws {
        for count in [1, 3, text.utf8.count] {
            let error = #expect(throws: ControlError.self) {
                var reader = MessageReader(limits: limits)
                var rest = Array(text.utf8)[...]
                while !rest.isEmpty {
                    _ = try reader.take(rest.prefix(count))
                    rest = rest.dropFirst(count)
                }
            }
            #expect(error?.code == .tooLarge)
        }
    }

    @Test("What is exactly as large as the limits is taken")
    func takesLargest() throws {
        var reader = MessageReader(limits: limits)
        let lines = [20, 20, 9, 1].map { String(repeating: "x", count: $0) }
        let messages = try reader.take(Array((lines.joined(separator: "\n") + "\n\n").utf8))
        #expect(messages.map(\.lines.count) == [4])
        try messages[0].check(limits)
        #expect(try reader.take(messages[0].bytes) == messages)
    }

    @Test("Garbage is never a request, and never ends the process")
    func garbage() {
        var random = Xoshiro256(seed: 815)
        let pieces = [
            "{", "}", "[", "]", "\"", ":", ",", "\n", "\n\n", "request", "\"request\":\"withdraw\"", "uid", "null",
            "1e999", "-0", "\\u0000", "\u{0}", "{\"uid\":1}\n", "{\"request\":\"status\"}", "{\"uid\":-1}",
        ]
        var requests = 0
        for round in 0..<3000 {
            var bytes: [UInt8] = []
            for _ in 0..<Int.random(in: 1...30, using: &random) {
                if round.isMultiple(of: 2) {
                    bytes.append(.random(in: 0...255, using: &random))
                } else {
                    bytes += Array(pieces.randomElement(using: &random)!.utf8)
                }
            }
            var reader = MessageReader(limits: MessageLimits())
            for message in (try? reader.take(bytes + Array("\n\n".utf8))) ?? [] {
                if (try? Request(message)) != nil { requests += 1 }
            }
        }
        // The pieces make whole requests now and then.
        #expect(requests < 100)
    }
}
